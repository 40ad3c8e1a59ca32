"""Maps rows of a trace to the graphs and generated kernels of torch.compile that they ran."""

from __future__ import annotations

from collections.abc import Iterator

from navigator.trace.compiling.model import Graph, Kernel
from navigator.trace.table import ENGINE, NODE, OP, Table

_REGION = "Torch-Compiled Region: "
"""How torch/_dynamo/convert_frame.py names runs of compiled code, before the number."""
_BACKWARD = "CompiledFunctionBackward"
"""The Node of torch/_functorch/_aot_autograd whose formula is a compiled backward graph."""


def is_region(name: str) -> bool:
    """Whether a name is that of a run of a compiled function."""
    return name.startswith(_REGION)


def region_number(table: Table, row: int) -> str:
    """``0/1`` for a run of a compiled function; empty for another row."""
    name = table.name_of(row)
    return name.removeprefix(_REGION).strip() if is_region(name) else ""


def graph_of(table: Table, row: int) -> Graph | None:
    """The graph that a row runs or belongs to. None outside of compiled functions, and if several
    graphs of one compilation are possible."""
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


def is_from_log(table: Table, row: int) -> bool:
    """Whether a row is from the compiler's log (graph, kernel, operator): it did not run."""
    for _ in range(3):  # operator, kernel, graph
        if row in table.graphs:
            return True
        row = table.parent[row] if row >= 0 else row
    return False


def compiled_from(table: Table, row: int) -> int | None:
    """The log's row for the kernel or, failing that, the graph that a row ran; None for neither."""
    if is_from_log(table, row):
        return None
    compiled = kernel_of(table, row) or graph_of(table, row)
    return compiled.row if compiled else None


def kernel_of(table: Table, row: int) -> Kernel | None:
    """The kernel that a row runs, by name, or belongs to."""
    graph = graph_of(table, row)
    if graph is None:
        return None
    if is_from_log(table, row):
        rows = (row, table.parent[row])
        return next((kernel for kernel in graph.kernels.values() if kernel.row in rows), None)
    return kernel_named(graph, table.name_of(row)) or _library_kernel(table, row, graph)


def _library_kernel(table: Table, row: int, graph: Graph) -> Kernel | None:
    """The call of a library function, ``extern_kernels.mm``, that an operator is. Calls of one name
    are matched in order, if as many ran as the graph has."""
    name = table.name_of(row).rpartition("::")[2]
    kernels = [kernel for kernel in graph.kernels.values() if kernel.name.endswith(f".{name}")]
    if table.kind[row] != OP or not kernels:
        return None
    run = _enclosing_run(table, row)
    ran = [one for one in _outermost(table, run) if table.name[one] == table.name[row]]
    return kernels[ran.index(row)] if row in ran and len(ran) == len(kernels) else None


def _enclosing_run(table: Table, row: int) -> int:
    """The run of the graph around an operator: the region, or the backward's Node."""
    while table.parent[row] >= 0 and table.kind[row] != NODE and not region_number(table, row):
        row = table.parent[row]
    return row


def _outermost(table: Table, run: int) -> Iterator[int]:
    """The operators of a run without those that they call, by time."""
    for row in table.children(run):
        if table.kind[row] == OP:
            yield row
        elif not region_number(table, row):
            yield from _outermost(table, row)


def kernel_named(graph: Graph, name: str) -> Kernel | None:
    """The generated kernel with this name, which may have the graph's number in front, as timings
    of Inductor's C++ kernels do; None if several match."""
    found = [one for one in graph.kernels.values() if name == one.name or _is_timed(one, name)]
    return found[0] if len(found) == 1 else None


def _is_timed(kernel: Kernel, name: str) -> bool:
    """``graph_0_cpp_fused_gelu_1`` for ``cpp_fused_gelu_1``"""
    head, _, rest = name.removeprefix("graph_").partition("_")
    return name.startswith("graph_") and head.isdecimal() and rest == kernel.name
