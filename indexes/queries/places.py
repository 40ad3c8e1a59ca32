"""What stands at a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from indexes.linking.facts import Known
from indexes.linking.graph import Node
from indexes.linking.visible import stub_name, stub_scope
from indexes.model.answers import Place
from indexes.model.errors import NotFound
from indexes.model.idioms import meaning_of
from indexes.model.vocabulary import Location
from indexes.queries.graph_places import callees, reaching, starts_of, uses_of
from indexes.queries.places_library import library_places, registrations_of
from indexes.readers.cxx.facts import keeps_bodies
from indexes.store.lookup import Lookup

if TYPE_CHECKING:
    from indexes.queries.index import Index

_USERS = 5
"""Functions that are named of those that use a place which no operator reaches."""


def at(index: Index, facts: Lookup, path: str, line: int) -> tuple[Place, ...]:
    """What stands at ``path:line``, innermost first."""
    if path.endswith(".pyi"):
        from indexes.queries.places_python import stub_places

        if generated := stub_places(index, facts, path, line):
            return generated
    path = facts.whole_path(path)
    places = [*_yaml(index, facts, path, line), *_members(index, path, line)]
    places += _macro_uses(facts, path, line)
    places += library_places(facts, path, line, index.read)
    places += _definitions(facts, path, line)
    if path.endswith(".py"):
        from indexes.queries.places_python import python_places

        places += python_places(index, facts, path, line)
    if not places:
        raise NotFound(f"nothing is indexed at {path}:{line}")
    return tuple(places)


def _yaml(index: Index, facts: Lookup, path: str, line: int) -> list[Place]:
    if path == index.source.locate("native_functions.yaml"):
        found = [one for one in facts.natives() if one.location.covers(line)]
        return [
            Place("operator", f.full_name, f.location, f.schema, (f.full_name,), "its YAML entry")
            for f in sorted(found, key=lambda one: "generated" in one.tags)
        ]
    if path == index.source.locate("derivatives.yaml"):
        return _derivative_places(facts, line)
    return []


def _derivative_places(facts: Lookup, line: int) -> list[Place]:
    for entry in facts.entries():
        if entry.location.covers(line):
            formulas = [
                Place(
                    "formula", f"{', '.join(f.inputs)}: {f.text}", f.location, f.kind, (entry.op,)
                )
                for s in entry.sets
                for f in s.formulas
                if f.location.covers(line)
            ]
            nodes = ", ".join(s.grad_fn for s in entry.sets if s.grad_fn)
            return [*formulas, Place("derivative", entry.op, entry.location, nodes, (entry.op,))]
    return []


def _members(index: Index, path: str, line: int) -> list[Place]:
    if path != index.source.locate("TensorImpl.h"):
        return []
    return [
        Place("member", m.name, m.location, f"{m.type}: {m.comment}"[:400])
        for m in index.tensorimpl()
        if line == m.location.line or any(a.line == line for a in m.accessors)
    ]


def _macro_uses(facts: Lookup, path: str, line: int) -> list[Place]:
    places = []
    for use in facts.macro_uses_at(path, line):
        text = f"{use.name}({use.arguments})"
        if use.stub:
            what = "registration" if meaning_of(use.name) == "registered" else "stub"
            ways = reaching(facts, _stub_nodes(facts, use.stub, use.location))
            ops = tuple(dict.fromkeys(way.op for way in ways))
            rule = "uses of the stub"
            places.append(Place(what, use.stub, use.location, text, ops, rule, ways=ways))
        elif not use.made:
            places.append(Place("macro", use.name, use.location, text))
    return places


def _stub_nodes(facts: Lookup, stub: str, where: Location) -> list[Node]:
    uses = [use for use in facts.stub_uses(stub) if use.location.path == where.path]
    names = (stub_name(stub_scope(u), u.stub) for u in uses if u.location.line == where.line)
    return [Node("stub", name) for name in dict.fromkeys(names)]


def _definitions(facts: Lookup, path: str, line: int) -> Iterator[Place]:
    """The definitions over a line, innermost first; the innermost function says what it calls."""
    calls_told = False
    for known in facts.definitions_at(path, line):
        place = _definition_place(facts, known)
        if known.definition.kind != "class" and not calls_told:
            calls_told = True
            place = replace(place, calls=callees(facts, known, line))
        yield place


def _definition_place(facts: Lookup, known: Known) -> Place:
    found = known.definition
    own = facts.kernel_of(known)
    ways = () if found.kind == "class" else reaching(facts, starts_of(facts, known))
    ops = [*own, *(way.op for way in ways)]
    if found.kind == "function":
        ops += (hit.op for hit in registrations_of(facts, known) if hit.op)
    if found.kind == "macro":
        ops += (op for one in facts.made_by(found) for op in facts.kernel_of(one))
    kind = "kernel" if own else found.kind
    rule = "a kernel of these operators" if own else "reached by these operators"
    rule = rule if ops else _unreached(facts, known)
    detail = found.parameters + (f"  [{found.guard}]" if found.guard else "")
    said = (detail, tuple(dict.fromkeys(ops)), rule)
    return Place(kind, found.qualified, found.location, *said, ways=ways)


def _unreached(facts: Lookup, known: Known) -> str:
    """Why no operator leads to a definition."""
    found = known.definition
    if found.kind not in ("function", "macro") or not keeps_bodies(found.location.path):
        return ""
    users = [facts.by_id(edge.caller) for edge in uses_of(facts, known)]
    names = dict.fromkeys(one.definition.qualified for one in users if one and one.id != known.id)
    if names:
        listed = ", ".join(list(names)[:_USERS])
        more = f" and {len(names) - _USERS} more" if len(names) > _USERS else ""
        return f"no operator is known to reach it; used by {listed}{more}"
    return f"nothing in this tree is known to {'launch' if found.cuda_global else 'use'} it"
