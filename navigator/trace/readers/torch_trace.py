"""``TORCH_TRACE`` logs: what torch.compile made of each function, each operator with its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from indexes.source.files import read_text
from navigator.trace.model import StackFrame
from navigator.trace.readers.compile_log import (
    Compilation,
    CompileLog,
    Graph,
    Kernel,
    Node,
    kernels_of_nodes,
)
from navigator.trace.readers.ranked import Item, build
from navigator.trace.table import ANNOTATION, NONE, OP, Stack
from navigator.trace.trace import BadTrace, Trace, Watch

LOG = "TORCH_TRACE"
"""The name of the format."""
_LARGEST = 1 << 30


_ENTRY = re.compile(rb"^[VIWE]\d{4} [\d:.]+ \d+ \S+\] \{", re.MULTILINE)


def recognises(path: Path, head: bytes) -> bool:
    return path.is_dir() or _ENTRY.search(head) is not None or path.suffix == ".log"


def read(path: Path, _watch: Watch) -> Trace:
    """Read a log, or all logs of a folder. Raises BadTrace if there is none."""
    logs = sorted(path.glob("*.log")) if path.is_dir() else [path]
    if not logs:
        ranks = any(path.glob("*.json*"))
        hint = f"; for the traces of many ranks: torchnav ranks {path}" if ranks else ""
        raise BadTrace(f"{path} holds no log of TORCH_TRACE{hint}")
    trace = Trace()
    meta = trace.meta
    meta.path, meta.format, meta.complete, meta.overloads = str(path), LOG, True, True
    rows = _Rows(trace)
    for log in logs:
        told = CompileLog()
        told.read(_lines(log))
        meta.torch, meta.torch_git = told.torch or meta.torch, told.commit or meta.torch_git
        for one in told.compilations.values():
            rows.add(one)
    if not rows.has_graph:
        meta.problems.append("the log holds no graph: nothing was compiled, or not to its end")
    meta.lacks.append(
        "times and inputs: a log of the compiler holds what was compiled, not what ran"
    )
    if rows.is_silent:
        meta.lacks.append(
            "which kernel computes some operators; with INDUCTOR_PROVENANCE=1 a log tells more"
        )
    build(trace, rows.items)
    return trace


def _lines(log: Path) -> Iterator[str]:
    try:
        return iter(read_text(log, _LARGEST).split("\n"))
    except OSError as error:
        raise BadTrace(f"cannot read {log}: {error.strerror}") from error


class _Rows:
    """Compilations as rows: what the compiler says, then its graphs, their kernels in them."""

    def __init__(self, trace: Trace) -> None:
        self.items: list[Item] = []
        self.has_graph = False
        self.is_silent = False
        """Whether the log leaves open which kernel computes a node."""
        self._stacks = trace.table.stacks

    def add(self, one: Compilation) -> None:
        function = one.function or (one.frame.function if one.frame else "")
        top = self._row(f"compile {function or 'a function'} [{one.id}]", one.frame)
        for note in one.notes:
            self._row(note.text, note.frame, top)
        if one.guards:
            guards = self._row(f"guards: {len(one.guards)}", None, top)
            for guard in one.guards:
                self._row(guard.text, None, guards)
        for graph in one.kept_graphs():
            self._add_graph(graph, top)

    def _add_graph(self, graph: Graph, top: int) -> None:
        """A graph: each node under the kernel that computes it; what needs none, or may be of
        several, after them."""
        self.has_graph = True
        backward = graph.is_backward
        parent = self._row(f"graph {graph.name or 'of Inductor'}", None, top, backward)
        kernels = kernels_of_nodes(graph)
        for handle, kernel in graph.kernels.items():
            frame = kernel.frames[0] if kernel.frames else None
            row = self._row(f"kernel {kernel.name}{_sureness(kernel)}", frame, parent, backward)
            self._add_nodes(graph, (handle,), kernels, row)
        self.is_silent |= graph.has_code and not graph.kernels
        groups = dict.fromkeys(kernels.get(node.name, ()) for node in graph.nodes)
        for group in groups:
            if len(group) > 1:
                names = ", ".join(graph.kernels[handle].name for handle in group)
                row = self._row(f"one of {names}", None, parent, backward)
                self._add_nodes(graph, group, kernels, row)
                self.is_silent = True
        self._add_nodes(graph, (), kernels, parent)

    def _add_nodes(
        self, graph: Graph, group: tuple[str, ...], kernels: dict[str, tuple[str, ...]], parent: int
    ) -> None:
        for node in graph.nodes:
            if kernels.get(node.name, ()) == group:
                self.items.append(self._operator(node, parent, graph.is_backward))

    def _operator(self, node: Node, parent: int, backward: bool) -> Item:
        item = Item(OP, node.operator, node.overload, parent, stack=self._stack(node.frame))
        item.output, item.place, item.is_backward = node.type, _place(node.type), backward
        return item

    def _row(
        self, name: str, frame: StackFrame | None, parent: int = NONE, backward: bool = False
    ) -> int:
        stack = self._stack(frame)
        row = Item(ANNOTATION, name, parent=parent, stack=stack, is_backward=backward)
        self.items.append(row)
        return len(self.items) - 1

    def _stack(self, frame: StackFrame | None) -> int:
        if frame is None:
            return NONE
        self._stacks.append(Stack((frame,), 0))
        return len(self._stacks) - 1


def _sureness(kernel: Kernel) -> str:
    """How its operators were found, where the log does not tell them."""
    if kernel.nodes is not None:
        return ""
    return " (operator by its name)" if "." in kernel.name else " (operators by their line)"


def _place(kind: str) -> str:
    """``cuda:0`` of ``f32[2, 4][4, 1]cuda:0``."""
    device = kind.rpartition("]")[2]
    return device if device and device != "cpu" else ""
