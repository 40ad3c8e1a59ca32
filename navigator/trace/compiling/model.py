"""What torch.compile made of a function: its graphs, their operators, the generated kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from navigator.trace.model import StackFrame

NO_ROW = -1
"""Of what has no row in the table yet."""


@dataclass(frozen=True, slots=True)
class Node:
    """An operator of a graph."""

    name: str
    """Of its result in the graph: ``mul_1``."""
    operator: str
    """``aten::mul``"""
    overload: str
    type: str
    """``f32[2, 4][4, 1]cuda:0``"""
    frame: StackFrame | None
    """The user's line that it comes from."""


@dataclass(slots=True)
class Kernel:
    """A generated kernel, or a call of a library's, of one graph."""

    name: str
    frames: tuple[StackFrame, ...] = ()
    """The user's lines."""
    nodes: tuple[str, ...] | None = None
    """The nodes it computes; None where the log does not tell."""
    feeds: str = ""
    """The handle of the next kernel that is given a buffer which this one writes."""
    row: int = NO_ROW


@dataclass(slots=True)
class Graph:
    """A graph of operators, as the compiler left it."""

    name: str
    """``0_forward``, as the generated code calls it, or the kind of the entry."""
    nodes: list[Node] = field(default_factory=list)
    kernels: dict[str, Kernel] = field(default_factory=dict)
    """By their handles, ``cpp_fused_add_0:1``, in the order in which they run."""
    is_lowered: bool = False
    """Whether it is Inductor's, after its last passes."""
    has_code: bool = False
    path: str = ""
    """The module that was generated."""
    row: int = NO_ROW

    @property
    def is_backward(self) -> bool:
        return "backward" in self.name

    def fed_by(self, kernel: Kernel) -> Kernel | None:
        """The kernel that another, of no operator of the graph, is made for: it copies what that
        one reads into the layout that it wants. None for a kernel of operators of its own."""
        computes = any(node.name in (kernel.nodes or ()) for node in self.nodes)
        return None if computes or kernel.frames else self.kernels.get(kernel.feeds)

    @property
    def frame(self) -> StackFrame | None:
        """The user's line that its first operator comes from."""
        return next((node.frame for node in self.nodes if node.frame), None)


@dataclass(frozen=True, slots=True)
class Note:
    """Something that the compiler says, and the line that it says it of."""

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
    """Graph breaks, reasons to compile anew, failures."""
    guards: list[Note] = field(default_factory=list)
    graphs: list[Graph] = field(default_factory=list)
    noted: int = 0
    """How many of the notes have rows."""
    noted_guards: bool = False

    @property
    def title(self) -> str:
        function = self.function or (self.frame.function if self.frame else "")
        return f"compile {function or 'a function'} [{self.id}]"

    def kept_graphs(self) -> Iterator[Graph]:
        """All but those before Inductor where the same is there after its passes."""
        lowered = {graph.is_backward for graph in self.graphs if graph.is_lowered}
        for graph in self.graphs:
            if graph.is_lowered or graph.is_backward not in lowered:
                yield graph


def compilation_facts(one: Compilation) -> dict[str, Any]:
    """A compilation for a file that is read again: without its rows, which it will get anew."""
    graphs = [replace(graph, row=NO_ROW, kernels=_without_rows(graph)) for graph in one.graphs]
    return asdict(replace(one, noted=0, noted_guards=False, graphs=graphs))


def _without_rows(graph: Graph) -> dict[str, Kernel]:
    return {handle: replace(kernel, row=NO_ROW) for handle, kernel in graph.kernels.items()}


# ------------------------------------------------------------ which kernel computes a node


def kernels_of_nodes(graph: Graph) -> dict[str, tuple[str, ...]]:
    """The handles of the kernels that may compute each node of a graph: one where the log tells,
    or where only one is of that user's line; none for what needs no kernel, as views.

    A call of a library's function (``extern_kernels.mm``) computes the only node of that name.
    """
    told: dict[str, tuple[str, ...]] = {}
    for handle, kernel in graph.kernels.items():
        told |= dict.fromkeys(kernel.nodes or _of_library(kernel, graph), (handle,))
    silent = {
        handle: one for handle, one in graph.kernels.items() if (handle,) not in told.values()
    }
    for node in graph.nodes:
        of_line = tuple(handle for handle, one in silent.items() if node.frame in one.frames)
        if of_line:
            told.setdefault(node.name, of_line)
    return told


def _of_library(kernel: Kernel, graph: Graph) -> Sequence[str]:
    """The one node of the name of a library's function, if there is just one."""
    space, _, name = kernel.name.rpartition(".")
    same = [node.name for node in graph.nodes if node.operator.rpartition("::")[2] == name]
    return same if space and len(same) == 1 else ()
