"""Answers linking's questions from the index file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from indexes.linking.facts import Known, LibraryKernel, StubEntry, StubUse
from indexes.linking.registrations import BOXED
from indexes.linking.works import Works
from indexes.model.errors import NotFound
from indexes.model.files import Include
from indexes.model.idioms import stub_of
from indexes.model.vocabulary import Location
from indexes.store.bodies import Bodies
from indexes.store.index_file import Store
from indexes.store.operators import Operators
from indexes.store.registrations import StoredPython
from indexes.store.tables import DOCUMENTS, FILE_OF, load

_USE = "u.name,u.arguments,u.scope,f.path,u.line,u.guard"
_USES = f"SELECT {_USE} FROM uses u JOIN files f ON f.id=u.file"
_ENTRY = (
    "r.stub,r.device,r.macro,r.function,f.path,r.line,r.guard,r.target,r.reason"
    " FROM registrations r JOIN files f ON f.id=r.file"
)

_OF_SIGNS = """
JOIN definitions d ON d.id={} WHERE d.name GLOB 'operator[^a-zA-Z0-9_( ]*'
AND d.scope IN ('at','at::Tensor','at::TensorBase')
"""
_CALLED_BY_SIGNS = f"""
SELECT c.name FROM calls c {_OF_SIGNS.format("c.definition")}
UNION SELECT e.symbol FROM edges e {_OF_SIGNS.format("e.caller")}
"""


class MacroUse(NamedTuple):
    """A use of a macro at file scope."""

    name: str
    arguments: str
    stub: str | None
    """The stub of a DECLARE, DEFINE or REGISTER line."""
    made: bool
    """Whether another macro makes it."""
    location: Location


def like(text: str) -> str:
    r"""The pattern for SQL's LIKE, with ``ESCAPE '\'``, of texts that contain one."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


class Lookup(Bodies, Operators):
    """``indexes.linking.facts.Facts`` over a Store, with caches."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.stub_uses = lru_cache(4096)(self._stub_uses)
        self.messages_in = lru_cache(1024)(self._messages_in)

    @cached_property
    def works(self) -> Works:
        """What functions do, computed once for all walks of this index."""
        return Works(self)

    @cached_property
    def python(self) -> StoredPython:
        """What Python files register, define and document."""
        return StoredPython(self.store)

    def _messages_in(self, path: str) -> Sequence[tuple[str, int, int]]:
        """The statements of a file with a message: the macro, first and last line."""
        sql = "SELECT m.kind,m.line,m.end_line FROM messages m JOIN files f ON f.id=m.file"
        return tuple(self.store.query(f"{sql} WHERE f.path=? ORDER BY m.line", (path,)))

    def registered_on(self, stub: str) -> Sequence[StubEntry]:
        sql = f"SELECT {_ENTRY} WHERE r.stub=? ORDER BY f.path,r.line,r.rowid"
        return tuple(_entry(*row) for row in self.store.query(sql, (stub,)))

    def registered_as(self, definition: int) -> Sequence[StubEntry]:
        sql = f"SELECT {_ENTRY} WHERE r.target=? ORDER BY f.path,r.line,r.rowid"
        return tuple(_entry(*row) for row in self.store.query(sql, (definition,)))

    def registrations_in(self, path: str) -> Sequence[StubUse]:
        """The lines of a file that register functions on stubs."""
        return self._registered("f.path=? AND u.stub IS NOT NULL", path)

    def registrations_of_file(self, file: int) -> list[StubUse]:
        """The same, by the file's number."""
        sql = f"{_USES} WHERE u.file=? AND u.stub NOT NULL ORDER BY u.line"
        uses = (_stub_use(*row) for row in self.store.query(sql, (file,)))
        return [use for use in uses if use.what == "registered"]

    def all_registrations(self) -> list[StubUse]:
        """Every line that registers a function on a stub."""
        return self._registered("u.stub IS NOT NULL")

    @cached_property
    def called_by_signs(self) -> frozenset[str]:
        """The operators that C++ also calls by a sign, ``x * y``, ``x[0]``, ``x += 1``: those
        called by functions so named (TensorOperators.h, TensorBody.h)."""
        names = (name.rpartition("::")[2] for name in self.store.column(_CALLED_BY_SIGNS))
        return frozenset(name for name in names if self.overloads(name))

    @cached_property
    def orders(self) -> dict[str, list[str]]:
        """The values of enumerations in the order of the first list of them."""
        sql = (
            "SELECT r.name,r.detail FROM remarks r JOIN files f ON f.id=r.file"
            " WHERE r.kind='order' ORDER BY f.path DESC,r.line DESC"
        )
        return {name: detail.split(",") for name, detail in self.store.query(sql)}

    @cached_property
    def flags(self) -> dict[str, list[tuple[str, bool]]]:
        """The guards under which macros are true or false: ``#define IS_SPMM_AVAILABLE() 1``."""
        sql = (
            "SELECT m.name,d.guard,m.body FROM macros m JOIN definitions d ON d.name=m.name AND"
            f" {FILE_OF}=m.file AND d.line=m.line WHERE m.parameters='' AND m.body IN"
            " ('0','1','true','false')"
        )
        found: dict[str, list[tuple[str, bool]]] = {}
        for name, guard, body in self.store.query(sql):
            found.setdefault(name, []).append((guard, body in ("1", "true")))
        return found

    @cached_property
    def _stubs(self) -> frozenset[str]:
        """The names of all stubs."""
        sql = "SELECT DISTINCT stub FROM uses WHERE stub NOT NULL"
        return frozenset(self.store.column(sql))

    def _stub_uses(self, stub: str) -> Sequence[StubUse]:
        return self._uses("u.stub=?", stub) if stub in self._stubs else ()

    def _uses(self, where: str, *given: str) -> list[StubUse]:
        rows = self.store.query(f"{_USES} WHERE {where} ORDER BY f.path,u.line", given)
        return [_stub_use(*row) for row in rows]

    def _registered(self, where: str, *given: str) -> list[StubUse]:
        return [use for use in self._uses(where, *given) if use.what == "registered"]

    def library_kernels_of(self, definition: int) -> Sequence[LibraryKernel]:
        sql = (
            "SELECT k.op,k.key,f.path,k.line,k.rule FROM library_kernels k"
            " JOIN files f ON f.id=k.file WHERE k.target=? ORDER BY f.path,k.line,k.rowid"
        )
        rows = self.store.query(sql, (definition,))
        return [
            LibraryKernel(op, key, Location(path, line), rule) for op, key, path, line, rule in rows
        ]

    @cached_property
    def boxed_kernels(self) -> dict[tuple[str, str], Known]:
        """The boxed functions registered by hand for an operator and a key. They serve any
        operator, as ``mps_fallback``, which runs it on the CPU."""
        sql = (
            "SELECT k.op,k.key,k.target FROM library_kernels k JOIN definitions d ON d.id=k.target"
            f" WHERE k.op!='' AND d.parameters LIKE '%{BOXED}%'"
        )
        found = ((op, key, self.by_id(target)) for op, key, target in self.store.query(sql))
        return {(op, key): known for op, key, known in found if known}

    @cached_property
    def differentiated_by_hand(self) -> dict[str, Known]:
        """The functions registered by hand for Autograd that connect their results to a Node, as
        that of ``copy_``."""
        sql = (
            "SELECT DISTINCT k.op,k.target FROM library_kernels k JOIN edges e ON e.caller=k.target"
            " WHERE k.key='Autograd' AND k.op!='' AND (e.symbol LIKE '%set_history'"
            " OR e.symbol LIKE '%rebase_history')"
        )
        found = ((op, self.by_id(target)) for op, target in self.store.query(sql))
        return {op: known for op, known in found if known}

    def macro_uses_at(self, path: str, line: int) -> list[MacroUse]:
        """The macro uses around a line."""
        rows = self.store.query(
            "SELECT u.name,u.arguments,u.stub,u.made,u.line,u.end_line FROM uses u"
            " JOIN files f ON f.id=u.file WHERE f.path=? AND u.line<=? AND u.end_line>=?",
            (path, line, line),
        )
        return [
            MacroUse(name, arguments, stub, bool(made), Location(path, start, end))
            for name, arguments, stub, made, start, end in rows
        ]

    # --------------------------------------------------------------------------- files

    def suites(self) -> list[tuple[str, str]]:
        """The facts about tests with OpInfos, by file, as stored."""
        sql = "SELECT f.path,s.data FROM suites s JOIN files f ON f.id=s.file ORDER BY f.path"
        return self.store.query(sql)

    def includes(self) -> dict[str, list[Include]]:
        """The includes of each C++ file."""
        sql = "SELECT f.path,i.names FROM includes i JOIN files f ON f.id=i.file"
        rows = self.store.query(sql)
        return {p: [Include(n[1:], n[0] == "q") for n in names.split("\n")] for p, names in rows}

    def paths(self, kind: str = "%", like: str = "%") -> tuple[str, ...]:
        """The indexed files of a kind (``cpp``, ``python``, ``test``, ``yaml``), in order;
        ``like``: their paths, with ``%`` for any text."""
        # GLOB finds the paths with a beginning in the index of paths; LIKE would read all.
        sql = "SELECT path FROM files WHERE kind LIKE ? AND path GLOB ? ORDER BY path"
        return tuple(self.store.column(sql, (kind, like.replace("%", "*"))))

    def whole_path(self, path: str) -> str:
        """The path of an indexed file, given by its end. Raises NotFound if not unique."""
        found = self.paths_ending(path)
        if not found:
            raise NotFound(f"no file {path} in this index")
        if len(found) > 1:
            raise NotFound(f"{path} names {len(found)} files", found[:5])
        return found[0]

    def paths_ending(self, path: str) -> tuple[str, ...]:
        """The indexed file of a path, or else those whose path ends so, shortest first."""
        wanted = path.replace("\\", "/").removeprefix("./")
        sql = "SELECT path FROM files WHERE path"
        ending = like(f"/{wanted}").removesuffix("%")
        by_end = f"{sql} LIKE ? ESCAPE '\\' ORDER BY length(path),path"
        itself = self.store.column(f"{sql}=?", (wanted,))
        return tuple(itself or self.store.column(by_end, (ending,)))

    def paths_with_stem(self, stem: str) -> tuple[str, ...]:
        """The indexed files of a name without extension, shortest first; none if one has that
        name."""
        sql = "SELECT path FROM files WHERE path LIKE ? ESCAPE '\\' ORDER BY length(path),path"
        found = [(path, path.rpartition("/")[2]) for path in self.store.column(sql, (like(stem),))]
        if any(name.lower() == stem.lower() for _, name in found):
            return ()
        return tuple(path for path, name in found if name.startswith(f"{stem}."))

    def document(self, name: str) -> Sequence[Any]:
        """A stored document: ``tensorimpl``, ``engine``, ``composites``."""
        found = self.store.column("SELECT data FROM documents WHERE name=?", (name,))
        return next((load(data, DOCUMENTS[name]) for data in found), ())


def _entry(
    stub: str, device: str, macro: str, function: str, path: str, line: int, *rest: Any
) -> StubEntry:
    return StubEntry(stub, device, macro, function, Location(path, line), *rest)


def _stub_use(macro: str, arguments: str, scope: str, path: str, line: int, guard: str) -> StubUse:
    stub = stub_of(macro, arguments)
    return StubUse(macro, stub, arguments, scope, Location(path, line), guard)
