"""Nothing is lost on the way: each call that the index knows of is listed, folded or said to be
unknown; what stands in a chain is what the graph leads back from."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from indexes.linking.facts import Edge
from indexes.linking.graph import DEVICES, Graph, Node, node_kind
from indexes.model.answers import Hop
from indexes.queries.chains import chain
from indexes.queries.chains.steps import Extent
from indexes.queries.chains.walk import ChainWalk
from indexes.queries.index import Index


def walked(index: Index, op: str, extent: Extent) -> ChainWalk:
    native = index.native(op)
    assert native is not None
    return chain.walked(index, native, extent)


def lost(walk: ChainWalk) -> Iterator[str]:
    """Functions of which calls are neither listed nor counted."""
    children: dict[int | None, list[Hop]] = {}
    for hop in walk.hops.hops:
        children.setdefault(hop.parent, []).append(hop)
    for number, nodes in walk.expanded.items():
        below = children.get(number, [])
        whats = dict.fromkeys(node.what for node in nodes)
        edges = [e for what in whats if isinstance(what, int) for e in walk.facts.edges(what)]
        unseen = [edge for edge in edges if not _is_listed(edge, below, number, walk)]
        folded = sum(walk.folded.get(number, {}).values())
        # Definitions of one place, made by one macro, stand in one row, and call the same.
        one_row = len(whats) > 1 or _have_twins(edges, walk)
        right = len(unseen) == folded or (one_row and len(unseen) < folded)
        if nodes[0].kind == "definition" and not right:
            yield f"{walk.hops.hops[number].symbol}: {len(unseen)} not listed, {folded} folded"


def _have_twins(edges: list[Edge], walk: ChainWalk) -> bool:
    """Whether two of the functions that edges lead to stand in one place."""
    numbers = {edge.target for edge in edges if isinstance(edge.target, int)}
    found = [known.definition.location for known in map(walk.facts.by_id, numbers) if known]
    return len(found) != len(set(found))


def _is_listed(edge: Edge, below: list[Hop], parent: int, walk: ChainWalk) -> bool:
    if edge.kind == "unknown":
        said = [
            one
            for (hop, _), calls in walk.unknown.items()
            if hop in (None, parent)
            for one in calls
        ]
        return any(name == edge.symbol and place.line == edge.line for name, place in said)
    return any(_says(hop, edge, walk) for hop in below)


def _says(hop: Hop, edge: Edge, walk: ChainWalk) -> bool:
    lines = {place.line for place in (hop.location, *hop.evidence) if place}
    if edge.line not in lines:
        return False
    known = walk.facts.by_id(edge.target) if isinstance(edge.target, int) else None
    if known:
        return known.definition.location in (hop.location, *hop.evidence)
    if node_kind(edge) == "operator":
        return hop.symbol == edge.symbol and str(edge.target) in hop.note.split(", ")
    return hop.symbol.rpartition("::")[2] == edge.symbol.rpartition("::")[2]


def above(graph: Graph, what: int | str) -> set[object]:
    """The operators that a definition is reached from."""
    devices = dict.fromkeys(("", *DEVICES, graph.device(what)))
    pending = [Node("definition", what, device) for device in devices]
    seen = set(pending)
    while pending:
        for step in graph.up(pending.pop()):
            if step.upper not in seen:
                seen.add(step.upper)
                pending.append(step.upper)
    return {node.what for node in seen if node.kind == "operator" and not node.device}


def definitions(walk: ChainWalk) -> set[int]:
    places = (node.what for nodes in walk.expanded.values() for node in nodes)
    return {what for what in places if isinstance(what, int)}


@pytest.mark.parametrize("extent", [Extent(), Extent(full=True), Extent(depth=1), Extent(limit=12)])
def test_no_call_is_lost(extent: Extent, tree_index: Index) -> None:
    names = [op.full_name for op in tree_index.operators()]
    walks = [walked(tree_index, name, extent) for name in names]
    assert sum(len(walk.expanded) for walk in walks) > 500
    assert [one for walk in walks for one in lost(walk)] == []


def test_what_is_in_a_chain_leads_back_to_its_operator(tree_index: Index) -> None:
    names = [op.full_name for op in tree_index.operators()]
    held = {name: definitions(walked(tree_index, name, Extent(full=True))) for name in names}
    graph = Graph(tree_index.facts)
    everything = sorted(set().union(*held.values()))
    assert len(everything) > 200
    for what in random.Random(13).sample(everything, 150):
        assert {name for name in names if what in held[name]} == above(graph, what), what


@pytest.mark.checkout
def test_no_call_is_lost_in_a_whole_tree(checkout_index: Index) -> None:
    names = [op.full_name for op in checkout_index.operators()]
    walks = (walked(checkout_index, name, Extent()) for name in names)
    assert [one for walk in walks for one in lost(walk)] == []


@pytest.mark.checkout
def test_chains_of_a_whole_tree_lead_back(checkout_index: Index) -> None:
    names = [op.full_name for op in checkout_index.operators()]
    graph = Graph(checkout_index.facts)
    for name in random.Random(13).sample(names, 10):
        held = sorted(definitions(walked(checkout_index, name, Extent(full=True))))
        for what in random.Random(13).sample(held, min(20, len(held))):
            assert name in above(graph, what)
