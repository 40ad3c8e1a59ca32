"""A live backward graph as a tree of text and in Graphviz's language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from indexes.model.lines import grouped
from navigator.text.answers import version_words, wrap
from navigator.text.clean import clean

if TYPE_CHECKING:
    from indexes.queries.backward_engine import NodeSource
    from navigator.objects.graph import GraphNode
    from navigator.objects.linked_graph import LinkedGraph
    from navigator.objects.numeric import NumericCheck

_MOST_WAYS = 20
"""Maximum number of paths from a loss to a variable: they double with each skip connection."""


def graph_lines(graph: LinkedGraph) -> Iterator[str]:
    """Each node once, below the first that leads to it; then the execution order."""
    seen: set[int] = set()
    waiting = [(0, 0, "")]
    while waiting:
        number, depth, via = waiting.pop()
        if number in seen:
            yield clean(f"{'  ' * depth}{via}see #{number} {graph.nodes[number].name}")
            continue
        seen.add(number)
        yield from _node_lines(graph, number, depth, via)
        edges = [
            (at, edge.number)
            for at, edge in enumerate(graph.nodes[number].edges)
            if edge.number is not None
        ]
        below = depth + (len(edges) > 1)  # a chain is not indented
        for at, to in reversed(edges):
            waiting.append((to, below, _via(graph.sources[number], at)))
    yield from _order_lines(graph)
    yield f"values: torch {clean(graph.torch_version)}"
    yield f"source: {version_words(graph.source)}"


def _via(source: NodeSource, at: int) -> str:
    """The input that an edge belongs to."""
    return f"{source.formulas[at][0]} <- " if source.formulas else ""


def _node_lines(graph: LinkedGraph, number: int, depth: int, via: str) -> Iterator[str]:
    node, source = graph.nodes[number], graph.sources[number]
    indent = "  " * depth
    sequence = "" if node.sequence is None else f" seq {node.sequence}"
    variable = f" {node.variable}" if node.variable else ""
    gradients = f" gets {', '.join(node.gradients)}" if node.gradients else ""
    yield clean(f"{indent}{via}#{number} {node.name}{variable}{sequence}{gradients}")
    for text in _about(node, source):
        yield clean(f"{indent}    {text}")
    for name, formula in dict(source.formulas).items():
        if formula is not None:
            yield clean(f"{indent}    {name}: {formula.text}  {formula.location}")
    for one in node.saved:
        same = f", which is {one.is_variable}" if one.is_variable else ""
        yield clean(f"{indent}    keeps {one.name} = {one.value}{same}")


def _about(node: GraphNode, source: NodeSource) -> Iterator[str]:
    """A node's entry or class, Function, and line of the program."""
    if source.entry is not None:
        yield f"{source.entry.op}  {source.entry.location}"
    elif source.definition is not None:
        yield f"{source.definition.qualified}  {source.definition.location}"
    elif node.code is None:
        yield "no entry in derivatives.yaml and no class in C++ has this name"
    if node.code is not None:
        yield f"the program's backward  {node.code[0]}:{node.code[1]}"
    if node.called_at is not None:
        yield f"called at {node.called_at[0]}:{node.called_at[1]}"
    yield from (f"hook {hook}" for hook in node.hooks)


def _order_lines(graph: LinkedGraph) -> Iterator[str]:
    if not graph.order:
        return
    yield ""
    yield "order in which they ran"
    for at, number in enumerate(graph.order, 1):
        why = (graph.why or {}).get(number, "")
        yield clean(f"{at:>5}  #{number} {graph.nodes[number].name}{f'  {why}' if why else ''}")
    yield from wrap(graph.note, "")


def chains(graph: Sequence[GraphNode], variable: str) -> list[tuple[tuple[int, int], ...]]:
    """Paths from the loss to a variable, not all: each step as node and edge index."""
    leading = _leading(graph, variable)
    found: list[tuple[tuple[int, int], ...]] = []
    waiting: list[tuple[int, tuple[tuple[int, int], ...]]] = [(0, ())] if 0 in leading else []
    while waiting and len(found) < _MOST_WAYS:
        number, way = waiting.pop()
        if graph[number].variable == variable:
            found.append(way)
        for at, edge in enumerate(graph[number].edges):
            if edge.number is not None and edge.number in leading:
                waiting.append((edge.number, (*way, (number, at))))
    return found


def _leading(graph: Sequence[GraphNode], variable: str) -> set[int | None]:
    """The nodes with a path to a variable."""
    above = grouped((edge.number, node.number) for node in graph for edge in node.edges)
    found: set[int | None] = set()
    waiting: list[int | None] = [one.number for one in graph if one.variable == variable]
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting += above.get(number, ())
    return found


def chain_lines(graph: LinkedGraph, variable: str) -> Iterator[str]:
    """The chain rule for one variable: each path from the loss, factor by factor."""
    found = chains(graph.nodes, variable)
    many = "the first of a great many paths" if len(found) == _MOST_WAYS else f"{len(found)} paths"
    summed = f": the sum over {many}" if len(found) > 1 else ""
    yield clean(f"gradient of {variable}{summed}" if found else f"no path leads to {variable}")
    for way in found:
        yield ""
        for number, at in way:
            yield from _factor(graph, number, at)


def _factor(graph: LinkedGraph, number: int, at: int) -> Iterator[str]:
    node, source = graph.nodes[number], graph.sources[number]
    to = node.edges[at].number
    after = graph.nodes[to].gradients if to is not None else ()
    shapes = f"{', '.join(node.gradients)} -> {', '.join(after) or '?'}"
    formula = source.formulas[at][1] if source.formulas else None
    text = f"{source.formulas[at][0]}: {formula.text}  {formula.location}" if formula else ""
    yield clean(f"  #{number} {node.name}  {shapes}")
    yield from ([clean(f"      {text}")] if text else [])


def check_lines(found: NumericCheck) -> Iterator[str]:
    """Both directional derivatives, and whether they agree."""
    text = "they agree" if found.agrees else "THEY DIFFER"
    yield ""
    yield clean(f"checked along a random direction of length 1 from {found.variable}: {text}")
    yield f"  by the graph               {found.by_graph:.6g}"
    yield f"  by differences of the loss {found.by_difference:.6g}  (step {found.step:.2g})"


def dot_lines(graph: LinkedGraph) -> Iterator[str]:
    """Nodes with their source, edges with their input."""
    yield "digraph backward {"
    yield "  node [shape=box, fontname=monospace];"
    for node, source in zip(graph.nodes, graph.sources, strict=True):
        words = [node.name, node.variable, source.entry.op if source.entry else ""]
        if node.called_at:
            words.append(f"{node.called_at[0].rpartition('/')[2]}:{node.called_at[1]}")
        yield f"  n{node.number} [label={_quoted(*filter(None, words))}];"
    for node, source in zip(graph.nodes, graph.sources, strict=True):
        for at, edge in enumerate(node.edges):
            if edge.number is not None:
                label = source.formulas[at][0] if source.formulas else ""
                yield f"  n{node.number} -> n{edge.number} [label={_quoted(label)}];"
    yield "}"


def _quoted(*words: str) -> str:
    escaped = (clean(word).replace("\\", "\\\\").replace('"', '\\"') for word in words)
    return '"' + "\\n".join(escaped) + '"'
