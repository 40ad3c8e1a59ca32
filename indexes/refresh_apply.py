"""What follows from changed files: they are read, expanded and linked again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from indexes.build import READ_KINDS
from indexes.build_links import link_kernels
from indexes.errors import SourceError
from indexes.known_names import renew_names
from indexes.linking.library_macros import LibraryMacros
from indexes.linking.macros import MacroTable, PlacedMacro, expand_file
from indexes.operator_files import DERIVATIVES, DOCUMENT_FILES, NATIVE, OPERATOR_FILES
from indexes.packed import pack_definitions
from indexes.readers.cpp_facts import CppFacts, holds_operators
from indexes.refresh import Changes
from indexes.regex import regex
from indexes.store import Store, stored_parameters
from indexes.tables import numbers_of
from indexes.typed import TYPE_CHECKING, Any, NamedTuple
from indexes.walk import SourceFile

if TYPE_CHECKING:
    from indexes.build import Builder


_WORD = regex(r"\w+")


class _StoredMacros(Mapping[str, list[PlacedMacro]]):
    """Macros fetched from the index by name, when asked for."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, list[PlacedMacro]] = {}

    def __getitem__(self, name: str) -> list[PlacedMacro]:
        if name not in self._known:
            self._known[name] = [PlacedMacro(p, m) for p, m in self._store.macros(name)]
        if not self._known[name]:
            raise KeyError(name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        raise NotImplementedError("macros are fetched by name")

    def __len__(self) -> int:
        raise NotImplementedError("macros are fetched by name")


class _Visible(NamedTuple):
    """Rows of a file that what is made of other files depends on."""

    macros: set[tuple[Any, ...]]
    aliases: list[tuple[Any, ...]]


_NOTHING = _Visible(set(), [])


class _Refresh:
    def __init__(self, builder: Builder, changes: Changes) -> None:
        self.builder = builder
        self.store = changes.store
        self.files = changes.files
        self.known = changes.known
        self.names: set[str] = set()
        self.macros: set[str] = set()
        """Macros that were changed, moved, added or removed."""
        self.aliases_changed = False
        self._before: dict[int, set[tuple[Any, ...]]] = {}
        """The definitions of files before anything of them was changed."""

    def changed(self, suspects: list[SourceFile]) -> list[SourceFile]:
        """Suspects with another content; the rest only get their new times."""
        changed = []
        for file in suspects:
            row = self.known.get(file.path)
            if row is None or row[3] != file.size or row[6] != self.builder.hash(file.path):
                changed.append(file)
            elif row[3:6] != (file.size, file.mtime_ns, file.inode):
                self._touch(row[0], file)
        return changed

    def _touch(self, number: int, file: SourceFile) -> None:
        self.store.db.execute(
            "UPDATE files SET size=?,mtime_ns=?,inode=? WHERE id=?",
            (file.size, file.mtime_ns, file.inode, number),
        )

    def remove(self, path: str) -> None:
        number = self.known[path][0]
        self._note(self._seen_by_others(number), CppFacts())
        self.names |= self.store.drop_file(number)
        self.store.db.execute("DELETE FROM problems WHERE path=?", (path,))

    def _seen_by_others(self, number: int) -> _Visible:
        """What other files see of a file."""
        macros = "SELECT name,parameters,body,line FROM macros WHERE file=?"
        aliases = "SELECT name,target,scope FROM aliases WHERE file=?"
        return _Visible(
            set(self.store.query(macros, (number,))), self.store.query(aliases, (number,))
        )

    def _note(self, before: _Visible, now: CppFacts) -> None:
        """Compares what other files see of a file with what they saw before."""
        after = {(m.name, stored_parameters(m), m.body, m.line) for m in now.macros}
        self.macros |= {m[0] for m in before.macros ^ after}
        aliases = sorted(tuple(a[:3]) for a in now.aliases)
        self.aliases_changed |= sorted(before.aliases) != aliases

    def renew_operators(self, changed: set[str]) -> set[str] | None:
        """Reads again what of the operators and documents rests on changed files; returns the
        overloads whose kernels are to be linked anew, None for all."""
        touched = self._paths_of(OPERATOR_FILES) & changed
        ops = self._renew_some(touched) if touched else set()
        if ops is None:
            self._renew_all()
        elif self._paths_of(DOCUMENT_FILES) & changed:
            self._renew_documents()
        return ops

    def _renew_some(self, touched: set[str]) -> set[str] | None:
        source = self.builder.source
        native = source.path_of(NATIVE)
        if touched == {native}:
            from indexes.refresh_operators import renew_entries

            return renew_entries(self.store, native, source.read(native))
        if touched == {source.path_of(DERIVATIVES)}:
            from indexes.refresh_derivatives import renew_derivatives

            return renew_derivatives(self.store, source)
        return None

    def _paths_of(self, names: Iterable[str]) -> set[str]:
        return {self.builder.source.path_of(name) for name in names}

    def _renew_all(self) -> None:
        from indexes.build_operators import OPERATOR_TABLES, add_operators

        for table in OPERATOR_TABLES:
            self.store.db.execute(f"DELETE FROM {table}")
        self._drop_problems(self._paths_of((*OPERATOR_FILES, *DOCUMENT_FILES)))
        add_operators(self.store, self.builder.source)

    def _renew_documents(self) -> None:
        from indexes.build_operators import add_documents

        self.store.db.execute("DELETE FROM documents")
        self._drop_problems(self._paths_of(DOCUMENT_FILES))
        add_documents(self.store, self.builder.source)

    def _drop_problems(self, paths: Iterable[str]) -> None:
        self.store.db.executemany("DELETE FROM problems WHERE path=?", [(p,) for p in paths])

    def reread(self, changed: list[SourceFile]) -> list[int]:
        """Reads changed files; returns the numbers of the C++ ones."""
        numbers = []
        readable = [f for f in changed if f.kind in READ_KINDS]
        with self.builder.reading(readable) as read:
            before = self._cleared(readable)  # while others read
            for at, facts in enumerate(read):
                self.builder.tell("reading", at, len(readable))
                number = self._replace(self.files[facts.path], facts.hash)
                if facts.cpp:
                    self._note(before.get(facts.path, _NOTHING), facts.cpp)
                    self._remember(number)
                    numbers.append(number)
                self.builder.add_facts(self.store, number, facts)
        for file in changed:
            if file.kind not in READ_KINDS:
                self._replace(file, self.builder.hash(file.path))
        return numbers

    def _cleared(self, files: list[SourceFile]) -> dict[str, _Visible]:
        """Removes what was read of files; what others saw of each that was known."""
        numbers = {f.path: int(self.known[f.path][0]) for f in files if f.path in self.known}
        visible = {path: self._seen_by_others(number) for path, number in numbers.items()}
        for file in files:
            if file.path in numbers:
                if file.kind == "cpp":
                    self._remember(numbers[file.path])
                self.store.drop_rows(numbers[file.path])
        return visible

    def _remember(self, number: int) -> None:
        if number not in self._before:
            self._before[number] = self._definitions(number)

    def _definitions(self, number: int) -> set[tuple[Any, ...]]:
        sql = "SELECT name,* FROM definitions WHERE id BETWEEN ? AND ?"
        return set(self.store.query(sql, numbers_of(number)))

    def redefined(self) -> set[str]:
        """The names whose definitions are not what they were: elsewhere, others, or numbered
        in another way."""
        for number, before in self._before.items():
            self.names |= {row[0] for row in before ^ self._definitions(number)}
        return self.names

    def _replace(self, file: SourceFile, digest: bytes) -> int:
        row = self.known.get(file.path)
        self.store.db.execute("DELETE FROM problems WHERE path=?", (file.path,))
        if row is None:
            values = (file.path, file.kind, file.size, file.mtime_ns, file.inode, digest)
            return self.store.add_file(values)
        self._touch(row[0], file)
        self.store.db.execute("UPDATE files SET hash=? WHERE id=?", (digest, row[0]))
        return int(row[0])

    def expand(self, numbers: list[int]) -> None:
        """Expands the macro uses of changed files, and of those that a changed macro reaches."""
        self.store.flush()
        if self.macros:
            numbers = sorted({*numbers, *self._users()})
        table = MacroTable(_StoredMacros(self.store))
        libraries = LibraryMacros(table)
        for number in numbers:
            path = self.store.query("SELECT path FROM files WHERE id=?", (number,))[0][0]
            self.store.flush()
            self.store.db.execute("DELETE FROM libraries WHERE file=? AND made=1", (number,))
            uses = self.store.cpp_uses(number)
            registered = libraries.expand(path, self.store.library_uses(number), uses)
            self.store.add_libraries(number, registered, made=1)
            if not holds_operators(path):
                continue
            self._remember(number)
            self._drop_made(number)
            made = expand_file(path, CppFacts(uses=uses), table)
            self.store.add_definitions(number, pack_definitions(made.definitions))
            self.store.add_uses(number, made.uses, made=1)

    def follow_stubs(self, before: set[str], done: set[str]) -> list[int]:
        """Names that became stubs may be passed as arguments in files that did not change:
        those are read again; returns their numbers."""
        now = self.store.stubs()
        self.store.callers.drop_passed(before - now)
        words = [name.encode() for name in now - before]
        found = [f for f in self._unchanged(done) if self._holds(f, words)] if words else []
        self.files.update((file.path, file) for file in found)
        numbers = self.reread(found)
        self.expand(numbers)
        return numbers

    def _unchanged(self, done: set[str]) -> Iterator[SourceFile]:
        sql = "SELECT id,path,kind,size,mtime_ns,inode,hash FROM files WHERE kind='cpp'"
        for row in self.store.query(sql):
            if row[1] not in done:
                self.known[row[1]] = row
                blob = row[6] if self.builder.source.fixed else b""
                yield SourceFile(row[1], row[2], row[3], row[4], row[5], blob)

    def _holds(self, file: SourceFile, words: list[bytes]) -> bool:
        try:
            data = self.builder.source.read(file.path)
        except SourceError:  # removed meanwhile: the next refresh sees it
            return False
        return any(word in data for word in words)

    def _users(self) -> set[int]:
        """Files that use a changed macro, by itself or through another macro."""
        bodies = [(n, _words(b)) for n, b in self.store.query("SELECT name,body FROM macros")]
        reached: set[str] = set()
        more = self.macros
        while more:
            reached |= more
            more = {n for n, words in bodies if n not in reached and not words.isdisjoint(reached)}
        rows = self.store.query(
            "SELECT file,name||' '||arguments FROM uses WHERE made=0 UNION ALL"
            " SELECT file,block||' '||arguments FROM libraries WHERE method='use'"
        )
        return {file for file, text in rows if not _words(text).isdisjoint(reached)}

    def _drop_made(self, number: int) -> None:
        low, high = numbers_of(number)
        sql = "SELECT min(id) FROM definitions WHERE id BETWEEN ? AND ? AND macro_path!=''"
        first = self.store.query(sql, (low, high))[0][0]
        if first is not None:  # what macros make stands behind what is written
            self.store.drop_definitions(first, high)
        self.store.db.execute("DELETE FROM uses WHERE file=? AND made=1", (number,))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text))


def apply_changes(
    builder: Builder, changes: Changes, suspects: list[SourceFile], removed: list[str]
) -> int:
    """Brings the index up to date inside the caller's transaction; returns how many files
    were read."""
    work = _Refresh(builder, changes)
    store = work.store
    builder.tell("checking what changed", 0, len(suspects))
    changed = work.changed(suspects)
    if not changed and not removed:
        return 0
    stubs = store.stubs()
    for path in removed:
        work.remove(path)
    numbers = work.reread(changed)
    ops = work.renew_operators({*(f.path for f in changed), *removed})
    work.expand(numbers)
    numbers += work.follow_stubs(stubs, {file.path for file in changed})
    store.add_passed_stubs()
    if any(f.path.endswith(".py") for f in changed):
        store.add_registered_by_helpers()
    store.flush()
    names = work.redefined()
    renew_names(store.db, names)
    everything = ops is None or work.aliases_changed
    link_kernels(store, builder.has_sources, None if everything else names, ops or ())
    return len(changed)
