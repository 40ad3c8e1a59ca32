"""Search by text, and what stands at a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexes.linking.facts import Known
from indexes.linking.reverse import reaching
from indexes.model.errors import NotFound
from indexes.model.vocabulary import Definition, Location, Place
from indexes.queries.places_library import library_places, registrations_of
from indexes.store.codec import NATIVE_END_LINE, NATIVE_LINE, NATIVE_TAGS, load_native
from indexes.store.definition_rows import DEFINITION_COLUMNS, DEFINITION_FROM, OP_LINES, definition
from indexes.store.index_file import Store
from indexes.store.lookup import Lookup

if TYPE_CHECKING:
    from indexes.queries.index import Index


def at(index: Index, facts: Lookup, path: str, line: int) -> tuple[Place, ...]:
    """What stands at ``path:line``, innermost first."""
    if path.endswith(".pyi"):
        from indexes.queries.places_python import stub_places

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
        from indexes.queries.places_python import python_places

        places += python_places(index, facts, number[0], path, line)
    if not places:
        raise NotFound(f"nothing that torchnav knows stands at {path}:{line}")
    return tuple(places)


def _file(store: Store, path: str) -> tuple[int, str]:
    wanted = path.replace("\\", "/").removeprefix("./")
    rows = store.query("SELECT id,path FROM files WHERE path=?", (wanted,))
    if not rows:
        from indexes.store.catalogue import like

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
