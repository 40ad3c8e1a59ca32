"""The uses of a symbol: the edges that lead to it, and the operators that reach it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from indexes.linking.facts import Edge, Known, StubUse
from indexes.linking.graph import Node
from indexes.linking.visible import stub_name, stub_scope
from indexes.model.answers import Hit, NameMatch, ReachingPath
from indexes.model.vocabulary import Location
from indexes.queries.corpus import Corpus
from indexes.queries.graph_places import callers_outside, reaching, starts_of, uses_of
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.resolve import resolve
from indexes.queries.places import registrations_of
from indexes.queries.written_operators import WrittenOperators
from indexes.store.lookup import Lookup


def uses(index: IndexedTree, symbol: str, limit: int = 200) -> tuple[Hit, ...]:
    """Direct uses first, then the operators that reach the symbol, with their paths."""
    facts, match = index.facts, resolve(symbol, index)
    known = _definitions(facts, match)
    stubs = stub_names(facts, match.text) if match.kind == "stub" else []
    edges = [edge for one in known for edge in uses_of(facts, one)]
    targets = [*stubs, *match.overloads]
    edges += [edge for target in targets for edge in facts.edges_to(target)]
    hits = list(_edge_hits(facts, edges))
    hits += _registrations(facts, match, known)
    hits += [hit for op in match.overloads for hit in _of_library(index, op)]
    nodes = [Node("stub", stub) for stub in stubs]
    nodes += [node for one in known for node in starts_of(facts, one)]
    simple = match.text.rpartition("::")[2]
    hits += [_operator(facts, way, simple) for way in reaching(facts, nodes)]
    hits += _of_outside(facts, match.text) if match.kind == "symbol" else []
    return tuple(dict.fromkeys(hits))[:limit]


def _of_outside(facts: Lookup, name: str) -> Iterator[Hit]:
    """The callers of a function that the tree does not define, then the operators that reach
    them."""
    callers = callers_outside(facts, name)
    for known, place in callers:
        yield Hit("caller", known.definition.qualified, place, "calls it")
    for known, _ in callers:
        for way in reaching(facts, [Node("definition", known.id)]):
            yield _operator(facts, way, f"{known.definition.name} <- {name}")


def _definitions(facts: Lookup, match: NameMatch) -> list[Known]:
    """The definitions of a symbol; for a class, its methods that run when it is called."""
    named = [
        known
        for hit in match.hits
        for known in facts.named(hit.name.rpartition("::")[2])
        if known.definition.location == hit.location
    ]
    return [
        used
        for known in named
        for used in (
            facts.members(known.definition, "operator()")
            if known.definition.kind == "class"
            else [known]
        )
    ]


def stub_names(facts: Lookup, name: str) -> list[str]:
    """The stubs of a name, each with its namespace."""
    found = (stub_name(stub_scope(use), use.stub) for use in facts.stub_uses(name))
    return list(dict.fromkeys(found))


def _edge_hits(facts: Lookup, edges: Iterable[Edge]) -> Iterator[Hit]:
    for edge in edges:
        if edge.caller < 0:
            yield from _formula(facts, edge)
        elif caller := facts.by_id(edge.caller):
            place = Location(caller.definition.location.path, edge.line)
            yield Hit("caller", caller.definition.qualified, place, edge.rule)


def _formula(facts: Lookup, edge: Edge) -> Iterator[Hit]:
    entry = facts.entry(-1 - edge.caller)
    for formula in (one for each in entry.sets for one in each.formulas):
        if formula.location.line == edge.line:
            text = f"{entry.op}: {formula.text}"
            yield Hit("formula", text, formula.location, edge.symbol, entry.op)


def _registrations(facts: Lookup, match: NameMatch, known: Iterable[Known]) -> Iterator[Hit]:
    if match.kind == "stub":
        for use in facts.stub_uses(match.text):
            yield _registration(use, use.guard)
    for one in known:
        for entry in facts.registered_as(one.id):
            uses = facts.stub_uses(entry.stub.rpartition("::")[2])
            for use in (use for use in uses if use.location == entry.location):
                yield _registration(use, "registers it")
        if one.definition.kind == "function":
            yield from registrations_of(facts, one)


def _registration(use: StubUse, detail: str) -> Hit:
    return Hit("registration", f"{use.macro}({use.arguments})", use.location, detail)


def _of_library(index: IndexedTree, op: str) -> Iterator[Hit]:
    native = index.native(op)
    if native is None or not native.defined_by:
        return
    for row in index.facts.kernels(op):
        if where := row.registered or native.location:
            yield Hit("registration", f"{row.key}: {row.symbol}", where, row.rule, op)
    corpus = Corpus(index.facts, index.source.content)
    for use in WrittenOperators(index.facts, corpus).of(native):
        if not use.registers:
            yield Hit("caller", use.name, use.location, use.rule)


def _operator(facts: Lookup, way: ReachingPath, symbol: str) -> Hit:
    native = facts.native(way.op)
    location = native.location if native else Location("", 0)
    through = [*(one.symbol.rpartition("::")[2] for one in way.via), symbol]
    return Hit("operator", way.op, location, " <- ".join(through), way.op)
