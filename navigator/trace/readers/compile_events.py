"""When a recorded program was compiled, and what the compiler said: rows of both."""

from __future__ import annotations

from navigator.trace.building.builder import Builder
from navigator.trace.columns import NONE
from navigator.trace.compiling.graphs import is_region, region_number
from navigator.trace.readers.compile_log import CompileLog
from navigator.trace.readers.compile_rows import CompilationRows
from navigator.trace.readers.ranked import Item
from navigator.trace.table import COMPILE, REGION, Table


class CompileEvents:
    """Feeds a builder with a row for each compilation, around all that ran in it, and puts what
    it made before that."""

    def __init__(self, table: Table, builder: Builder) -> None:
        self.log = CompileLog()
        """What the compiler has said so far."""
        self._table = table
        self._builder = builder
        self._open: dict[int, int] = {}
        """Thread -> row."""
        self._ended: list[int] = []
        """Rows that have ended since the last time."""

    def begin(self, thread: int, start: float, name: str, number: str) -> None:
        """A compilation of this number begins; ``name`` is the compiler's for what it does."""
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
        """A row is a compilation that has ended, as an export says."""
        self._table.compilations[row] = number
        self._ended.append(row)

    def add_rows(self, last: bool = False) -> None:
        """Put what was said of each compilation below its row. At the ``last`` time those that
        have not ended too."""
        for row in [*self._ended, *self._open.values()] if last else self._ended:
            self._add_told(row)
        self._ended.clear()
        if last:
            self._give_lines()
        self._table.compiled[:] = self.log.compilations.values()

    def _add_told(self, top: int) -> None:
        table = self._table
        told = self.log.compilations.get(table.compilations.get(top, ""))
        if told is None:
            return
        table.name[top] = table.names.number((told.title, None))
        first = len(table)
        rows = CompilationRows(table.stacks, first)
        table.stack[top] = rows.stack(told.frame)
        rows.add_told(told)
        table.add_graphs(told)
        table.untimed.update(range(first, first + len(rows.items)))
        for item in rows.items:
            self._append(item, top, first)
        table.adopt_first(top, [row for row in range(first, len(table)) if table.parent[row] < 0])

    def _give_lines(self) -> None:
        """A graph of torch's own modules alone, as nn.Sequential, comes from no line of the user:
        it and what is in it get that of its first run."""
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
        """A row without a time, at that of the compilation."""
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
    """Number of a compilation -> stack of the first run of what it made, where one is known."""
    named = {at for at, (name, _) in enumerate(table.names.values) if is_region(name)}
    found: dict[str, int] = {}
    for row, name in enumerate(table.name):
        if name in named and table.stack[row] >= 0 and table.stacks[table.stack[row]].location:
            found.setdefault(region_number(table, row), table.stack[row])
    return found
