"""What is known of a compiled program, as JSON: of rows of graphs, and of those that ran them."""

from __future__ import annotations

from indexes.model.errors import TorchnavError
from indexes.queries.index import Index
from indexes.serialize.answers import Object
from navigator.trace.compiling.graphs import graph_of, is_from_log, kernel_named, kernel_of
from navigator.trace.compiling.model import Graph, Kernel
from navigator.trace.table import OP, Table


def compiled_row(table: Table, row: int) -> Object | None:
    """What torch.compile has to do with a row; None where that is nothing."""
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
    """The row of the generated kernel that a device ran under this name, for an operator or region
    of a compiled graph."""
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
    """A kernel with the user's lines that it comes from, and its operators."""
    fed = graph.fed_by(kernel)
    lines: list[Object] = [
        {"path": one.location.path, "line": one.location.line, "function": one.function}
        for one in (fed or kernel).frames
    ]
    return {
        "role": "kernel",
        "graph_id": graph.row,
        "kernel": kernel.name,
        "lines": lines,
        "operator_ids": [one for one in table.children(kernel.row) if table.kind[one] == OP],
        "told": kernel.nodes is not None,
        "made_for": fed.row if fed else None,
    }


def compiler_places(index: Index, full_name: str) -> Object | None:
    """What Inductor does with an operator, and its decompositions; None where there is no such
    operator in the tree."""
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
