"""Answers the linker's questions from the index file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from json import dumps, loads
from typing import Any, NamedTuple

from indexes.linking.facts import Call, Known, StubUse
from indexes.model.errors import NotFound
from indexes.model.vocabulary import (
    Definition,
    DerivativeEntry,
    KernelRow,
    Location,
    NativeFunction,
)
from indexes.readers.cxx.idioms import stub_of
from indexes.store.codec import load_derivative, load_native
from indexes.store.definition_rows import (
    COLUMN_COUNT,
    DEFINITION_COLUMNS,
    DEFINITION_FROM,
    KERNELS_BEYOND,
    KERNELS_NAMED,
    OP_LINES,
    calls_named,
    definition,
    standing,
    unpack_calls,
)
from indexes.store.index_file import Store
from indexes.store.tables import FILE_OF, IN_FILE

_KERNEL_COLUMNS = "op,key,symbol,kind,confidence,link_rule,reason,definitions"


_FEW = 50
"""Definitions that are looked for one by one before a table of all is made."""
_MOST_NAMES = 8192
"""Names whose definitions are held; with more, all are let go."""
_NAMED = f"definitions d ON d.name=w.value JOIN files f ON f.id={FILE_OF} AND {IN_FILE}"
_USE_COLUMNS = "u.name,u.arguments,u.scope,f.path,u.line,u.guard"


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
        self.named = lru_cache(8192)(self._named)
        self._by_name: dict[str, list[tuple[Any, ...]]] = {}
        self.nominated = lru_cache(256)(self._nominated)
        self._macro_uses = lru_cache(512)(self._macro_uses_in)
        self.calls = lru_cache(4096)(self._calls)
        self.stub_uses = lru_cache(4096)(self._stub_uses)
        self.native = lru_cache(8192)(self._native)
        self.kernels = lru_cache(4096)(self._kernels)
        self.overloads = lru_cache(2048)(self._overloads)
        self.meant: dict[tuple[str, str, str, str], list[Known]] = {}
        self._registrations: dict[str, list[StubUse]] = {}
        self._kernel_ops: dict[int, Sequence[str]] = {}
        self.by_id = lru_cache(16384)(self._by_id)

    def _named(self, name: str) -> Sequence[Known]:
        return tuple(Known(r[0], definition(r)) for r in self._rows(name))

    def _rows(self, name: str) -> Sequence[tuple[Any, ...]]:
        rows = self._by_name.get(name)
        return self._read([name])[name] if rows is None else rows

    def expect(self, names: Iterable[str]) -> None:
        """Reads the definitions of names, that will be asked for one by one, at once."""
        new = [name for name in dict.fromkeys(names) if name not in self._by_name]
        if new:
            self._read(new)

    def _read(self, names: list[str]) -> dict[str, list[tuple[Any, ...]]]:
        found: dict[str, list[tuple[Any, ...]]] = {name: [] for name in names}
        source, given = f"{DEFINITION_FROM} WHERE d.name=?", names[0]
        if len(names) > 1:
            source, given = f"json_each(?) w CROSS JOIN {_NAMED}", dumps(names)
        for row in self.store.query(f"SELECT {DEFINITION_COLUMNS} FROM {source}", (given,)):
            found[row[1]].append(row)
        for rows in found.values():
            rows.sort(key=_number)  # by their place, whatever index gave them
        if len(self._by_name) > _MOST_NAMES:
            self._by_name.clear()
        self._by_name.update(found)
        return found

    def fitting(self, name: str, fits: Callable[[str, str, str], bool]) -> Sequence[Known]:
        """Those of ``named`` of whose kind, scope and path ``fits`` holds."""
        return [Known(r[0], definition(r)) for r in self._rows(name) if fits(*standing(r))]

    def members(self, owner: Definition, name: str) -> Sequence[Known]:
        """The methods of that name which a class defines."""
        rows = self.store.query(
            f"SELECT {DEFINITION_COLUMNS} FROM {DEFINITION_FROM}"
            " WHERE d.name=? AND d.scope=? AND f.path=?",
            (name, owner.qualified, owner.location.path),
        )
        return tuple(Known(r[0], definition(r)) for r in sorted(rows, key=_number))

    def is_type(self, name: str) -> bool:
        """Whether a class or an alias of a type bears this name."""
        if any(known.definition.kind in ("class", "enum") for known in self.named(name)):
            return True
        return bool(self.store.query("SELECT 1 FROM aliases WHERE name=? LIMIT 1", (name,)))

    def _nominated(self, scope: str) -> Sequence[str]:
        rows = self.store.query(
            "SELECT DISTINCT a.target FROM aliases a JOIN files f ON f.id=a.file"
            " WHERE a.name='' AND a.scope=? AND f.path LIKE '%.h' ORDER BY a.target",
            (scope,),
        )
        return tuple(r[0].lstrip(":") for r in rows if scope)

    def _calls(self, known: Known) -> Sequence[Call]:
        numbers = [known.id]
        if known.definition.macro:
            numbers += self._written_bodies(known.definition)
        sql = "SELECT calls FROM calls WHERE definition=?"
        texts = [row[0] for number in numbers for row in self.store.query(sql, (number,))]
        return tuple(Call(*call) for text in texts for call in unpack_calls(text))

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
        rows = self.store.query("SELECT DISTINCT stub FROM uses WHERE stub NOT NULL")
        return frozenset(row[0] for row in rows)

    def _stub_uses(self, stub: str) -> Sequence[StubUse]:
        if stub not in self._stubs:
            return ()
        rows = self.store.query(
            f"SELECT {_USE_COLUMNS} FROM uses u"
            " JOIN files f ON f.id=u.file WHERE u.stub=? ORDER BY f.path,u.line",
            (stub,),
        )
        return tuple(_stub_use(r) for r in rows)

    def _native(self, full_name: str) -> NativeFunction | None:
        rows = self.store.query(f"SELECT data,{OP_LINES} FROM ops WHERE full_name=?", (full_name,))
        return load_native(*rows[0]) if rows else None

    def _overloads(self, base: str) -> Sequence[NativeFunction]:
        rows = self.store.query(
            f"SELECT data,{OP_LINES} FROM ops WHERE base=? ORDER BY position", (base,)
        )
        return tuple(load_native(*r) for r in rows)

    def _kernels(self, full_name: str) -> Sequence[KernelRow]:
        rows = self.store.query(
            f"SELECT {_KERNEL_COLUMNS} FROM kernels WHERE op=? ORDER BY rowid", (full_name,)
        )
        return tuple(self.kernel_row(r) for r in rows)

    def kernel_row(self, row: tuple[Any, ...]) -> KernelRow:
        """A KernelRow from a row of the table."""
        op, key, symbol, kind, confidence, rule, reason, numbers = row
        known = (self.by_id(int(n)) for n in numbers.split(",") if n)
        definitions = tuple(k.definition for k in known if k)
        return KernelRow(op, key, symbol, kind, definitions, confidence, rule, reason)

    def all_kernels(self) -> list[KernelRow]:
        """Every row, in YAML order."""
        rows = self.store.query(f"SELECT {_KERNEL_COLUMNS} FROM kernels ORDER BY rowid")
        return [self.kernel_row(r) for r in rows]

    def all_registrations(self) -> list[StubUse]:
        """Every line that registers a function on a stub."""
        rows = self.store.query(
            f"SELECT {_USE_COLUMNS} FROM uses u"
            " JOIN files f ON f.id=u.file WHERE u.stub IS NOT NULL ORDER BY f.path,u.line"
        )
        return _registered(rows)

    def _by_id(self, number: int) -> Known | None:
        rows = self.store.query(
            f"SELECT {DEFINITION_COLUMNS} FROM {DEFINITION_FROM} WHERE d.id=?", (number,)
        )
        return Known(number, definition(rows[0])) if rows else None

    def known(self, wanted: Definition) -> Known | None:
        """The definition with its number."""
        for one in self.named(wanted.name):
            if one.definition == wanted:
                return one
        return None

    def derivative(self, full_name: str) -> tuple[DerivativeEntry | None, str]:
        """The entry that differentiates an overload, and by which rule."""
        entry, rule, _ = self.derived(full_name)
        return entry, rule

    def derived(self, full_name: str) -> tuple[DerivativeEntry | None, str, dict[str, str]]:
        """The entry, the rule, and the Node class for each autograd key."""
        rows = self.store.query("SELECT derivative FROM ops WHERE full_name=?", (full_name,))
        if not rows or rows[0][0] in (None, "null"):
            return None, "derivatives.yaml is not in this tree", {}
        position, rule, _, grad_fns = loads(rows[0][0])
        if position is None:
            return None, rule, grad_fns
        entry = self.entry(position)
        sets = tuple(replace(s, grad_fn=grad_fns.get(s.key)) for s in entry.sets)
        return replace(entry, sets=sets), rule, grad_fns

    def entries_with(self, text: str) -> list[DerivativeEntry]:
        """The derivative entries whose text holds a word."""
        rows = self.store.query(
            "SELECT data FROM derivatives WHERE instr(data,?) ORDER BY position", (text,)
        )
        return [load_derivative(r[0]) for r in rows]

    def callers(self, name: str) -> Sequence[tuple[Known, Call]]:
        """Every use of a name in a body, by place."""
        rows = self.store.query(
            f"SELECT {DEFINITION_COLUMNS},c.calls FROM calls c"
            f" JOIN definitions d ON d.id=c.definition JOIN files f ON f.id={FILE_OF}"
            " WHERE c.definition IN (SELECT j.value FROM called w, json_each('['||w.callers||']') j"
            " WHERE w.name=?)"
            " ORDER BY f.path,d.line,d.name,d.id",
            (name,),
        )
        return [
            (Known(r[0], definition(r)), Call(*call))
            for r in rows
            for call in calls_named(r[COLUMN_COUNT], name)
        ]

    def callers_of_macros(self, wanted: Callable[[str], bool]) -> list[Known]:
        """The functions that use a macro of which ``wanted`` holds, by file and line."""
        rows = self.store.query("SELECT name,callers FROM called")
        numbers = {number for name, all_ in rows if wanted(name) for number in all_.split(",")}
        known = [one for number in numbers if (one := self.by_id(int(number)))]
        return sorted(known, key=_place)

    def registrations_in(self, path: str) -> Sequence[StubUse]:
        """The lines of a file that register functions on stubs."""
        if path not in self._registrations:
            rows = self.store.query(
                f"SELECT {_USE_COLUMNS} FROM uses u JOIN files f ON f.id=u.file"
                " WHERE f.path=? AND u.stub IS NOT NULL",
                (path,),
            )
            self._registrations[path] = _registered(rows)
        return self._registrations[path]

    def kernel_of(self, known: Known) -> Sequence[str]:
        """The overloads whose kernel a definition is."""
        number = known.id
        if len(self._kernel_ops) >= _FEW:
            return self._all_kernel_ops.get(number, ())
        if number not in self._kernel_ops:
            rows = self._kernels_beyond + self.store.query(KERNELS_NAMED, (known.definition.name,))
            found = [op for _, op, numbers in sorted(rows) if f",{number}," in f",{numbers},"]
            self._kernel_ops[number] = tuple(dict.fromkeys(found))
        return self._kernel_ops[number]

    @cached_property
    def _kernels_beyond(self) -> list[tuple[Any, ...]]:
        return self.store.query(KERNELS_BEYOND)

    @cached_property
    def _all_kernel_ops(self) -> dict[int, list[str]]:
        """The same for who asks often."""
        found: dict[int, list[str]] = {}
        rows = self.store.query("SELECT op,definitions FROM kernels WHERE definitions!=''")
        for op, numbers in rows:
            for number in numbers.split(","):
                listed = found.setdefault(int(number), [])
                if op not in listed:
                    listed.append(op)
        return found

    def entry(self, position: int) -> DerivativeEntry:
        """The derivative entry at a position of the file."""
        rows = self.store.query("SELECT data FROM derivatives WHERE position=?", (position,))
        return load_derivative(rows[0][0])

    def entries(self) -> list[DerivativeEntry]:
        """All derivative entries in file order."""
        rows = self.store.query("SELECT data FROM derivatives ORDER BY position")
        return [load_derivative(r[0]) for r in rows]

    # ------------------------------------------------------------------ files and names

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

    def natives(self) -> list[NativeFunction]:
        """The entries of all overloads, in YAML order."""
        rows = self.store.query(f"SELECT data,{OP_LINES} FROM ops ORDER BY position")
        return [load_native(data, lines) for data, lines in rows]

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

    def document(self, name: str) -> list[dict[str, Any]]:
        """One of the lists that are kept whole: ``tensorimpl``, ``engine``."""
        rows = self.store.query("SELECT data FROM documents WHERE name=?", (name,))
        return [one for (data,) in rows for one in loads(data)]

    # --------------------------------------------------------------- definitions by place

    def definitions_in(self, path: str) -> list[Known]:
        """Every definition of a file, with the bodies behind macro uses."""
        return self._definitions("f.path=?", path)

    def definitions_under(self, folder: str) -> list[Known]:
        """Every definition of the files in a folder, by line."""
        return self._definitions("f.path LIKE ? ORDER BY d.line", f"{folder}/%")

    def definitions_at(self, path: str, line: int) -> list[Known]:
        """The definitions over a line, innermost first."""
        where = "f.path=? AND d.line<=? AND d.end_line>=? AND d.kind!='macro_use'"
        return self._definitions(f"{where} ORDER BY d.end_line-d.line", path, line, line)

    def made_by(self, macro: Definition) -> list[Known]:
        """What the uses of a macro define."""
        where = macro.location
        return self._definitions("d.macro_path=? AND d.macro_line=?", where.path, where.line)

    def methods(self, owner: Definition) -> list[Known]:
        """The functions of a class, those written outside of it too."""
        return self._definitions("d.scope=? AND d.kind='function'", owner.qualified)

    def _definitions(self, where: str, *given: object) -> list[Known]:
        rows = self.store.query(
            f"SELECT {DEFINITION_COLUMNS} FROM {DEFINITION_FROM} WHERE {where}", given
        )
        return [Known(row[0], definition(row)) for row in rows]

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


def _place(known: Known) -> tuple[str, int, str]:
    definition = known.definition
    return definition.location.path, definition.location.line, definition.name


def _stub_use(row: tuple[Any, ...]) -> StubUse:
    macro, arguments, scope, path, line, guard = row
    stub = stub_of(macro, arguments)
    return StubUse(macro, stub, arguments, scope, Location(path, line), guard)


def _registered(rows: Iterable[tuple[Any, ...]]) -> list[StubUse]:
    return [use for row in rows if (use := _stub_use(row)).what == "registered"]


def _number(row: tuple[Any, ...]) -> int:
    number: int = row[0]
    return number
