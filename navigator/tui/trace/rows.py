"""Rows of a trace for display: a foldable tree below lines of the program, or a flat list."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from indexes.model.vocabulary import Location
from navigator.trace.columns import NONE
from navigator.trace.table import GONE, OP
from navigator.trace.trace import Trace

MOST_COUNTED = 1000
"""Maximum count of operators below a folded row."""
_NO_LINE = 0
"""Ids of lines are negative."""
_Entry = tuple[int, int, int, int]
"""(id, depth, number of the line that led to it, id of that line)"""


@dataclass(frozen=True, slots=True)
class LineRows:
    """Consecutive rows that one line of the program led to."""

    location: Location
    rows: Sequence[int]


class TraceRows:
    """The shown rows of the table, in order, with their depths.

    Only ids and depths are stored: a million rows take a few megabytes. Lines of the program are
    rows too; their id is the inverted id of their first row: ``~row``.
    """

    def __init__(self, trace: Trace, opened: Iterable[int] | None = None) -> None:
        self._trace = trace
        self._open = set(opened or ())
        self._folded: set[int] = set()
        """Lines whose rows are not shown."""
        self.ids: Sequence[int] = array("i")
        self.depths: Sequence[int] = array("h")
        self._lines: dict[int, LineRows] = {}
        self._above: Sequence[int] = array("i")
        """The id of the line that led to each row."""
        self._numbers: dict[Location | None, int] = {None: NONE}
        self._of_stack: list[int] = []
        """Number of a stack -> number of its line of the program."""
        self._flat: Sequence[int] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def is_flat(self) -> bool:
        return self._flat is not None

    def show_tree(self) -> None:
        """Show all rows except folded ones."""
        self._flat = None
        self.refresh()

    def show_flat(self, rows: Iterable[int]) -> None:
        """Show only these rows."""
        self._flat = array("i", rows)
        self.refresh()

    def refresh(self) -> None:
        """Called when the trace has grown, or nodes were opened or folded."""
        self._lines = {}
        if self._flat is not None:
            self.ids, self.depths = self._flat, bytes(len(self._flat))
            self._above = ()
            return
        roots = self._entries(self._trace.roots(), 0, NONE, _NO_LINE)
        self.ids, self.depths, self._above = self._laid_out(roots)

    def _laid_out(self, entries: list[_Entry]) -> tuple[array[int], array[int], array[int]]:
        """Ids, depths and lines of entries and of their open descendants."""
        ids, depths, above = array("i"), array("h"), array("i")
        waiting = entries[::-1]
        while waiting:
            one, depth, line, shown = waiting.pop()
            ids.append(one)
            depths.append(min(depth, 1000))
            above.append(shown)
            if one < 0 or one in self._open:
                waiting += self._below(one, depth, line, shown)[::-1]
        return ids, depths, above

    def _below(self, one: int, depth: int, line: int, shown: int) -> list[_Entry]:
        """What is shown below a row or a line."""
        if not self.is_open(one):
            return []
        if one < 0:
            return [(row, depth + 1, line, one) for row in self._lines[one].rows]
        return self._entries(self._trace.children(one), depth + 1, line, shown)

    def _entries(self, rows: Iterable[int], depth: int, line: int, shown: int) -> list[_Entry]:
        """Rows with a common parent, below lines where another line led to them."""
        self._learn_stacks()
        found: list[_Entry] = []
        for number, group in groupby(rows, self._line_of):
            if number in (NONE, line):
                found += ((row, depth, line, shown) for row in group)
            else:
                together = array("i", group)
                location = self._trace.table.stacks[self._trace.table.stack[together[0]]].location
                assert location is not None
                self._lines[~together[0]] = LineRows(location, together)
                found.append((~together[0], depth, number, shown))
        return found

    def _line_of(self, row: int) -> int:
        stack = self._trace.table.stack[row]
        return self._of_stack[stack] if stack >= 0 else NONE

    def _learn_stacks(self) -> None:
        for stack in self._trace.table.stacks[len(self._of_stack) :]:
            number = self._numbers.setdefault(stack.location, len(self._numbers))
            self._of_stack.append(number if stack.location is not None else NONE)

    def line(self, one: int) -> LineRows | None:
        """A line of the program; None for the id of a row."""
        return self._lines.get(one) if one < 0 else None

    def line_above(self, index: int) -> int:
        """Index of the line that led to the row at ``index``, or -1."""
        line = self._above[index] if index < len(self._above) else _NO_LINE
        place = self.at(line) if line < 0 else None
        return place if place is not None else -1

    # ------------------------------------------------------------------------ folding

    @property
    def opened(self) -> frozenset[int]:
        """The rows that are not folded."""
        return frozenset(self._open)

    def has_children(self, one: int) -> bool:
        return one < 0 or self._trace.table.first_child[one] >= 0

    def is_open(self, one: int) -> bool:
        return one not in self._folded if one < 0 else one in self._open

    def toggle(self, one: int) -> None:
        """Open or fold; only the rows below are laid out again."""
        if one < 0:
            self._folded ^= {one}
        else:
            self._open ^= {one}
        ids, depths, above = self.ids, self.depths, self._above
        place = self.at(one)
        if place is None or not isinstance(above, array):
            self.refresh()
            return
        assert isinstance(ids, array)
        assert isinstance(depths, array)
        depth, end = depths[place], place + 1
        while end < len(ids) and depths[end] > depth:
            end += 1
        line = one if one < 0 else above[place]
        number = self._line_of(~line) if line < 0 else NONE
        inner = self._laid_out(self._below(one, depth, number, above[place]))
        rest = slice(place + 1, end)
        ids[rest], depths[rest], above[rest] = inner

    def operators_below(self, one: int) -> int:
        """Number of operators below, at most 1,000."""
        line = self.line(one)
        kinds, table = self._trace.table.kind, self._trace.table
        if line is None:
            below: Iterator[int] = table.descendants(one)
        else:
            below = (row for top in line.rows for row in (top, *table.descendants(top)))
        return sum(kinds[row] == OP for row in islice(below, MOST_COUNTED))

    def open_all(self, one: int) -> None:
        """Open everything below a row, or fold it if it is open."""
        line, descendants = self.line(one), self._trace.table.descendants
        tops = line.rows if line is not None else (one,)
        below = {row for top in tops for row in (top, *descendants(top)) if self.has_children(row)}
        if below <= self._open:
            self._open -= below
        else:
            self._open |= below
        self._folded.discard(one)
        self.refresh()

    def reveal(self, row: int) -> None:
        """Open all ancestors of a row."""
        self._open.update(self._trace.table.ancestors(row))
        self.refresh()
        if self.at(row) is None and self._folded:
            self._folded.clear()
            self.refresh()

    def at(self, one: int) -> int | None:
        """Index of a row or a line; None if it is not shown."""
        if one >= 0 and self._trace.table.kind[one] == GONE:
            return None
        try:
            return self.ids.index(one)
        except ValueError:
            return None
