"""In which order the nodes of a graph ran, by torch's profiler, with hooks as a cross-check."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import torch

from navigator.objects.graph import Graph

_EVALUATES = "autograd::engine::evaluate_function: "


def recorded_order(tensor: torch.Tensor, graph: Graph) -> tuple[tuple[int, ...], str]:
    """Runs the backward pass once and says in which order its nodes ran, by number.

    The graph is kept, and what the pass adds to ``.grad`` is taken back; hooks of the program run.

    Returns:
        The order, and a note where hooks and the profiler do not agree: then a node makes a
        graph of its own while it runs, as a checkpoint that is re-entrant does.
    """
    ran: list[int] = []
    handles = [
        node.register_prehook(lambda _, number=number: ran.append(number))
        for number, node in graph.live.items()
    ]
    try:
        seen = _profiled(tensor, graph)
    finally:
        for handle in handles:
            handle.remove()
    own = [graph.nodes[number].name for number in ran]
    if own == seen:
        return tuple(ran), ""
    more = len(seen) - len(own)
    return tuple(ran), f"the profiler saw {len(seen)} nodes, {more} of them not of this graph"


def _profiled(tensor: torch.Tensor, graph: Graph) -> list[str]:
    """The names of the nodes in the order in which the engine evaluated them."""
    leaves = [node.variable for node in graph.live.values() if hasattr(node, "variable")]
    before = [leaf.grad for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    try:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
            tensor.backward(torch.ones_like(tensor), retain_graph=True)
    finally:
        for leaf, grad in zip(leaves, before, strict=True):
            leaf.grad = grad
    events = [event for event in profiler.events() or () if event.name.startswith(_EVALUATES)]
    events.sort(key=lambda event: event.time_range.start)
    return [event.name.removeprefix(_EVALUATES).rpartition("::")[2] for event in events]


def simulated_order(graph: Graph) -> tuple[tuple[int, ...], dict[int, str]]:
    """The order by the engine's rule, on one thread: of the nodes whose gradients are all there,
    the one that was made last; leaves as soon as they can. With the reason for each."""
    waiting = _dependencies(graph)
    ready = [_priority(graph, 0, 0)]
    order: list[int] = []
    why: dict[int, str] = {}
    made = 1
    while ready:
        count = len(ready)
        number = heapq.heappop(ready)[-1]
        why[number] = _reason(graph, number, count)
        order.append(number)
        for edge in graph.nodes[number].edges:
            if edge.number is not None:
                waiting[edge.number] -= 1
                if waiting[edge.number] == 0:
                    heapq.heappush(ready, _priority(graph, edge.number, made))
                    made += 1
    return tuple(order), why


def _reason(graph: Graph, number: int, ready: int) -> str:
    if ready == 1:
        return "the only one ready"
    if graph.nodes[number].sequence is None:
        return "a leaf goes first"
    return f"made last of {ready} ready"


def _dependencies(graph: Graph) -> dict[int, int]:
    """How many gradients each node waits for."""
    counts = dict.fromkeys(range(len(graph.nodes)), 0)
    for node in graph.nodes:
        for edge in node.edges:
            if edge.number is not None:
                counts[edge.number] += 1
    return counts


def _priority(graph: Graph, number: int, made: int) -> tuple[float, int, int]:
    sequence = graph.nodes[number].sequence
    return (float("-inf") if sequence is None else -sequence, made, number)


def reasons(graph: Graph, recorded: Sequence[int]) -> dict[int, str]:
    """Why each node came when it did; nothing where the rule gives another order than ran."""
    order, why = simulated_order(graph)
    return why if order == tuple(recorded) else {}
