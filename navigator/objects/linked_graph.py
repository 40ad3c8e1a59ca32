"""A live backward graph linked to lines of PyTorch and of the program, and the order in which its
nodes ran, from torch's profiler and checked against hooks."""

from __future__ import annotations

import heapq
import inspect
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from indexes.model.vocabulary import SourceInfo
from indexes.queries.backward_engine import NodeSource, node_source
from indexes.queries.index import Index
from indexes.serialize.answers import dumps, envelope, shape, to_object
from indexes.source.source import Source
from navigator.explanation import place_json
from navigator.objects.graph import Edge, Graph, GraphNode, Saved, read_graph, variables
from navigator.text.graphs import dot_lines, graph_lines
from navigator.text.html import linked_text


@dataclass(frozen=True, slots=True)
class LinkedGraph:
    """The graph of a backward pass, with the source of each node."""

    nodes: tuple[GraphNode, ...]
    sources: tuple[NodeSource, ...]
    """The source of each node, by number."""
    torch_version: str
    source: SourceInfo
    order: tuple[int, ...] = ()
    """Node numbers in execution order; empty if they did not run."""
    why: Mapping[int, str] | None = None
    """Why each came next; empty if the engine's rule gives another order than ran."""
    note: str = ""

    def __str__(self) -> str:
        return "\n".join(graph_lines(self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks."""
        return linked_text(str(self), self.source)

    def dot(self) -> str:
        """The graph in Graphviz's language."""
        return "\n".join(dot_lines(self))

    def svg(self) -> str:
        """The graph as Graphviz draws it.

        Raises:
            ValueError: Graphviz is not installed.
        """
        try:
            drawn = subprocess.run(
                ["dot", "-Tsvg"], input=self.dot(), capture_output=True, check=True, text=True
            )
        except (OSError, subprocess.CalledProcessError) as error:
            raise ValueError(f"--svg needs Graphviz, which has dot ({error})") from error
        return drawn.stdout

    def as_json(self) -> str:
        """One line of JSON, as described in docs/json.md."""
        order = {number: at for at, number in enumerate(self.order)}
        nodes = [
            _node_json(node, source, order.get(node.number), (self.why or {}).get(node.number))
            for node, source in zip(self.nodes, self.sources, strict=True)
        ]
        return dumps(envelope(self.source, torch=self.torch_version, note=self.note, nodes=nodes))


def linked(
    tensor: torch.Tensor,
    names: Mapping[str, torch.Tensor],
    lines: Mapping[Any, tuple[str, int]] | None = None,
    *,
    tree: str | None = None,
    run: bool = False,
) -> LinkedGraph:
    """The graph behind a tensor, linked with an index, which is built if needed.

    Parameters:
        names: Variables of the program by name.
        lines: The line that made each node, from ``graph.Lines``.
        tree: A checkout of PyTorch; default: the best available source.
        run: Run the backward pass once to find the order of the nodes; ``.grad`` is restored, hooks
            of the program run.

    Raises:
        ValueError: The tensor has no ``grad_fn``.
        SourceError: There is no source.
    """
    found = read_graph(tensor, names, lines)
    index = Index.open(Source.find(tree))
    sources = tuple(node_source(index, node.name, len(node.edges)) for node in found.nodes)
    order, note = recorded_order(tensor, found) if run else ((), "")
    why = reasons(found, order) if order else {}
    return LinkedGraph(found.nodes, sources, torch.__version__, index.info, order, why, note)


def graph(tensor: torch.Tensor, tree: str | None = None, *, run: bool = False) -> LinkedGraph:
    """``navigator.graph(loss)``: as ``linked``, with the caller's variables as names.

    Raises:
        TypeError: It is not a tensor.
        ValueError: The tensor has no ``grad_fn``.
        SourceError: There is no source.
    """
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"graph takes a tensor, not {type(tensor).__name__}")
    frame = inspect.currentframe()
    caller = frame.f_back if frame else None
    names = {**caller.f_globals, **caller.f_locals} if caller else {}
    return linked(tensor, variables(names), tree=tree, run=run)


shape(Saved, "name value is_variable")
_NODE_KEYS = (
    "number name sequence variable entry definition operators code called_at gradients saved hooks"
    " edges ran why"
)


def _node_json(
    node: GraphNode, source: NodeSource, ran: int | None, why: str | None
) -> dict[str, Any]:
    found = source.formulas or ((None, None),) * len(node.edges)
    return to_object(
        node,
        _NODE_KEYS,
        entry=source.entry and to_object(source.entry, "op path line"),
        definition=source.definition and to_object(source.definition, "name path line"),
        operators=source.operators,
        code=place_json(node.code),
        called_at=place_json(node.called_at),
        edges=[_edge_json(edge, *one) for edge, one in zip(node.edges, found, strict=True)],
        ran=ran,
        why=why,
    )


def _edge_json(edge: Edge, argument: str | None, formula: Any) -> dict[str, Any]:
    fields = formula and to_object(formula, "text path line")
    return to_object(edge, "to=number input_nr", input=argument, formula=fields)


_EVALUATES = "autograd::engine::evaluate_function: "


def recorded_order(tensor: torch.Tensor, graph: Graph) -> tuple[tuple[int, ...], str]:
    """Runs the backward pass once and returns the order of its nodes, by number.

    The graph is kept and ``.grad`` is restored; hooks of the program run.

    Returns:
        The order, and a note if hooks and the profiler disagree, as they do if a node runs a graph
            of its own (re-entrant checkpointing).
    """
    ran: list[int] = []
    handles = [
        node.register_prehook(lambda _, number=number: ran.append(number))
        for number, node in graph.live.items()
    ]
    try:
        profiled = _profiled(tensor, graph)
    finally:
        for handle in handles:
            handle.remove()
    hooked = [graph.nodes[number].name for number in ran]
    if hooked == profiled:
        return tuple(ran), ""
    more = len(profiled) - len(hooked)
    return tuple(ran), f"the profiler saw {len(profiled)} nodes, {more} of them not of this graph"


def _profiled(tensor: torch.Tensor, graph: Graph) -> list[str]:
    """The names of the nodes in execution order, from the profiler."""
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
    """The order by the engine's rule on one thread: of the ready nodes the one made last, leaves as
    soon as possible. With a reason for each."""
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
    """Number of gradients that each node waits for."""
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
    """Why each node ran when it did; empty if the rule gives another order than ran."""
    order, why = simulated_order(graph)
    return why if order == tuple(recorded) else {}
