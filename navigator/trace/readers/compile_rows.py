"""Rows for results of torch.compile: compilations, graphs, kernels, operators, messages."""

from __future__ import annotations

from navigator.trace.building.builder import Builder
from navigator.trace.columns import NONE
from navigator.trace.compiling.graphs import is_region, region_number
from navigator.trace.compiling.model import (
    NO_ROW,
    Compilation,
    Graph,
    Kernel,
    Node,
    kernels_of_nodes,
)
from navigator.trace.model import StackFrame
from navigator.trace.readers.compile_log import CompileLog
from navigator.trace.readers.ranked import Item
from navigator.trace.table import ANNOTATION, COMPILE, OP, REGION, Stack, Table


class CompilationRows:
    """Compilations as rows: messages, then graphs with their kernels.

    Parameters:
        first: The row of the first item.
    """

    def __init__(self, stacks: list[Stack], first: int = 0) -> None:
        self.items: list[Item] = []
        self.has_graph = False
        self.is_silent = False
        """Whether the log does not say which kernel computes a node."""
        self.has_provenance = False
        """Whether it says of any kernel what it computes."""
        self._stacks = stacks
        self._first = first

    def add(self, compilation: Compilation) -> None:
        """Add everything about a compilation below a row of its own."""
        self.add_logged(compilation, self._row(compilation.title, compilation.frame))

    def add_logged(self, one: Compilation, top: int = NONE) -> None:
        """Add what has no rows yet of a compilation."""
        for note in one.notes[one.noted :]:
            self._row(note.text, note.frame, top)
        if one.guards and not one.noted_guards:
            guards = self._row(f"guards: {len(one.guards)}", None, top)
            for guard in one.guards:
                self._row(guard.text, None, guards)
        one.noted, one.noted_guards = len(one.notes), bool(one.guards)
        for graph in one.kept_graphs():
            if graph.row == NO_ROW:
                self._add_graph(graph, top)

    def _add_graph(self, graph: Graph, top: int) -> None:
        """A graph: each node under its kernel, then nodes without a certain one."""
        self.has_graph = True
        backward = graph.is_backward
        parent = self._row(f"graph {graph.name or 'of Inductor'}", graph.frame, top, backward)
        graph.row = self._first + parent
        kernels = kernels_of_nodes(graph)
        for handle, kernel in graph.kernels.items():
            fed = graph.fed_by(kernel)
            detail = f" (feeds {fed.name})" if fed else _sureness(kernel)
            frame = _frame(graph, fed or kernel)
            row = self._row(f"kernel {kernel.name}{detail}", frame, parent, backward)
            kernel.row = self._first + row
            if kernel.nodes is None:
                self._add_nodes(graph, (handle,), kernels, row)
            else:  # listed under each of several kernels
                self._add_logged_nodes(graph, kernel.nodes, row)
        self.has_provenance |= graph.has_provenance
        self.is_silent |= graph.has_code and not (graph.kernels and graph.has_provenance)
        groups = dict.fromkeys(kernels.get(node.name, ()) for node in graph.nodes)
        for group in groups:
            if len(group) > 1:
                row = self._row(f"one of {_names(graph, group)}", None, parent, backward)
                self._add_nodes(graph, group, kernels, row)
                self.is_silent = True
        self._add_nodes(graph, (), kernels, parent)

    def _add_nodes(
        self, graph: Graph, group: tuple[str, ...], kernels: dict[str, tuple[str, ...]], parent: int
    ) -> None:
        for node in graph.nodes:
            if kernels.get(node.name, ()) == group:
                self.items.append(self._operator(node, parent, graph.is_backward))

    def _add_logged_nodes(self, graph: Graph, names: tuple[str, ...], parent: int) -> None:
        self.items += [
            self._operator(node, parent, graph.is_backward)
            for node in graph.nodes
            if node.name in names
        ]

    def _operator(self, node: Node, parent: int, backward: bool) -> Item:
        item = Item(OP, node.operator, node.overload, parent, stack=self.stack(node.frame))
        item.output, item.place, item.is_backward = node.type, _place(node.type), backward
        return item

    def _row(
        self, name: str, frame: StackFrame | None, parent: int = NONE, backward: bool = False
    ) -> int:
        stack = self.stack(frame)
        row = Item(ANNOTATION, name, parent=parent, stack=stack, is_backward=backward)
        self.items.append(row)
        return len(self.items) - 1

    def stack(self, frame: StackFrame | None) -> int:
        if frame is None:
            return NONE
        self._stacks.append(Stack((frame,), 0))
        return len(self._stacks) - 1


def _names(graph: Graph, handles: tuple[str, ...]) -> str:
    names = list(dict.fromkeys(graph.kernels[handle].name for handle in handles))
    return ", ".join(names) if len(names) > 1 else f"{len(handles)} calls of {names[0]}"


def _frame(graph: Graph, kernel: Kernel) -> StackFrame | None:
    """The user's line of a kernel, or of its first node that has one."""
    if kernel.frames:
        return kernel.frames[0]
    names = kernel.nodes or ()
    return next((node.frame for node in graph.nodes if node.frame and node.name in names), None)


def _sureness(kernel: Kernel) -> str:
    """How its operators were determined, if the log does not list them."""
    if kernel.nodes is not None:
        return ""
    if "." in kernel.name:
        return " (operator by its name)"
    return " (operators by their line)" if kernel.frames else " (operators unknown)"


def _place(kind: str) -> str:
    """``cuda:0`` for ``f32[2, 4][4, 1]cuda:0``."""
    device = kind.rpartition("]")[2]
    return device if device and device != "cpu" else ""


class CompileEvents:
    """Adds a row for each compilation around what ran in it, with its results first."""

    def __init__(self, table: Table, builder: Builder) -> None:
        self.log = CompileLog()
        """The compiler's log so far."""
        self._table = table
        self._builder = builder
        self._open: dict[int, int] = {}
        """Thread -> row."""
        self._ended: list[int] = []
        """Rows that have ended since the last call."""

    def begin(self, thread: int, start: float, name: str, number: str) -> None:
        """A compilation with this number begins; ``name`` is the compiler's name for it."""
        table = self._table
        title = table.names.number((f"compile [{number}]" if number else f"compile: {name}", None))
        row = table.append(REGION, title, thread, start, 0.0)
        table.compilations[row] = number
        self._open[thread] = row
        self._builder.begin(row)

    def end(self, thread: int, moment: float) -> None:
        row = self._open.pop(thread, NONE)
        if row >= 0:
            self._builder.end(row, moment)
            self._ended.append(row)

    def take(self, row: int, number: str) -> None:
        """Mark a row as a compilation that has ended, as recorded in an export."""
        self._table.compilations[row] = number
        self._ended.append(row)

    def add_rows(self, last: bool = False) -> None:
        """Add the messages and results of each compilation below its row; with ``last``, also for
        those that have not ended."""
        for row in [*self._ended, *self._open.values()] if last else self._ended:
            self._add_logged(row)
        self._ended.clear()
        if last:
            self._give_lines()
        self._table.compiled[:] = self.log.compilations.values()

    def _add_logged(self, top: int) -> None:
        table = self._table
        compilation = self.log.compilations.get(table.compilations.get(top, ""))
        if compilation is None:
            return
        table.name[top] = table.names.number((compilation.title, None))
        first = len(table)
        rows = CompilationRows(table.stacks, first)
        table.stack[top] = rows.stack(compilation.frame)
        rows.add_logged(compilation)
        table.add_graphs(compilation)
        table.untimed.update(range(first, first + len(rows.items)))
        for item in rows.items:
            self._append(item, top, first)
        table.adopt_first(top, [row for row in range(first, len(table)) if table.parent[row] < 0])

    def _give_lines(self) -> None:
        """Sets the line of graphs without a user's line (torch's own modules such as nn.Sequential)
        to that of their first run."""
        table = self._table
        without = {
            one.id: [graph for graph in one.kept_graphs() if graph.row >= 0 and not graph.frame]
            for one in self.log.compilations.values()
        }
        runs = _first_runs(table) if any(without.values()) else {}
        for number in without.keys() & runs.keys():
            for graph in without[number]:
                for row in (graph.row, *table.descendants(graph.row)):
                    table.stack[row] = runs[number]

    def _append(self, item: Item, top: int, first: int) -> None:
        """A row without a duration, at the time of the compilation."""
        table = self._table
        name = table.names.number((item.name, item.overload))
        row = table.append(item.kind, name, table.thread[top], table.start[top], 0.0)
        table.phase[row], table.stack[row] = COMPILE, item.stack
        if item.output:
            table.outputs[row] = item.output
        if item.place or item.output:
            table.place[row] = table.places.number(item.place or "cpu")
        if item.parent >= 0:
            table.adopt(first + item.parent, row)


def _first_runs(table: Table) -> dict[str, int]:
    """Number of a compilation -> stack of the first run of its code, if known."""
    named = {at for at, (name, _) in enumerate(table.names.values) if is_region(name)}
    found: dict[str, int] = {}
    for row, name in enumerate(table.name):
        if name in named and table.stack[row] >= 0 and table.stacks[table.stack[row]].location:
            found.setdefault(region_number(table, row), table.stack[row])
    return found
