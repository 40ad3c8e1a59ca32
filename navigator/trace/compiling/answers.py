"""Facts about compiled programs as JSON."""

from __future__ import annotations

from indexes.model.errors import TorchnavError
from indexes.queries.index import Index
from indexes.serialize.answers import Object
from navigator.trace.compiling.graphs import graph_of, is_from_log, kernel_named, kernel_of
from navigator.trace.compiling.model import Graph, Kernel
from navigator.trace.table import OP, Table


def compiled_row(table: Table, row: int) -> Object | None:
    """The graph and kernel of a row, or None."""
    if row in table.compilations:
        return {"role": "compilation", "compilation": table.compilations[row] or None}
    graph = graph_of(table, row)
    if graph is None:
        return None
    if graph.row == row:
        return _graph(table, graph)
    kernel = kernel_of(table, row)
    if kernel is not None and kernel.row == row:
        return _kernel(table, graph, kernel)
    role = "operator" if is_from_log(table, row) else "run"
    return {"role": role, "graph_id": graph.row, "kernel_id": kernel.row if kernel else None}


def kernel_row_of(table: Table, op: int | None, name: str) -> int | None:
    """The row of the generated kernel with this name that an operator or region of a compiled graph
    ran on a device."""
    graph = graph_of(table, op) if op is not None else None
    kernel = kernel_named(graph, name) if graph else None
    return kernel.row if kernel else None


def _graph(table: Table, graph: Graph) -> Object:
    return {
        "role": "graph",
        "compilation": table.compilation_of[graph.row],
        "graph": graph.name or None,
        "backward": graph.is_backward,
        "code": graph.path or None,
        "kernel_ids": [kernel.row for kernel in graph.kernels.values()],
    }


def _kernel(table: Table, graph: Graph, kernel: Kernel) -> Object:
    """A kernel with its operators and the user's lines they come from."""
    fed = graph.fed_by(kernel)
    lines: list[Object] = [
        {"path": frame.location.path, "line": frame.location.line, "function": frame.function}
        for frame in (fed or kernel).frames
    ]
    return {
        "role": "kernel",
        "graph_id": graph.row,
        "kernel": kernel.name,
        "lines": lines,
        "operator_ids": [child for child in table.children(kernel.row) if table.kind[child] == OP],
        "told": kernel.nodes is not None,
        "made_for": fed.row if fed else None,
    }


def compiler_places(index: Index, full_name: str) -> Object | None:
    """Inductor's lowering and the decompositions of an operator; None if it is unknown."""
    try:
        around = index.surroundings(full_name)
    except TorchnavError:
        return None
    inductor = around.inductor
    place = inductor.location
    return {
        "status": inductor.status,
        "path": place.path if place else None,
        "line": place.line if place else None,
        "table": inductor.table or None,
        "note": inductor.note or None,
        "decompositions": [
            {"name": one.name, "path": one.location.path, "line": one.location.line}
            for one in around.decompositions
        ],
    }
