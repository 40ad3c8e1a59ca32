"""Search by text, and what stands at a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from indexes.catalogue import Candidate, Catalogue, like
from indexes.codec import NATIVE_END_LINE, NATIVE_LINE, NATIVE_TAGS, load_derivative, load_native
from indexes.errors import NotFound
from indexes.known_names import KnownNames
from indexes.linking.facts import Known
from indexes.linking.reverse import reaching
from indexes.lookup import Lookup
from indexes.model import Definition, Hit, Location, OperatorSummary, Place
from indexes.names import parse_name
from indexes.places_library import library_places, registrations_of
from indexes.places_python import python_places, stub_places
from indexes.resolve import definition_hit
from indexes.rows_sql import DEFINITION_COLUMNS, DEFINITION_FROM, OP_LINES, definition
from indexes.search import Wanted, kind_of_rank
from indexes.store import Store
from indexes.summaries import summaries
from indexes.tables import FILE_OF

if TYPE_CHECKING:
    from indexes.query import Index

_KIND_RANK = {"operator": 0, "grad_fn": 1, "stub": 2, "impl_func": 3, "function": 3, "class": 4}


def find(text: str, store: Store, catalogue: Catalogue, limit: int) -> tuple[Hit, ...]:
    """Operators, Node classes, symbols, stubs and files whose name holds ``text``, best first."""
    word = text.strip()
    if not word:
        return ()
    simple = _searched(word)
    found = [
        *catalogue.operators.holding(simple, 200), *catalogue.nodes.holding(simple, 50),
        *_symbols(store, catalogue, simple, limit), *catalogue.stubs.holding(simple, 100),
        *catalogue.files.holding(word, limit),
    ]  # fmt: skip
    wanted = Wanted(simple)
    scored = sorted((_score(wanted, one), at) for at, one in enumerate(found))
    return _hits(store, [found[at] for _, at in scored[:limit]])


def _searched(word: str) -> str:
    """The name to look for in what was typed or pasted."""
    if (query := parse_name(word)).kind == "stub":
        return query.base
    return word.rpartition("::")[2].partition("(")[0].strip() or word


_ELSEWHERE = ("operator", "grad_fn", "stub", "file")
"""Kinds of what is no definition."""


def _score(wanted: Wanted, one: Candidate) -> tuple[int, int, int]:
    name = one.name if one.kind in ("operator", "file") else one.name.rpartition("::")[2]
    rank = wanted.rank(name)
    if rank is None:  # it stands in what is before the name
        return (9, _KIND_RANK.get(one.kind, 5), len(name))
    return (kind_of_rank(rank), _KIND_RANK.get(one.kind, 5), rank)


def _symbols(store: Store, catalogue: Catalogue, word: str, limit: int) -> list[Candidate]:
    names = list(_names(catalogue.defined, word, limit))
    marks = ",".join("?" * len(names))
    rows = store.query(
        "SELECT d.kind,d.name,d.id,d.is_global FROM definitions d"
        f" JOIN files f ON f.id={FILE_OF} WHERE d.name IN ({marks}) AND d.kind!='macro_use'"
        " ORDER BY f.path,d.line,d.name,d.end_line LIMIT 400",
        names,
    )
    return [Candidate("__global__" if r[3] else r[0], *r[1:3]) for r in rows]


def _hits(store: Store, chosen: Sequence[Candidate]) -> tuple[Hit, ...]:
    known = _definitions_of(store, [one.key for one in chosen if one.kind not in _ELSEWHERE])
    operators = summaries(store, [one.name for one in chosen if one.kind == "operator"])
    return tuple(_hit(store, one, known, operators) for one in chosen)


def _hit(
    store: Store, one: Candidate, known: Mapping[int, Definition],
    operators: Mapping[str, OperatorSummary],
) -> Hit:  # fmt: skip
    if one.kind == "operator":
        operator = operators[one.name]
        where = Location(operator.location.path, operator.location.line)
        return Hit("operator", one.name, where, operator.schema, one.name)
    if one.kind == "grad_fn":
        op, position = one.key
        rows = store.query("SELECT data FROM derivatives WHERE position=?", (position,))
        where = load_derivative(rows[0][0]).location
        return Hit("grad_fn", one.name, Location(where.path, where.line), f"of {op}", op)
    if one.kind == "stub":
        path, line, macro, arguments, _ = one.key
        return Hit("stub", one.name, Location(path, line), f"{macro}({arguments})")
    if one.kind == "file":
        return Hit("file", one.name, Location(one.name, 0))
    return definition_hit(known[one.key])


def _definitions_of(store: Store, numbers: Sequence[int]) -> dict[int, Definition]:
    marks = ",".join("?" * len(numbers))
    rows = store.query(
        f"SELECT {DEFINITION_COLUMNS} FROM {DEFINITION_FROM} WHERE d.id IN ({marks})", numbers
    )
    return {r[0]: definition(r) for r in rows}


def _names(defined: KnownNames, word: str, limit: int) -> Iterator[str]:
    if len(word) < 3:  # too many names hold it
        return islice(defined.beginning(word), limit)
    return islice(defined.holding(word), limit * 2)


# ----------------------------------------------------------------------------- at


def at(index: Index, facts: Lookup, path: str, line: int) -> tuple[Place, ...]:
    """What stands at ``path:line``, innermost first."""
    if generated := stub_places(index, facts, path, line):
        return generated
    number = _file(facts.store, path)
    path = number[1]
    places = [*_yaml(index, facts, path, line), *_members(index, path, line)]
    places += _uses(facts, number[0], path, line)
    if facts.store.query("SELECT 1 FROM libraries WHERE file=? LIMIT 1", (number[0],)):
        places += library_places(facts, number[0], path, index.read(path), line)
    places += _definitions(facts, number[0], line)
    if path.endswith(".py"):
        places += python_places(index, facts, number[0], path, line)
    if not places:
        raise NotFound(f"nothing that torchnav knows stands at {path}:{line}")
    return tuple(places)


def _file(store: Store, path: str) -> tuple[int, str]:
    wanted = path.replace("\\", "/").removeprefix("./")
    rows = store.query("SELECT id,path FROM files WHERE path=?", (wanted,))
    if not rows:
        rows = store.query(
            "SELECT id,path FROM files WHERE path LIKE ? ESCAPE '\\'", (like("/" + wanted)[:-1],)
        )
    if len(rows) == 1:
        return rows[0][0], rows[0][1]
    if rows:
        raise NotFound(f"{path} names {len(rows)} files", tuple(r[1] for r in rows[:5]))
    raise NotFound(f"no file {path} in this index")


def _yaml(index: Index, facts: Lookup, path: str, line: int) -> list[Place]:
    if path == index.source.locate("native_functions.yaml"):
        rows = facts.store.query(
            f"SELECT data,{OP_LINES} FROM ops"
            f" WHERE json_extract(data,'{NATIVE_LINE}')+{OP_LINES}<=?"
            f" AND json_extract(data,'{NATIVE_END_LINE}')+{OP_LINES}>=?"
            f" ORDER BY instr(json_extract(data,'{NATIVE_TAGS}'),'generated')",
            (line, line),
        )
        found = [load_native(*r) for r in rows]
        return [
            Place("operator", f.full_name, f.location, f.schema, (f.full_name,), "its YAML entry")
            for f in found
        ]
    if path == index.source.locate("derivatives.yaml"):
        return _derivative_places(facts, line)
    return []


def _derivative_places(facts: Lookup, line: int) -> list[Place]:
    for entry in facts.entries():
        where = entry.location
        if not where.line <= line <= max(where.end_line, where.line):
            continue
        formulas = [
            Place("formula", f"{', '.join(f.inputs)}: {f.text}", f.location, f.kind, (entry.op,))
            for s in entry.sets
            for f in s.formulas
            if f.location.line <= line <= max(f.location.end_line, f.location.line)
        ]
        nodes = ", ".join(s.grad_fn for s in entry.sets if s.grad_fn)
        return [*formulas, Place("derivative", entry.op, where, nodes, (entry.op,))]
    return []


def _members(index: Index, path: str, line: int) -> list[Place]:
    if path != index.source.locate("TensorImpl.h"):
        return []
    return [
        Place("member", m.name, m.location, f"{m.type}: {m.comment}"[:400])
        for m in index.tensorimpl()
        if line == m.location.line or any(a.line == line for a in m.accessors)
    ]


def _uses(facts: Lookup, file: int, path: str, line: int) -> list[Place]:
    rows = facts.store.query(
        "SELECT name,arguments,stub,line,end_line,made FROM uses"
        " WHERE file=? AND line<=? AND end_line>=?",
        (file, line, line),
    )
    places = []
    for name, arguments, stub, start, end, made in rows:
        place = Location(path, start, end)
        if stub:
            what = "registration" if "REGISTER" in name else "stub"
            ops = tuple(r.op for r in reaching((), (stub,), facts))
            places.append(Place(what, stub, place, f"{name}({arguments})", ops, "uses of the stub"))
        elif not made:
            places.append(Place("macro", name, place, f"{name}({arguments})"))
    return places


def _definitions(facts: Lookup, file: int, line: int) -> list[Place]:
    rows = facts.store.query(
        f"SELECT {DEFINITION_COLUMNS} FROM {DEFINITION_FROM} WHERE f.id=? AND d.line<=?"
        " AND d.end_line>=? AND d.kind!='macro_use' ORDER BY d.end_line-d.line",
        (file, line, line),
    )
    return [_definition_place(facts, row) for row in rows]


def _definition_place(facts: Lookup, row: tuple[object, ...]) -> Place:
    known = Known(int(str(row[0])), definition(row))
    found = known.definition
    own = tuple(facts.kernel_of(known))
    reached = () if found.kind == "class" else reaching([known], (), facts)
    ops = own + tuple(r.op for r in reached if r.op not in own)
    if found.kind == "function":
        registered = (hit.op for hit in registrations_of(facts, found))
        ops = tuple(dict.fromkeys((*ops, *filter(None, registered))))
    engine = [e.op for e in facts.entries_with(found.name)] if "autograd" in found.scope else []
    if found.kind == "macro":
        ops = (*ops, *_made_by_macro(facts, found))
    kind = "kernel" if own else found.kind
    rule = "a kernel of these operators" if own else "reached by these operators" if ops else ""
    detail = found.parameters + (f"  [{found.guard}]" if found.guard else "")
    return Place(kind, found.qualified, found.location, detail, (*ops, *engine), rule)


def _made_by_macro(facts: Lookup, macro: Definition) -> list[str]:
    """The operators whose kernels a macro's uses make."""
    rows = facts.store.query(
        f"SELECT {DEFINITION_COLUMNS} FROM {DEFINITION_FROM}"
        " WHERE d.macro_path=? AND d.macro_line=?",
        (macro.location.path, macro.location.line),
    )
    ops = (op for r in rows for op in facts.kernel_of(Known(r[0], definition(r))))
    return list(dict.fromkeys(ops))
