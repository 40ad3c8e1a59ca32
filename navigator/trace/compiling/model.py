"""Results of torch.compile: graphs, their operators, the generated kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from navigator.trace.model import StackFrame

NO_ROW = -1
"""The row of anything that is not in the table yet."""


@dataclass(frozen=True, slots=True)
class Node:
    """An operator of a graph."""

    name: str
    """Name of its result in the graph: ``mul_1``."""
    operator: str
    """``aten::mul``"""
    overload: str
    type: str
    """``f32[2, 4][4, 1]cuda:0``"""
    frame: StackFrame | None
    """The user's line that it comes from."""


@dataclass(slots=True)
class Kernel:
    """A generated kernel of a graph, or a call of a library function."""

    name: str
    frames: tuple[StackFrame, ...] = ()
    """The user's lines."""
    nodes: tuple[str, ...] | None = None
    """The nodes that it computes; None if the log does not say."""
    feeds: str = ""
    """The handle of the next kernel that takes a buffer written by this one."""
    row: int = NO_ROW


@dataclass(slots=True)
class Graph:
    """A graph of operators in the compiler's last version."""

    name: str
    """``0_forward``, as in the generated code, or the kind of the log entry."""
    nodes: list[Node] = field(default_factory=list)
    kernels: dict[str, Kernel] = field(default_factory=dict)
    """By handle, ``cpp_fused_add_0:1``, in execution order."""
    is_lowered: bool = False
    """Whether it is Inductor's, after its last passes."""
    has_code: bool = False
    path: str = ""
    """The generated module."""
    row: int = NO_ROW

    @property
    def is_backward(self) -> bool:
        return "backward" in self.name

    def fed_by(self, kernel: Kernel) -> Kernel | None:
        """The kernel whose input ``kernel`` only copies into its layout; None for others, and if
        the log does not say what kernels compute."""
        computes = any(node.name in (kernel.nodes or ()) for node in self.nodes)
        if computes or kernel.frames or not self.has_provenance:
            return None
        return self.kernels.get(kernel.feeds)

    @property
    def has_provenance(self) -> bool:
        """Whether the log says of any kernel what it computes."""
        return any(one.nodes is not None or one.frames for one in self.kernels.values())

    @property
    def frame(self) -> StackFrame | None:
        """The user's line of its first operator."""
        return next((node.frame for node in self.nodes if node.frame), None)


@dataclass(frozen=True, slots=True)
class Note:
    """A message of the compiler, and the line that it concerns."""

    text: str
    frame: StackFrame | None = None
    kind: Literal["break", "recompile", "failure", "guard"] = "guard"


@dataclass(slots=True)
class Compilation:
    """One compilation of a function or of a part of it."""

    id: str
    """``0/1``: the second compilation of the first function."""
    function: str = ""
    frame: StackFrame | None = None
    notes: list[Note] = field(default_factory=list)
    """Graph breaks, reasons for recompilations, failures."""
    guards: list[Note] = field(default_factory=list)
    graphs: list[Graph] = field(default_factory=list)
    noted: int = 0
    """Number of notes that have rows."""
    noted_guards: bool = False

    @property
    def title(self) -> str:
        function = self.function or (self.frame.function if self.frame else "")
        return f"compile {function or 'a function'} [{self.id}]"

    def kept_graphs(self) -> Iterator[Graph]:
        """All graphs, except pre-Inductor ones whose final version exists."""
        lowered = {graph.is_backward for graph in self.graphs if graph.is_lowered}
        for graph in self.graphs:
            if graph.is_lowered or graph.is_backward not in lowered:
                yield graph


def compilation_facts(one: Compilation) -> dict[str, Any]:
    """A compilation for export, without row numbers, which readers assign anew."""
    graphs = [replace(graph, row=NO_ROW, kernels=_without_rows(graph)) for graph in one.graphs]
    return asdict(replace(one, noted=0, noted_guards=False, graphs=graphs))


def _without_rows(graph: Graph) -> dict[str, Kernel]:
    return {handle: replace(kernel, row=NO_ROW) for handle, kernel in graph.kernels.items()}


# ------------------------------------------------------------ which kernel computes a node


def kernels_of_nodes(graph: Graph) -> dict[str, tuple[str, ...]]:
    """The handles of the kernels that may compute each node of a graph: one if the log says so, or
    if only one comes from that user's line; none for nodes without a kernel, such as views.

    The calls of a library function (``extern_kernels.mm``) compute the nodes of that name, if there
    are as many.
    """
    logged: dict[str, tuple[str, ...]] = {}
    for handle, kernel in graph.kernels.items():
        logged |= dict.fromkeys(kernel.nodes or (), (handle,))
    logged = _of_libraries(graph, logged) | logged
    known = {handle for handles in logged.values() for handle in handles}
    silent = {handle: one for handle, one in graph.kernels.items() if handle not in known}
    for node in graph.nodes:
        of_line = tuple(handle for handle, one in silent.items() if node.frame in one.frames)
        if of_line:
            logged.setdefault(node.name, of_line)
    return logged


def _of_libraries(
    graph: Graph, logged: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    calls: dict[str, list[str]] = {}
    for handle, kernel in graph.kernels.items():
        space, _, name = kernel.name.rpartition(".")
        if space and (handle,) not in logged.values():
            calls.setdefault(name, []).append(handle)
    nodes: dict[str, list[str]] = {}
    for node in graph.nodes:
        if node.name not in logged:
            nodes.setdefault(node.operator.rpartition("::")[2], []).append(node.name)
    return {
        node: tuple(handles)
        for name, handles in calls.items()
        if len(nodes.get(name, ())) == len(handles)
        for node in nodes[name]
    }
