"""Builds the tree of rows from timed events: nesting, backward passes, forward links, device work.

Events of a window may come in any order; ``close_window`` sorts them. The profiler's rules apply:
events of one thread nest by time; an operator under ``autograd::engine::evaluate_function: X`` but
not under ``X`` is work of the engine; a Node's forward operator is the last one started with the
Node's sequence number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from indexes.model.errors import TRACE_NESTING
from navigator.trace.building.places import Places
from navigator.trace.building.settling import Settling, goes_through
from navigator.trace.columns import NONE
from navigator.trace.table import ANNOTATION, CALL, GONE, OP, Table

_PRINTER = "torch/_tensor_str.py"
_PRINT = "torch._tensor.Tensor.__repr__"


class _SideEvent(NamedTuple):
    """A timed event that is not a row."""

    kind: str
    """``frame`` of Python, ``launch`` by the device runtime, or ``memory`` event."""
    thread: int
    start: float
    duration: float
    first: int
    """A frame's stack or NONE; the number of a launch or an allocation."""
    second: int
    """A frame's module, or NONE."""


class _Open(NamedTuple):
    """An open interval of a thread, with the nearest row, stack and module."""

    end: float
    row: int = NONE
    stack: int = NONE
    module: int = NONE
    depth: int = 0
    """Number of enclosing rows, including this one."""


_OUTSIDE = _Open(0.0)


class Builder:
    """Feeds a table. One per trace."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._rows: list[int] = []
        self._external: list[int] = []
        self._sides: list[_SideEvent] = []
        self._open: defaultdict[int, list[_Open]] = defaultdict(list)
        """By thread, innermost last."""
        self.settling = Settling(table)
        self.links = self.settling.links
        self.places = Places(table)
        self.left_out = 0
        """Number of rows that are nested too deeply."""
        self._roots_done = 0
        self._is_printing = cache(lambda stack: goes_through(table, stack, _PRINTER))
        self._print: dict[int, int] = {}
        """Thread -> the call that prints a tensor, until something else runs there."""
        self._endless: dict[int, int] = {}
        """Thread -> its open row, whose end is not known yet."""
        self._carried: dict[int, int] = {}
        """The same for rows of earlier windows, until a window after their end."""

    # ---------------------------------------------------------------------- feeding

    def add(self, row: int, external: int = 0, forward_thread: int = 0) -> None:
        """Add a row to the window. An operator's kind (OP) follows from its name and place."""
        self._rows.append(row)
        self._external.append(external)
        if forward_thread:
            self.table.forward_threads[row] = forward_thread

    def add_frame(
        self, thread: int, start: float, duration: float, stack: int, module: int
    ) -> None:
        """Add a Python frame of a profile with stacks."""
        self._sides.append(_SideEvent("frame", thread, start, duration, stack, module))

    def add_allocation(self, thread: int, number: int) -> None:
        """Add a memory event of whatever was running."""
        start = self.table.allocations.start[number]
        self._sides.append(_SideEvent("memory", thread, start, 0.0, number, NONE))

    def add_launch(
        self, thread: int, start: float, duration: float, correlation: int, name: str
    ) -> int:
        """Add a call of the device runtime. Returns its number."""
        number = self.table.launches.append(name, thread, start, duration, correlation)
        self._sides.append(_SideEvent("launch", thread, start, duration, number, NONE))
        return number

    def begin(self, row: int) -> None:
        """Later rows of this thread are inside this row, until its ``end``."""
        self.add(row)
        self._endless[self.table.thread[row]] = row

    def end(self, row: int, moment: float) -> None:
        """End a row that was begun."""
        self.table.duration[row] = max(moment - self.table.start[row], 0.0)
        self._endless.pop(self.table.thread[row], None)

    # ---------------------------------------------------------------------- building

    def close_window(self, places: dict[int, str] | None = None) -> None:
        """Build the rows added since the last call. ``places``: External id -> device."""
        self.links.learn_threads(self.table.forward_threads.items())
        self._nest()
        self.places.settle(self._rows, self._external, places)
        self._settle_roots()
        for fed in (self._rows, self._external, self._sides, self.settling.backward):
            fed.clear()
        self._open.clear()
        self._print.clear()
        self._carried = dict(self._endless)

    def drop(self, rows: Iterable[int]) -> None:
        """Remove announced calls that ran no operator."""
        for row in rows:
            self.table.kind[row] = GONE

    def _nest(self) -> None:
        """Open events by start; of events with the same start, the longest first."""
        table, count = self.table, len(self._rows)
        starts = [table.start[row] for row in self._rows] + [side.start for side in self._sides]
        lengths = [table.duration[row] for row in self._rows]
        lengths += [side.duration for side in self._sides]
        if starts and table.zero is None:
            table.zero = min(starts)
        self._resume(max(map(sum, zip(starts, lengths, strict=True)), default=0.0))
        order = sorted(range(len(starts)), key=lengths.__getitem__, reverse=True)
        for index in sorted(order, key=starts.__getitem__):
            if index < count:
                self._open_row(self._rows[index])
            else:
                self._open_side(self._sides[index - count])

    def _resume(self, latest: float) -> None:
        """Reopen rows of earlier windows; rows without an end last until the latest event."""
        table = self.table
        for row in self._endless.values():
            table.duration[row] = max(table.duration[row], latest - table.start[row])
        for thread, row in self._carried.items():
            entry = _Open(self._end_of(row), row, table.stack[row], table.module[row])
            self._open[thread].append(entry)

    def _end_of(self, row: int) -> float:
        table = self.table
        if self._endless.get(table.thread[row]) == row:
            return float("inf")
        return table.start[row] + table.duration[row]

    def _enclosing(self, thread: int, start: float) -> _Open:
        """The innermost interval of a thread at a moment; removes those that have ended."""
        open_ = self._open[thread]
        while open_ and open_[-1].end <= start:
            open_.pop()
        return open_[-1] if open_ else _OUTSIDE

    def _open_row(self, row: int) -> None:
        table = self.table
        start, thread, end = table.start[row], table.thread[row], self._end_of(row)
        inner = self._carried_within(row, end)
        _, parent, frame, module, depth = around = self._enclosing(thread, start)
        if depth == TRACE_NESTING and inner is None:
            table.kind[row] = GONE
            self.left_out += 1
            return
        if around is _OUTSIDE and table.stack[row] < 0 and self._is_operator(row):
            parent = self._parallel(start, end)
            frame = table.stack[parent] if parent >= 0 else NONE
        parent = self._within_print(row, parent, end)
        if parent >= 0:
            table.adopt(parent, row)
        self.settling.settle(row, parent, frame, module)
        if table.kind[row] == CALL and table.name_of(row) == _PRINT:
            table.prints.add(row)
        if table.kind[row] == ANNOTATION and around.row >= 0:
            end = min(end, around.end)  # work that outlasts its caller
        self._open[thread].append(_Open(end, row, table.stack[row], table.module[row], depth + 1))
        if inner is not None:
            self._take_in(row, inner)

    def _carried_within(self, row: int, end: float) -> _Open | None:
        """The open row of an earlier window, if this row, a call that ended since, encloses it."""
        open_ = self._open[self.table.thread[row]]
        carried = self._carried.get(self.table.thread[row])
        if not open_ or open_[-1].row != carried or open_[-1].end > end:
            return None
        return open_.pop() if self.table.start[carried] > self.table.start[row] else None

    def _take_in(self, row: int, inner: _Open) -> None:
        table = self.table
        table.adopt(row, inner.row)
        self._open[table.thread[row]].append(inner)
        if inner.row in table.roots:
            self._roots_done -= table.roots.index(inner.row) < self._roots_done
            table.roots.remove(inner.row)

    def _within_print(self, row: int, parent: int, end: float) -> int:
        """The parent of an operator that prints a tensor, recognised by its stack: if the print
        call was not recorded, a new row for all of its operators."""
        table, thread = self.table, self.table.thread[row]
        stack, above = table.stack[row], table.stack[parent] if parent >= 0 else NONE
        if above >= 0 and self._is_printing(above):
            return parent
        if stack < 0 or not self._is_printing(stack):
            self._print.pop(thread, None)
            return parent
        place = table.stacks[stack].location
        call = self._print.get(thread, NONE)
        if call < 0 or (table.parent[call], table.stacks[table.stack[call]].location) != (
            parent,
            place,
        ):
            call = self._print[thread] = self._new_print(row, parent)
        table.duration[call] = end - table.start[call]
        return call

    def _new_print(self, first: int, parent: int) -> int:
        """Creates a call around the first operator of a print."""
        table = self.table
        name, start = table.names.number((_PRINT, None)), table.start[first]
        call = table.append(CALL, name, table.thread[first], start, table.duration[first])
        table.stack[call] = table.stack[first]
        table.prints.add(call)
        self._rows.append(call)
        self._external.append(0)
        if parent >= 0:
            table.adopt(parent, call)
        self.settling.settle(call, parent, NONE, NONE)
        return call

    def _parallel(self, start: float, end: float) -> int:
        """The operator that ran this one in a pool thread: the only ATen operator running
        throughout, while nothing else runs in this thread. Not used for operators called from
        Python."""
        found, ended = NONE, []
        for thread in self._open:
            inner = self._enclosing(thread, start)
            if inner is _OUTSIDE:
                ended.append(thread)
            elif inner.row >= 0:
                if found >= 0 or inner.end < end or not self._is_operator(inner.row):
                    found = NONE
                    break
                found = inner.row
        for thread in ended:  # most of thousands of threads
            del self._open[thread]
        return found

    def _is_operator(self, row: int) -> bool:
        return self.table.name_of(row).startswith("aten::")

    def _open_side(self, side: _SideEvent) -> None:
        _, row, frame, module, depth = self._enclosing(side.thread, side.start)
        if side.kind == "launch":
            self.table.launches.op[side.first] = self._launcher(row)
        elif side.kind == "memory":
            self._allocate(row, side.first)
        else:
            frame = side.first if side.first >= 0 else frame
            module = side.second if side.second >= 0 else module
            end = side.start + side.duration
            self._open[side.thread].append(_Open(end, row, frame, module, depth))

    def _allocate(self, row: int, number: int) -> None:
        """Sets the device of an operator without tensor inputs to that of its allocation."""
        table, size = self.table, self.table.allocations.size[number]
        table.allocations.assign(number, row)
        if row >= 0 and size > 0:
            table.allocated[row] = table.allocated.get(row, 0) + size
            if table.place[row] < 0 and table.kind[row] == OP and not table.has_tensors(row):
                place = table.allocations.places[table.allocations.place[number]]
                table.place[row] = table.places.number(place)

    def _launcher(self, row: int) -> int:
        """The innermost operator around a launch; annotations launch nothing."""
        while row >= 0 and self.table.kind[row] == ANNOTATION:
            row = self.table.parent[row]
        return row

    def _settle_roots(self) -> None:
        """Sorts this window's roots by time, including calls announced since the last window."""
        table = self.table
        fresh = {*table.roots[self._roots_done :], *self._rows}
        roots = (row for row in fresh if table.kind[row] != GONE and table.parent[row] < 0)
        table.roots[self._roots_done :] = sorted(roots, key=table.start.__getitem__)
        self._roots_done = len(table.roots)

    def problems(self) -> list[str]:
        """What was left out."""
        problem = f"{self.left_out:,} rows in more than {TRACE_NESTING:,} others are left out"
        return [problem] * bool(self.left_out)

    def announce_root(self, row: int) -> None:
        """Show a row before its window closes."""
        self.table.roots.append(row)
