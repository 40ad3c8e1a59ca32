"""What follows from changed files: they are read, expanded and linked again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from indexes.build.builder import READ_KINDS
from indexes.build.operator_files import DERIVATIVES, DOCUMENT_FILES, NATIVE, OPERATOR_FILES
from indexes.build.refresh import Changes
from indexes.build.renewed import Kept, Renewing
from indexes.model.errors import SourceError
from indexes.source.walk import SourceFile
from indexes.store.index_file import Store
from indexes.store.name_index import renew_names
from indexes.store.tables import QUALIFIED, UFUNC

if TYPE_CHECKING:
    from indexes.build.builder import Builder
    from indexes.build.scan_pool import FileFacts


_FEW = 200
"""Names that are looked for one by one."""


class _Refresh:
    def __init__(self, builder: Builder, changes: Changes) -> None:
        self.builder = builder
        self.store = changes.store
        self.files = changes.files
        self.known = changes.known
        self.renewing = Renewing(self.store)
        self._unexpanded: set[int] = set()
        """C++ files whose macro uses are to be expanded again."""
        self._as_expanded: set[int] = set()
        """Those that were read again and use macros as before."""

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
        self.renewing.removes(self.renewing.kept(number))
        self.renewing.names |= self.store.drop_file(number)
        self.store.db.execute("DELETE FROM problems WHERE path=?", (path,))

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
            from indexes.build.refresh_operators import renew_entries

            return renew_entries(self.store, native, source.read(native))
        if touched == {source.path_of(DERIVATIVES)}:
            from indexes.build.refresh_derivatives import renew_derivatives

            return renew_derivatives(self.store, source)
        return None

    def _paths_of(self, names: Iterable[str]) -> set[str]:
        return {self.builder.source.path_of(name) for name in names}

    def _renew_all(self) -> None:
        from indexes.build.operators import OPERATOR_TABLES, add_operators

        for table in OPERATOR_TABLES:
            self.store.db.execute(f"DELETE FROM {table}")
        self._drop_problems(self._paths_of((*OPERATOR_FILES, *DOCUMENT_FILES)))
        add_operators(self.store, self.builder.source)

    def _renew_documents(self) -> None:
        from indexes.build.operators import add_documents

        self.store.db.execute("DELETE FROM documents")
        self._drop_problems(self._paths_of(DOCUMENT_FILES))
        add_documents(self.store, self.builder.source)

    def _drop_problems(self, paths: Iterable[str]) -> None:
        self.store.db.executemany("DELETE FROM problems WHERE path=?", [(p,) for p in paths])

    def reread(self, changed: list[SourceFile]) -> None:
        """Reads changed files."""
        readable = [f for f in changed if f.kind in READ_KINDS]
        with self.builder.reading(readable) as read:
            kept = self._cleared(readable)  # while others read
            for at, facts in enumerate(read):
                self.builder.tell("reading", at, len(readable))
                self._take(self._replace(self.files[facts.path], facts.hash), facts, kept)
        for file in changed:
            if file.kind not in READ_KINDS:
                self._replace(file, self.builder.hash(file.path))

    def _take(self, number: int, facts: FileFacts, kept: Mapping[str, Kept]) -> None:
        """Keeps what was read of a file."""
        if facts.cpp is None or facts.path not in kept:
            if facts.cpp:
                self.renewing.adds(number, facts.cpp, facts.defined)
                self._unexpanded.add(number)
            self.builder.add_facts(self.store, number, facts)
            return
        self.builder.add_problems(self.store, facts)
        expands = self.renewing.written(kept[facts.path], facts.cpp, facts.defined)
        (self._unexpanded if expands else self._as_expanded).add(number)

    def _cleared(self, files: list[SourceFile]) -> dict[str, Kept]:
        """What the index has of those C++ files; of the others, what was read is removed."""
        kept = {}
        for file in files:
            known = self.known.get(file.path)
            if known and file.kind == known[2] == "cpp":
                kept[file.path] = self.renewing.kept(known[0])
            elif known:
                self.renewing.names |= self.store.drop_rows(known[0])
        return kept

    def _replace(self, file: SourceFile, digest: bytes) -> int:
        row = self.known.get(file.path)
        self.store.db.execute("DELETE FROM problems WHERE path=?", (file.path,))
        if row is None:
            values = (file.path, file.kind, file.size, file.mtime_ns, file.inode, digest)
            return self.store.add_file(values)
        self._touch(row[0], file)
        self.store.db.execute("UPDATE files SET hash=? WHERE id=?", (digest, row[0]))
        return int(row[0])

    def expand(self) -> None:
        """Expands the macro uses of files that have others, and of those that a changed macro
        reaches."""
        if not self._unexpanded and not self.renewing.macros:
            return
        from indexes.build.refresh_macros import expand

        self.store.flush()
        expand(self.store, self.renewing, self._unexpanded)
        self._unexpanded.clear()

    def follow_stubs(self, done: set[str]) -> None:
        """Names that became stubs may be passed as arguments in files that did not change:
        those are read again."""
        before = self.renewing.stubs_before
        if before is None:
            return
        now = self.store.stubs()
        self.store.callers.drop_passed(before - now)
        words = [name.encode() for name in now - before]
        found = [f for f in self._unchanged(done) if self._holds(f, words)] if words else []
        self.files.update((file.path, file) for file in found)
        self.reread(found)
        if words:  # what macros make passes names on too
            self._unexpanded |= self._as_expanded
            self.expand()

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

    def link(self, ops: set[str] | None) -> None:
        """Links the kernels that what changed could concern; ``ops`` are overloads of which that
        is known, None says that it may be all."""
        names = self.renewing.names
        renew_names(self.store.db, names)
        everything = ops is None or self.renewing.aliases_changed
        if everything or ops or _may_be_kernels(self.store, names):
            from indexes.build.links import link_kernels

            has_sources = self.builder.has_sources
            link_kernels(self.store, has_sources, None if everything else names, ops or ())


def _may_be_kernels(store: Store, names: set[str]) -> bool:
    """Whether definitions of these names could be kernels of a row, by what
    ``linking.kernels.wanted_names`` says."""
    if len(names) > _FEW or not all(map(str.isascii, names)):
        return True
    symbols = [symbol for name in names for symbol in (name, f"structured_{name}::meta")]
    marks = ",".join("?" * len(symbols))
    if store.query(f"SELECT 1 FROM kernels WHERE symbol IN ({marks}) LIMIT 1", symbols):
        return True
    qualified = store.query(f"SELECT symbol FROM kernels WHERE {QUALIFIED}")
    if any(symbol.rpartition("::")[2] in names for (symbol,) in qualified):
        return True
    loops = store.query(
        f"SELECT DISTINCT o.data FROM kernels k JOIN ops o ON o.full_name=k.source_op WHERE {UFUNC}"
    )
    return any(name in data for (data,) in loops for name in names)


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
    for path in removed:
        work.remove(path)
    work.reread(changed)
    ops = work.renew_operators({*(f.path for f in changed), *removed})
    work.expand()
    work.follow_stubs({file.path for file in changed})
    store.add_passed_stubs()
    if any(f.path.endswith(".py") for f in changed):
        store.add_registered_by_helpers()
    store.flush()
    work.link(ops)
    return len(changed)
