"""The graph by places: the calls of a line, and the operators that reach it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from indexes.linking.facts import TO_DEFINITIONS, TO_OPERATORS, TO_STUBS, Edge, Known, StubEntry
from indexes.linking.graph import Node, Step
from indexes.linking.registrations import is_built
from indexes.linking.reverse import Way, operators_reaching
from indexes.model import answers
from indexes.model.answers import Callee, ReachingPath
from indexes.model.idioms import LOOPS
from indexes.model.vocabulary import Location
from indexes.store.lookup import Lookup

_SHORTEST = 3
"""Fewest letters of a function's name, as opposed to called parameters."""
_MACRO_USERS = 50
"""Functions with a macro that are examined for a line of its body."""


def callees(facts: Lookup, known: Known, line: int) -> tuple[Callee, ...]:
    """The calls on a line of a definition."""
    if known.definition.kind == "macro":
        edges = _edges_of_macro(facts, known, line)
    else:
        edges = [edge for edge in facts.edges(known.id) if edge.line == line]
    return targets(facts, edges)


def targets(facts: Lookup, edges: Iterable[Edge]) -> tuple[Callee, ...]:
    """What edges lead to, each target once."""
    return tuple(dict.fromkeys(_callee(facts, edge) for edge in edges))


def _edges_of_macro(facts: Lookup, macro: Known, line: int) -> list[Edge]:
    """The meanings, where a macro is used, of names on a line of it."""
    names = {call.name for call in facts.calls(macro) if call.line == line}
    users = [int(node.what) for node in starts_of(facts, macro)[:_MACRO_USERS]]
    edges = (edge for user in users for edge in facts.edges(user))
    return [edge for edge in edges if edge.symbol.rpartition("::")[2] in names]


def _callee(facts: Lookup, edge: Edge) -> Callee:
    name, place = edge.symbol, None
    if edge.kind == "unknown":
        return Callee(edge.kind, name, None, str(edge.target), edge.confidence)
    if edge.kind in TO_DEFINITIONS and (known := facts.by_id(int(edge.target))):
        name, place = known.definition.qualified, known.definition.location
    elif edge.kind in TO_OPERATORS:
        native = facts.native(str(edge.target))
        name, place = str(edge.target), native.location if native else None
    elif edge.kind in TO_STUBS:
        name, place = str(edge.target), _declared(facts, str(edge.target))
    return Callee(edge.kind, name, place, edge.rule, edge.confidence)


def _declared(facts: Lookup, stub: str) -> Location | None:
    uses = sorted(facts.stub_uses(stub.rpartition("::")[2]), key=lambda use: use.what == "declared")
    return next((use.location for use in uses if use.what != "registered"), None)


def uses_of(facts: Lookup, known: Known) -> list[Edge]:
    """The edges to a definition; for a loop, those that end in its name."""
    edges = [*facts.edges_to(known.id)]
    if known.definition.name in LOOPS:
        edges += facts.edges_to(known.definition.name)
    return edges


def callers_outside(facts: Lookup, name: str) -> list[tuple[Known, Location]]:
    """The callers of a function that the tree does not define, as ``cudaMemcpyAsync``, with lines;
    C++ tests last."""
    if facts.named(name) or len(name) < _SHORTEST:
        return []
    calls = (one for one in facts.callers(name) if one[1].kind == "call")
    found = [(known, Location(known.definition.location.path, c.line)) for known, c in calls]
    return sorted(found, key=lambda one: not is_built(one[1].path))


def starts_of(facts: Lookup, known: Known) -> list[Node]:
    """Where walking up from a definition begins: for a macro or loop, at its uses."""
    found = [known.id]
    if known.definition.kind == "macro":
        found = [one.id for one in facts.made_by(known.definition)]
    if known.definition.kind == "macro" or known.definition.name in LOOPS:
        found += (edge.caller for edge in uses_of(facts, known) if edge.caller >= 0)
    return [Node("definition", number) for number in dict.fromkeys(found)]


def reaching(facts: Lookup, starts: Iterable[Node]) -> tuple[ReachingPath, ...]:
    """The operators that reach one of the places, nearest first, each with its path."""
    return tuple(
        ReachingPath(way.op, way.side, way.devices, tuple(_via(facts, way)))
        for way in operators_reaching(starts, facts)
    )


def _via(facts: Lookup, way: Way) -> Iterator[answers.Way]:
    for step in way.steps:
        if known := _known(facts, step.upper):
            yield answers.Way(known.definition.qualified, known.definition.location)
        else:
            yield answers.Way(str(step.upper.what), _of_stub(facts, step))


def _known(facts: Lookup, node: Node) -> Known | None:
    return facts.by_id(node.what) if isinstance(node.what, int) else None


def _of_stub(facts: Lookup, step: Step) -> Location:
    if isinstance(step.why, StubEntry):
        return step.why.location
    return _declared(facts, str(step.upper.what)) or Location("", 0)
