"""Answers the linker's questions from the index file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from json import dumps, loads
from typing import Any, NamedTuple

from indexes.linking.facts import Call, Edge, Known, LibraryKernel, StubEntry, StubUse
from indexes.model.errors import NotFound
from indexes.model.vocabulary import (
    Choice,
    Confidence,
    Definition,
    DerivativeEntry,
    KernelKind,
    KernelRow,
    Location,
    NativeFunction,
    OperatorSummary,
)
from indexes.readers.cxx.bodies import LOOPS, Branch
from indexes.readers.cxx.idioms import stub_of
from indexes.readers.cxx.lexer import Include
from indexes.store.index_file import PASSED, Store
from indexes.store.tables import (
    DEFINITION_COLUMNS,
    DEFINITION_FROM,
    DOCUMENTS,
    FILE_BITS,
    FILE_OF,
    IN_FILE,
    KERNELS_BEYOND,
    KERNELS_NAMED,
    known,
    load,
    load_all,
    load_derivative,
    load_native,
    numbers,
    numbers_of,
)

_KERNELS = "SELECT op,key,symbol,kind,confidence,link_rule,reason,definitions FROM kernels"


_FEW = 50
"""Definitions that are looked for one by one before a table of all is made."""
_MOST_NAMES = 8192
"""Names whose definitions are held; with more, all are let go."""
_NAMED = f"definitions d ON d.name=w.value JOIN files f ON f.id={FILE_OF} AND {IN_FILE}"
_USE = "u.name,u.arguments,u.scope,f.path,u.line,u.guard"
_USES = f"SELECT {_USE} FROM uses u JOIN files f ON f.id=u.file"
_IS_CALL = (
    f"(c.kind NOT IN ('{PASSED}','member')"
    f" OR c.kind='{PASSED}' AND c.name IN (SELECT stub FROM uses WHERE stub=c.name)"
    f" OR c.kind='member' AND c.name IN ({','.join(map(repr, sorted(LOOPS)))}))"
)
"""Of ``calls c``: a name that is passed on counts where it is a stub's, a member where it runs a
loop over elements."""
_CALL = (
    f"c.name,c.qualifier,c.line,CASE c.kind WHEN '{PASSED}' THEN 'name' ELSE c.kind END,c.template,"
    "c.arguments,c.receiver,c.branch"
)


_USE_KIND = "macro_use"
_EDGE = "caller,line,kind,symbol,target,confidence,candidates,branch,macro"
_ENTRY = (
    "r.stub,r.device,r.macro,r.function,f.path,r.line,r.guard,r.target,r.reason"
    " FROM registrations r JOIN files f ON f.id=r.file"
)


class MacroUse(NamedTuple):
    """A use of a macro at file scope."""

    name: str
    arguments: str
    stub: str | None
    """The stub that a DECLARE, DEFINE or REGISTER line is about."""
    made: bool
    """Whether another macro makes it."""
    location: Location


def like(text: str) -> str:
    """The pattern of SQL's LIKE, with ``ESCAPE '\\'``, for what holds a text."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


class Lookup:
    """``indexes.linking.facts.Facts`` over a Store; answers are kept while it lives."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._by_name: dict[str, list[Known]] = {}
        self.nominated = lru_cache(256)(self._nominated)
        self._macro_uses = lru_cache(512)(self._macro_uses_in)
        self.calls = lru_cache(4096)(self._calls)
        self._conditions = lru_cache(4096)(self._find_conditions)
        self.stub_uses = lru_cache(4096)(self._stub_uses)
        self.edges = lru_cache(16384)(self._edges)
        self.branches = lru_cache(1024)(self._branches)
        self.registered_on = lru_cache(1024)(self._registered_on)
        self.native = lru_cache(8192)(self._native)
        self.kernels = lru_cache(4096)(self._kernels)
        self.overloads = lru_cache(2048)(self._overloads)
        self.meant: dict[tuple[str, str, str, str], list[Known]] = {}
        self._registrations: dict[str, list[StubUse]] = {}
        self._kernel_ops: dict[int, Sequence[str]] = {}
        self.by_id = lru_cache(16384)(self._by_id)

    def named(self, name: str) -> Sequence[Known]:
        """Every definition of a name, in the order of their numbers."""
        found = self._by_name.get(name)
        return self._read([name])[name] if found is None else found

    def expect(self, names: Iterable[str]) -> None:
        """Reads the definitions of names, that will be asked for one by one, at once."""
        new = [name for name in dict.fromkeys(names) if name not in self._by_name]
        if new:
            self._read(new)

    def _read(self, names: list[str]) -> dict[str, list[Known]]:
        found: dict[str, list[Known]] = {name: [] for name in names}
        source = f"json_each(?) w CROSS JOIN {_NAMED} ORDER BY d.id"
        for row in self.store.query(f"SELECT {DEFINITION_COLUMNS} FROM {source}", (dumps(names),)):
            one = known(row)
            found[one.definition.name].append(one)
        if len(self._by_name) > _MOST_NAMES:
            self._by_name.clear()
        self._by_name.update(found)
        return found

    def fitting(self, name: str, fits: Callable[[str, str, str], bool]) -> Sequence[Known]:
        """Those of ``named`` of whose kind, scope and path ``fits`` holds."""
        standing = ((one, one.definition) for one in self.named(name))
        return [one for one, d in standing if fits(d.kind, d.scope, d.location.path)]

    def definitions(self, where: str, *given: object) -> list[Known]:
        """The definitions ``d`` in files ``f`` of which a condition holds, by their numbers."""
        sql = f"SELECT {DEFINITION_COLUMNS} FROM {DEFINITION_FROM} WHERE {where} ORDER BY d.id"
        return list(map(known, self.store.query(sql, given)))

    def members(self, owner: Definition, name: str) -> Sequence[Known]:
        """The methods of that name which a class defines."""
        place = (name, owner.qualified, owner.location.path)
        return self.definitions("d.name=? AND d.scope=? AND f.path=?", *place)

    def is_type(self, name: str) -> bool:
        """Whether a class or an alias of a type bears this name."""
        if any(one.definition.kind in ("class", "enum") for one in self.named(name)):
            return True
        return bool(self.store.query("SELECT 1 FROM aliases WHERE name=? LIMIT 1", (name,)))

    def _nominated(self, scope: str) -> Sequence[str]:
        targets = self.store.column(
            "SELECT DISTINCT a.target FROM aliases a JOIN files f ON f.id=a.file"
            " WHERE a.name='' AND a.inside=0 AND a.scope=? AND f.path LIKE '%.h' ORDER BY a.target",
            (scope,),
        )
        return tuple(target.lstrip(":") for target in targets if scope)

    def _calls(self, known: Known) -> Sequence[Call]:
        return tuple(spelled_once(self._sites(known, f" AND {_IS_CALL}")))

    def sites(self, known: Known) -> Sequence[Call]:
        """Each place of a body that calls, launches or passes on something, in order."""
        return tuple(self._sites(known, ""))

    def _sites(self, known: Known, where: str) -> Iterator[Call]:
        sql = f"SELECT {_CALL} FROM calls c WHERE c.definition=?{where} ORDER BY c.rowid"
        first, bodies = 0, self._bodies_of(known)
        for number in bodies:
            calls = [Call(*row) for row in self.store.query(sql, (number,))]
            yield from _behind(calls, first)
            first += self._branch_count(number) if number != bodies[-1] else 0

    def _bodies_of(self, known: Known) -> Sequence[int]:
        """The number of a definition, and of what is written behind the macro that makes it."""
        written = self._written_bodies(known.definition) if known.definition.macro else ()
        return [known.id, *(number for number in written if number != known.id)]

    def _branch_count(self, definition: int) -> int:
        sql = "SELECT 1 FROM branches WHERE definition=?"
        return len(self.store.query(sql, (definition,)))

    def _branches(self, definition: int) -> Sequence[Branch]:
        """The branches of a body in which something is called: that of number n is at n-1."""
        sql = "SELECT number,parent,text,arm,line FROM branches WHERE definition=? ORDER BY number"
        known, found = self.by_id(definition), list[Branch]()
        for number in self._bodies_of(known) if known else ():
            first = len(found)
            for row in self.store.query(sql, (number,)):
                one = Branch(*row)
                parent = one.parent and one.parent + first
                found.append(one._replace(number=one.number + first, parent=parent))
        return tuple(found)

    def conditions(self, edge: Edge) -> tuple[Choice, ...]:
        """What decides whether the step along an edge is taken, outermost first."""
        return self._conditions(edge.caller, edge.branch) if edge.branch else ()

    def _find_conditions(self, number_of_caller: int, number: int) -> tuple[Choice, ...]:
        caller = self.by_id(number_of_caller)
        found: list[Choice] = []
        while caller and number:
            one = self.branches(number_of_caller)[number - 1]
            place = Location(caller.definition.location.path, one.line)
            found.append(Choice(one.text, one.arm, place))
            number = one.parent
        return tuple(reversed(found))

    def bodies(self, file: int) -> list[tuple[Known, list[Call]]]:
        """The definitions of a file whose bodies use something, with what they use."""
        given = numbers_of(file)
        calls: dict[int, list[Call]] = {}
        sql = f"SELECT c.definition,{_CALL} FROM calls c WHERE c.definition BETWEEN ? AND ?"
        for number, *call in self.store.query(f"{sql} ORDER BY c.rowid", given):
            calls.setdefault(number, []).append(Call(*call))
        if not calls:
            return []
        found = self.definitions("d.id BETWEEN ? AND ?", *given)
        written = {
            k.definition.location.line: k.id for k in found if k.definition.kind == _USE_KIND
        }
        made = {k.definition.location.line for k in found if k.definition.macro_location}
        bodies = []
        for one in found:
            line, kind = one.definition.location.line, one.definition.kind
            if kind == "macro" or (kind == _USE_KIND and line in made):
                continue  # linked where they are used; as what they define
            behind = written.get(line, -1) if one.definition.macro else -1
            used = calls.get(one.id, [])
            if behind != one.id and behind in calls:
                used = [*used, *_behind(calls[behind], self._branch_count(one.id))]
            if used:
                bodies.append((one, used))
        return bodies

    # ------------------------------------------------------------------------- the graph

    def _edges(self, caller: int) -> Sequence[Edge]:
        sql = f"SELECT {_EDGE} FROM edges WHERE caller=? ORDER BY rowid"
        return tuple(Edge(*row) for row in self.store.query(sql, (caller,)))

    def edges_to(self, target: int | str) -> Sequence[Edge]:
        """The edges that lead to a definition, an overload, a stub or a library."""
        path = f"(SELECT path FROM files WHERE id=caller>>{FILE_BITS})"
        sql = f"SELECT {_EDGE} FROM edges WHERE target=? ORDER BY {path},caller,rowid"
        return tuple(Edge(*row) for row in self.store.query(sql, (target,)))

    def _registered_on(self, stub: str) -> Sequence[StubEntry]:
        sql = f"SELECT {_ENTRY} WHERE r.stub=? ORDER BY f.path,r.line,r.rowid"
        return tuple(_entry(*row) for row in self.store.query(sql, (stub,)))

    def registered_as(self, definition: int) -> Sequence[StubEntry]:
        """The stubs on which a function is registered."""
        sql = f"SELECT {_ENTRY} WHERE r.target=? ORDER BY f.path,r.line,r.rowid"
        return tuple(_entry(*row) for row in self.store.query(sql, (definition,)))

    def library_kernels_of(self, definition: int) -> Sequence[LibraryKernel]:
        """The operators for which TORCH_LIBRARY blocks register a function."""
        sql = (
            "SELECT k.op,k.key,f.path,k.line,k.rule FROM library_kernels k"
            " JOIN files f ON f.id=k.file WHERE k.target=? ORDER BY f.path,k.line,k.rowid"
        )
        rows = self.store.query(sql, (definition,))
        return [
            LibraryKernel(op, key, Location(path, line), rule) for op, key, path, line, rule in rows
        ]

    def registrations_of_file(self, file: int) -> list[StubUse]:
        """The lines of a file, by its number, that register functions on stubs."""
        sql = f"{_USES} WHERE u.file=? AND u.stub NOT NULL ORDER BY u.line"
        uses = (_stub_use(*row) for row in self.store.query(sql, (file,)))
        return [use for use in uses if use.what == "registered"]

    def _written_bodies(self, made: Definition) -> Sequence[int]:
        """The body written behind the macro use that begins a definition."""
        return self._macro_uses(made.location.path).get(made.location.line, ())

    def _macro_uses_in(self, path: str) -> dict[int, list[int]]:
        """The bodies written behind the macro uses of a file, by line."""
        rows = self.store.query(
            f"SELECT d.line,d.id FROM {DEFINITION_FROM} WHERE f.path=? AND d.kind='macro_use'",
            (path,),
        )
        found: dict[int, list[int]] = {}
        for line, number in rows:
            found.setdefault(line, []).append(number)
        return found

    @cached_property
    def _stubs(self) -> frozenset[str]:
        """The names of all stubs: most of the names that are asked for are none."""
        sql = "SELECT DISTINCT stub FROM uses WHERE stub NOT NULL"
        return frozenset(self.store.column(sql))

    def _stub_uses(self, stub: str) -> Sequence[StubUse]:
        return self._uses("u.stub=?", stub) if stub in self._stubs else ()

    def _uses(self, where: str, *given: str) -> list[StubUse]:
        rows = self.store.query(f"{_USES} WHERE {where} ORDER BY f.path,u.line", given)
        return [_stub_use(*row) for row in rows]

    def _registered(self, where: str, *given: str) -> list[StubUse]:
        return [use for use in self._uses(where, *given) if use.what == "registered"]

    def _native(self, full_name: str) -> NativeFunction | None:
        found = self.store.column("SELECT data FROM ops WHERE full_name=?", (full_name,))
        return next(map(load_native, found), None)

    def _overloads(self, base: str) -> Sequence[NativeFunction]:
        sql = "SELECT data FROM ops WHERE base=? ORDER BY position"
        return load_all(self.store.column(sql, (base,)), NativeFunction)

    def natives(self) -> Sequence[NativeFunction]:
        """Every overload, in YAML order."""
        sql = "SELECT data FROM ops ORDER BY position"
        return load_all(self.store.column(sql), NativeFunction)

    def summaries(self, full_names: Sequence[str] | None = None) -> Sequence[OperatorSummary]:
        """Rows of the operator list in YAML order: all, or those of some overloads."""
        sql = "SELECT summary FROM ops"
        if full_names is not None:
            sql += " WHERE full_name IN (SELECT value FROM json_each(?))"
        given = () if full_names is None else (dumps(full_names),)
        return load_all(self.store.column(f"{sql} ORDER BY position", given), OperatorSummary)

    def _kernels(self, full_name: str) -> Sequence[KernelRow]:
        rows = self.store.query(f"{_KERNELS} WHERE op=? ORDER BY rowid", (full_name,))
        return tuple(self._kernel_row(*row) for row in rows)

    def _kernel_row(
        self,
        op: str,
        key: str,
        symbol: str,
        kind: KernelKind,
        confidence: Confidence,
        rule: str,
        reason: str,
        listed: str,
    ) -> KernelRow:
        found = (self.by_id(number) for number in numbers(listed))
        definitions = tuple(one.definition for one in found if one)
        return KernelRow(op, key, symbol, kind, definitions, confidence, rule, reason)

    def all_kernels(self) -> list[KernelRow]:
        """Every row, in YAML order."""
        rows = self.store.query(f"{_KERNELS} ORDER BY rowid")
        return [self._kernel_row(*row) for row in rows]

    def all_registrations(self) -> list[StubUse]:
        """Every line that registers a function on a stub."""
        return self._registered("u.stub IS NOT NULL")

    def _by_id(self, number: int) -> Known | None:
        return next(iter(self.definitions("d.id=?", number)), None)

    def known(self, wanted: Definition) -> Known | None:
        """The definition with its number."""
        return next((one for one in self.named(wanted.name) if one.definition == wanted), None)

    def derivative(self, full_name: str) -> tuple[DerivativeEntry | None, str]:
        """The entry that differentiates an overload, and by which rule."""
        entry, rule, _ = self.derived(full_name)
        return entry, rule

    def derived(self, full_name: str) -> tuple[DerivativeEntry | None, str, dict[str, str]]:
        """The entry, the rule, and the Node class for each autograd key."""
        sql = "SELECT derivative,derivative_rule,grad_fns FROM ops WHERE full_name=?"
        for position, rule, listed in self.store.query(sql, (full_name,)):
            if rule is None:
                break
            grad_fns: dict[str, str] = loads(listed)
            if position is None:
                return None, rule, grad_fns
            entry = self.entry(position)
            sets = tuple(replace(s, grad_fn=grad_fns.get(s.key)) for s in entry.sets)
            return replace(entry, sets=sets), rule, grad_fns
        return None, "derivatives.yaml is not in this tree", {}

    def entries_with(self, text: str) -> Sequence[DerivativeEntry]:
        """The derivative entries whose text holds a word."""
        sql = "SELECT data FROM derivatives WHERE instr(words,?) ORDER BY position"
        return load_all(self.store.column(sql, (text,)), DerivativeEntry)

    def callers(self, name: str) -> Sequence[tuple[Known, Call]]:
        """Every use of a name in a body, by place."""
        rows = self.store.query(
            f"SELECT {_CALL},{DEFINITION_COLUMNS} FROM calls c JOIN definitions d ON"
            f" d.id=c.definition JOIN files f ON f.id={FILE_OF} WHERE c.name=? AND {_IS_CALL}"
            " ORDER BY f.path,d.line,d.name,d.id,c.rowid",
            (name,),
        )
        size = len(Call._fields)
        found: dict[tuple[object, ...], tuple[Known, Call]] = {}
        for row in rows:
            one, call = known(row[size:]), Call(*row[:size])
            found.setdefault((one.id, *_spelling(call)), (one, call))
        return list(found.values())

    def callers_of_macros(self, wanted: Callable[[str], bool]) -> list[Known]:
        """The functions that use a macro of which ``wanted`` holds, by file and line."""
        names = filter(wanted, self.store.column("SELECT DISTINCT name FROM calls"))
        called = "SELECT definition FROM calls WHERE name IN (SELECT value FROM json_each(?))"
        return sorted(self.definitions(f"d.id IN ({called})", dumps(list(names))), key=_place)

    def popularity(self, name: str) -> int:
        """How often C++ calls something by a name."""
        sql = f"SELECT count(*) FROM calls c WHERE c.name=? AND {_IS_CALL}"
        return sum(self.store.column(sql, (name,)))

    def registrations_in(self, path: str) -> Sequence[StubUse]:
        """The lines of a file that register functions on stubs."""
        if path not in self._registrations:
            self._registrations[path] = self._registered("f.path=? AND u.stub IS NOT NULL", path)
        return self._registrations[path]

    def kernel_rows_of(self, definition: int) -> Sequence[KernelRow]:
        """The kernels that a definition is."""
        known = self.by_id(definition)
        if known is None:
            return ()
        ids = sorted(number for number, _ in self._kernels_linked(known))
        sql = f"{_KERNELS} WHERE id=?"
        return [self._kernel_row(*row) for one in ids for row in self.store.query(sql, (one,))]

    def kernel_of(self, known: Known) -> Sequence[str]:
        """The overloads whose kernel a definition is."""
        number = known.id
        if len(self._kernel_ops) >= _FEW:
            return self._all_kernel_ops.get(number, ())
        if number not in self._kernel_ops:
            found = (op for _, op in sorted(self._kernels_linked(known)))
            self._kernel_ops[number] = tuple(dict.fromkeys(found))
        return self._kernel_ops[number]

    def _kernels_linked(self, known: Known) -> list[tuple[int, str]]:
        """The numbers and operators of the kernels that a definition is."""
        named = self.store.query(KERNELS_NAMED, (known.definition.name,))
        found = [(row, op) for row, op, listed in named if known.id in numbers(listed)]
        return [*found, *self._kernels_beyond.get(known.id, ())]

    @cached_property
    def _kernels_beyond(self) -> dict[int, list[tuple[int, str]]]:
        found: dict[int, list[tuple[int, str]]] = {}
        for row, op, listed in self.store.query(KERNELS_BEYOND):
            for number in listed.split(",") if listed else ():
                found.setdefault(int(number), []).append((row, op))
        return found

    @cached_property
    def _all_kernel_ops(self) -> dict[int, list[str]]:
        """The same for who asks often."""
        found: dict[int, list[str]] = {}
        rows = self.store.query("SELECT op,definitions FROM kernels WHERE definitions!=''")
        for op, listed in rows:
            for number in numbers(listed):
                ops = found.setdefault(number, [])
                if op not in ops:
                    ops.append(op)
        return found

    def entry(self, position: int) -> DerivativeEntry:
        """The derivative entry at a position of the file."""
        sql = "SELECT data FROM derivatives WHERE position=?"
        return load_derivative(*self.store.column(sql, (position,)))

    def entries(self) -> Sequence[DerivativeEntry]:
        """All derivative entries in file order."""
        sql = "SELECT data FROM derivatives ORDER BY position"
        return load_all(self.store.column(sql), DerivativeEntry)

    # ------------------------------------------------------------------ files and names

    def suites(self) -> list[tuple[str, str]]:
        """What files say of tests that take OpInfos, by their paths, as it is kept."""
        sql = "SELECT f.path,s.data FROM suites s JOIN files f ON f.id=s.file ORDER BY f.path"
        return self.store.query(sql)

    def includes(self) -> dict[str, list[Include]]:
        """What each C++ file includes, by its path."""
        sql = "SELECT f.path,i.names FROM includes i JOIN files f ON f.id=i.file"
        rows = self.store.query(sql)
        return {p: [Include(n[1:], n[0] == "q") for n in names.split("\n")] for p, names in rows}

    def paths(self, kind: str = "%", like: str = "%") -> tuple[str, ...]:
        """The indexed files of a kind (``cpp``, ``python``, ``test``, ``yaml``), in order; ``like``
        is a pattern of SQL's LIKE for their paths."""
        sql = "SELECT path FROM files WHERE kind LIKE ? AND path LIKE ? ORDER BY path"
        return tuple(path for (path,) in self.store.query(sql, (kind, like)))

    def whole_path(self, path: str) -> str:
        """The path of an indexed file, named by it or by the end of it. Raises NotFound when none
        or several end so."""
        wanted = path.replace("\\", "/").removeprefix("./")
        sql = "SELECT path FROM files WHERE path"
        ending = like(f"/{wanted}").removesuffix("%")
        rows = self.store.query(f"{sql}=?", (wanted,))
        rows = rows or self.store.query(f"{sql} LIKE ? ESCAPE '\\'", (ending,))
        found: tuple[str, ...] = tuple(whole for (whole,) in rows)
        if not found:
            raise NotFound(f"no file {path} in this index")
        if len(found) > 1:
            raise NotFound(f"{path} names {len(found)} files", found[:5])
        return found[0]

    @cached_property
    def operator_names(self) -> tuple[str, ...]:
        """The full names of all overloads, in YAML order."""
        rows = self.store.query("SELECT full_name FROM ops ORDER BY position")
        return tuple(name for (name,) in rows)

    @cached_property
    def node_names(self) -> tuple[str, ...]:
        """The names of all Node classes."""
        rows = self.store.query("SELECT DISTINCT grad_fn FROM nodes")
        return tuple(name for (name,) in rows)

    def node_entries(self, grad_fn: str) -> list[DerivativeEntry]:
        """The derivative entries behind a Node class."""
        sql = "SELECT DISTINCT position FROM nodes WHERE grad_fn=? AND position IS NOT NULL"
        return [self.entry(position) for (position,) in self.store.query(sql, (grad_fn,))]

    def node_operators(self, grad_fn: str) -> list[str]:
        """The overloads that record a Node class, in YAML order."""
        rows = self.store.query(
            "SELECT DISTINCT n.op FROM nodes n JOIN ops o ON o.full_name=n.op WHERE n.grad_fn=?"
            " ORDER BY o.position",
            (grad_fn,),
        )
        return [op for (op,) in rows]

    def differentiated(self, entry: str) -> list[str]:
        """The overloads that the derivative entry of an operator differentiates."""
        rows = self.store.query(
            "SELECT DISTINCT n.op FROM nodes n JOIN derivatives d ON d.position=n.position"
            " JOIN ops o ON o.full_name=n.op WHERE d.op=? ORDER BY o.position",
            (entry,),
        )
        return [op for (op,) in rows]

    def document(self, name: str) -> Sequence[Any]:
        """One of the lists that are kept whole: ``tensorimpl``, ``engine``."""
        found = self.store.column("SELECT data FROM documents WHERE name=?", (name,))
        return next((load(data, DOCUMENTS[name]) for data in found), ())

    # --------------------------------------------------------------- definitions by place

    def definitions_in(self, path: str) -> list[Known]:
        """Every definition of a file, with the bodies behind macro uses."""
        return self.definitions("f.path=?", path)

    def functions_under(self, folder: str) -> list[Known]:
        """Every function of the files in a folder, by line."""
        kinds = "d.kind IN ('function','impl_func','meta_func')"
        found = self.definitions(f"{kinds} AND f.path LIKE ?", f"{folder}/%")
        return sorted(found, key=lambda one: one.definition.location.line)

    def definitions_at(self, path: str, line: int) -> list[Known]:
        """The definitions over a line, innermost first."""
        where = "f.path=? AND d.line<=? AND d.end_line>=? AND d.kind!='macro_use'"
        found = self.definitions(where, path, line, line)
        places = ((one, one.definition.location) for one in found)
        return [one for one, at in sorted(places, key=lambda p: p[1].end_line - p[1].line)]

    def definitions_named(self, names: Sequence[str], most: int) -> list[Known]:
        """The first definitions with some names, by their place."""
        sql = (
            f"SELECT {DEFINITION_COLUMNS} FROM {DEFINITION_FROM} WHERE d.kind!='macro_use'"
            f" AND d.name IN ({','.join('?' * len(names))})"
            " ORDER BY f.path,d.line,d.name,d.end_line,d.id LIMIT ?"
        )
        return list(map(known, self.store.query(sql, (*names, most))))

    def made_by(self, macro: Definition) -> list[Known]:
        """What the uses of a macro define."""
        where = macro.location
        return self.definitions("d.macro_path=? AND d.macro_line=?", where.path, where.line)

    def methods(self, owner: Definition) -> list[Known]:
        """The functions of a class, those written outside of it too."""
        return self.definitions("d.scope=? AND d.kind='function'", owner.qualified)

    def macro_uses_at(self, path: str, line: int) -> list[MacroUse]:
        """The uses of macros over a line."""
        rows = self.store.query(
            "SELECT u.name,u.arguments,u.stub,u.made,u.line,u.end_line FROM uses u"
            " JOIN files f ON f.id=u.file WHERE f.path=? AND u.line<=? AND u.end_line>=?",
            (path, line, line),
        )
        return [
            MacroUse(name, arguments, stub, bool(made), Location(path, start, end))
            for name, arguments, stub, made, start, end in rows
        ]


def _spelling(call: Call) -> tuple[object, ...]:
    """What tells calls apart: of operators the place too, because of their arguments."""
    each = call.kind == "member" or call.qualifier == "at"
    return call.name, call.qualifier, call.kind, call.template, call.line if each else 0


def _behind(calls: Sequence[Call], first: int) -> Sequence[Call]:
    """Calls of a body whose branches are counted from behind those of another."""
    if not first:
        return calls
    return [call._replace(branch=call.branch and call.branch + first) for call in calls]


def spelled_once(calls: Iterable[Call]) -> list[Call]:
    """The first call of each spelling, and all calls of operators."""
    found: dict[tuple[object, ...], Call] = {}
    for call in calls:
        found.setdefault(_spelling(call), call)
    return list(found.values())


def _place(known: Known) -> tuple[str, int, str]:
    definition = known.definition
    return definition.location.path, definition.location.line, definition.name


def _entry(
    stub: str, device: str, macro: str, function: str, path: str, line: int, *rest: Any
) -> StubEntry:
    return StubEntry(stub, device, macro, function, Location(path, line), *rest)


def _stub_use(macro: str, arguments: str, scope: str, path: str, line: int, guard: str) -> StubUse:
    stub = stub_of(macro, arguments)
    return StubUse(macro, stub, arguments, scope, Location(path, line), guard)
