"""A live backward graph with the lines of PyTorch and of the program behind it."""

from __future__ import annotations

import inspect
import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from indexes.model.vocabulary import SourceInfo
from indexes.queries.index import Index
from indexes.queries.node_formulas import NodeSource, node_source
from indexes.serialize.answers import envelope, to_object
from indexes.source.source import Source
from navigator.explanation import place_json
from navigator.objects.backward_order import reasons, recorded_order
from navigator.objects.graph import Edge, GraphNode, Saved, read_graph, variables


@dataclass(frozen=True, slots=True)
class LinkedGraph:
    """The graph of a backward pass, each node with what it comes from."""

    nodes: tuple[GraphNode, ...]
    sources: tuple[NodeSource, ...]
    """Of each node, by its number."""
    torch_version: str
    source: SourceInfo
    order: tuple[int, ...] = ()
    """The numbers of the nodes as they ran; empty where they did not."""
    why: Mapping[int, str] | None = None
    """Why each came next; nothing where the engine's rule gives another order than ran."""
    note: str = ""

    def __str__(self) -> str:
        from navigator.text.graphs import graph_lines

        return "\n".join(graph_lines(self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks."""
        from navigator.text.html import linked_text

        return linked_text(str(self), self.source)

    def dot(self) -> str:
        """The graph in Graphviz' language."""
        from navigator.text.graphs import dot_lines

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
        """All of it as one line of JSON, by the contract in docs/json.md."""
        order = {number: at for at, number in enumerate(self.order)}
        nodes = [
            _node_json(node, source, order.get(node.number), (self.why or {}).get(node.number))
            for node, source in zip(self.nodes, self.sources, strict=True)
        ]
        return json.dumps(
            envelope(self.source, torch=self.torch_version, note=self.note, nodes=nodes)
        )


def linked(
    tensor: torch.Tensor,
    names: Mapping[str, torch.Tensor],
    lines: Mapping[Any, tuple[str, int]] | None = None,
    *,
    tree: str | None = None,
    run: bool = False,
) -> LinkedGraph:
    """The graph behind a tensor, joined with an index, which is built where there is none.

    Parameters:
        names: Variables of the program by name.
        lines: The line that made each node, as ``graph.Lines`` notes them.
        tree: A checkout of PyTorch; without it the best source that is there.
        run: Run the backward pass once for the order in which the nodes run; ``.grad`` is as
            before, hooks of the program run.

    Raises:
        ValueError: The tensor has no ``grad_fn``.
        SourceError: There is no source.
    """
    found = read_graph(tensor, names, lines)
    index = Index.open(Source.find(tree))
    sources = tuple(node_source(index, one.name, len(one.edges)) for one in found.nodes)
    order, note = recorded_order(tensor, found) if run else ((), "")
    why = reasons(found, order) if order else {}
    return LinkedGraph(found.nodes, sources, torch.__version__, index.info, order, why, note)


def graph(tensor: torch.Tensor, tree: str | None = None, *, run: bool = False) -> LinkedGraph:
    """``navigator.graph(loss)``: as ``linked``, with the variables of whoever calls it by name.

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


def _node_json(
    node: GraphNode, source: NodeSource, ran: int | None, why: str | None
) -> dict[str, Any]:
    entry, definition = source.entry, source.definition
    found = source.formulas or ((None, None),) * len(node.edges)
    edges = [_edge_json(edge, *one) for edge, one in zip(node.edges, found, strict=True)]
    return {
        "number": node.number,
        "name": node.name,
        "sequence": node.sequence,
        "variable": node.variable,
        "entry": to_object(entry, "op path line") if entry else None,
        "definition": to_object(definition, "name path line") if definition else None,
        "operators": [*source.operators],
        "code": place_json(node.code),
        "called_at": place_json(node.called_at),
        "gradients": [*node.gradients],
        "saved": [_saved_json(one) for one in node.saved],
        "hooks": [*node.hooks],
        "edges": edges,
        "ran": ran,
        "why": why,
    }


def _saved_json(one: Saved) -> dict[str, Any]:
    return {"name": one.name, "value": one.value, "is_variable": one.is_variable}


def _edge_json(edge: Edge, argument: str | None, formula: Any) -> dict[str, Any]:
    told = to_object(formula, "text path line") if formula else None
    return {"to": edge.number, "input_nr": edge.input_nr, "input": argument, "formula": told}
