"""Texts about torch.compile for a row."""

from __future__ import annotations

from collections.abc import Iterator

from navigator.trace.compiling.graphs import graph_of, is_from_log, kernel_of
from navigator.trace.compiling.model import Graph
from navigator.trace.link import Linker
from navigator.trace.table import Table


def compiled_words(table: Table, row: int, linker: Linker) -> Iterator[str]:
    """The graph and kernel of a row; for an operator of a graph also Inductor's treatment of it."""
    graph = graph_of(table, row)
    if graph is None:
        return
    kernel = kernel_of(table, row)
    if not is_from_log(table, row):
        yield f"runs {_of_graph(graph)}" + (f", kernel {kernel.name}" if kernel else "")
    elif row == graph.row:
        yield f"generated code: {graph.path or 'not recorded'}"
    elif kernel is not None and row != kernel.row:
        yield f"computed by {kernel.name} of {_of_graph(graph)}"
        yield from _inductor(linker, table, row)


def _of_graph(graph: Graph) -> str:
    place = f" {graph.frame.location}" if graph.frame else ""
    count = len(graph.kernels)
    return f"graph {graph.name or 'of Inductor'}{place} ({count} kernel{'s' * (count != 1)})"


def _inductor(linker: Linker, table: Table, row: int) -> Iterator[str]:
    places = linker.compiler_places(linker.link(table.op(row)).full_name)
    if places is not None and places["path"]:
        note = f", {places['note']}" if places["note"] else ""
        yield f"Inductor: {places['status']} {places['path']}:{places['line']}{note}"
