"""Which graph of torch.compile a row of a trace ran, and which of its generated kernels."""

from __future__ import annotations

from navigator.trace.compiling.model import Graph, Kernel
from navigator.trace.table import ENGINE, NODE, Table

_REGION = "Torch-Compiled Region: "
"""How torch/_dynamo/convert_frame.py names a run of what it compiled, before its number."""
_BACKWARD = "CompiledFunctionBackward"
"""The Node of torch/_functorch/_aot_autograd whose formula is a compiled backward graph."""


def region_number(table: Table, row: int) -> str:
    """``0/1`` of a row that is a run of a compiled function; empty for another."""
    name = table.name_of(row)
    return name.removeprefix(_REGION).strip() if name.startswith(_REGION) else ""


def graph_of(table: Table, row: int) -> Graph | None:
    """The graph that a row runs or is a part of; None outside of compiled functions, and where
    several graphs of one compilation may be meant."""
    if not table.graphs:
        return None
    backward = False
    while row >= 0:
        if row in table.graphs:
            return table.graphs[row]
        if number := region_number(table, row):
            rows = table.graphs_of.get((number, backward), [])
            return table.graphs[rows[0]] if len(rows) == 1 else None
        if table.kind[row] in (NODE, ENGINE) and table.name_of(row).endswith(_BACKWARD):
            backward, row = True, table.forward.get(row, -1)
        elif row in table.compilations:
            return None
        else:
            row = table.parent[row]
    return None


def kernel_of(table: Table, row: int) -> Kernel | None:
    """The generated kernel that a row runs, by its name, or that it is a part of."""
    graph = graph_of(table, row)
    if graph is None:
        return None
    rows = (row, table.parent[row])
    inside = [kernel for kernel in graph.kernels.values() if kernel.row in rows]
    return inside[0] if inside else kernel_named(graph, table.name_of(row))


def kernel_named(graph: Graph, name: str) -> Kernel | None:
    """The generated kernel of this name, be it with the number of its graph in front, as
    Inductor's C++ kernels are timed; None where several have it."""
    found = [one for one in graph.kernels.values() if name == one.name or _is_timed(one, name)]
    return found[0] if len(found) == 1 else None


def _is_timed(kernel: Kernel, name: str) -> bool:
    """``graph_0_cpp_fused_gelu_1`` for ``cpp_fused_gelu_1``"""
    head, _, rest = name.removeprefix("graph_").partition("_")
    return name.startswith("graph_") and head.isdigit() and rest == kernel.name
