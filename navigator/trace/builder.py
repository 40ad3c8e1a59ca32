"""From timed events to a tree: nesting, backward passes, forward links, device work.

Events of one window may come in any order; ``close_window`` sorts them and builds. The
rules are those of the profiler: events of one thread nest by time; an operator under
``autograd::engine::evaluate_function: X`` but not under ``X`` is work of the engine; a
Node's forward operator is the last one that started with the Node's sequence number.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from navigator.trace.forward import ForwardLinks
from navigator.trace.table import (
    ANNOTATION,
    BACKWARD,
    BY_ENGINE,
    BY_HOOK,
    CALL,
    ENGINE,
    FORMULA,
    GONE,
    NODE,
    NONE,
    OP,
    OPTIMIZER,
    RECOMPUTE,
    REGION,
    Table,
)

ENGINE_PREFIX = "autograd::engine::evaluate_function: "
_OPTIMIZER_PREFIX = "Optimizer."
_CHECKPOINT = "torch/utils/checkpoint.py"
_PYTHON, _RUNTIME, _MEMORY = range(3)


class _Sides:
    """Timed events that are no rows: Python frames and calls of the device runtime."""

    def __init__(self) -> None:
        self.kind = array("b")
        self.thread = array("i")
        self.start = array("d")
        self.duration = array("d")
        self.first = array("q")
        """Of a frame its stack or NONE; of a runtime call its correlation; bytes of memory."""
        self.second = array("i")
        """Of a frame its module or NONE; the number of a runtime call's name; a place."""

    def append(
        self, kind: int, thread: int, start: float, duration: float, first: int, second: int
    ) -> None:
        self.kind.append(kind)
        self.thread.append(thread)
        self.start.append(start)
        self.duration.append(duration)
        self.first.append(first)
        self.second.append(second)


Open = tuple[float, int, int, int]
"""An open interval of a thread: end, nearest row, nearest stack, nearest module."""


class Builder:
    """Feeds a table. One per trace."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._rows = array("i")
        self._external = array("q")
        self._forward_thread: dict[int, int] = {}
        self._sides = _Sides()
        self._launched: dict[int, tuple[int, int]] = {}
        """Correlation -> (row, number of the runtime call's name)."""
        self._links = ForwardLinks(table)
        self._kernels_done = 0
        self._roots_done = 0
        self._name_kinds = array("b")
        self._recomputing: dict[int, bool] = {}
        self.backward: list[tuple[float, float, int]] = []
        """(start, end, row of the call) of backward passes that Python started."""

    # ---------------------------------------------------------------------- feeding

    def add(
        self,
        kind: int,
        name: int,
        thread: int,
        start: float,
        duration: float,
        inputs: int = NONE,
        sequence: int = NONE,
        external: int = 0,
        forward_thread: int = 0,
    ) -> int:
        """An event that becomes a row. ``kind`` is CALL, ANNOTATION or OP; an operator's is
        worked out from its name and place."""
        row = self.table.append(kind, name, thread, start, duration, inputs, sequence)
        self._rows.append(row)
        self._external.append(external)
        if forward_thread:
            self._forward_thread[row] = forward_thread
        return row

    def complete(self, row: int, start: float, duration: float) -> None:
        """A row that was announced is now known exactly, and is part of the open window."""
        self.table.start[row] = start
        self.table.duration[row] = duration
        self._rows.append(row)
        self._external.append(0)

    def add_frame(
        self, thread: int, start: float, duration: float, stack: int, module: int
    ) -> None:
        """A Python frame of a profile with stacks."""
        self._sides.append(_PYTHON, thread, start, duration, stack, module)

    def add_allocation(self, thread: int, start: float, size: int, place: str) -> None:
        """Memory that was taken at a moment, by whatever operator was running."""
        number = self.table.places.number(place)
        self._sides.append(_MEMORY, thread, start, 0.0, size, number)

    def add_launch(
        self, thread: int, start: float, duration: float, correlation: int, name: str
    ) -> None:
        """A call of the device runtime."""
        number = self.table.kernels.names.number(name)
        self._sides.append(_RUNTIME, thread, start, duration, correlation, number)

    # ---------------------------------------------------------------------- building

    def close_window(self, places: dict[int, str] | None = None) -> None:
        """Build what was fed since the last time. ``places``: External id -> device."""
        self.table.complete_rows()
        self._learn_names()
        self._nest()
        self._place(places)
        self._assign_kernels()
        self._set_default_place()
        self._settle_roots()
        self._rows = array("i")
        self._external = array("q")
        self._sides = _Sides()
        self.backward.clear()

    def drop(self, rows: Iterable[int]) -> None:
        """Announced calls that ran no operator."""
        for row in rows:
            self.table.kind[row] = GONE

    def _learn_names(self) -> None:
        names = self.table.names.values
        for name, _ in names[len(self._name_kinds) :]:
            self._name_kinds.append(_kind_of_name(name))

    def _nest(self) -> None:
        table, sides, rows = self.table, self._sides, self._rows
        starts = array("d", (table.start[row] for row in rows)) + sides.start
        if starts and table.zero is None:
            table.zero = min(starts)
        count = len(rows)
        open_: dict[int, list[Open]] = {}
        for index in self._order(starts):
            if index < count:
                self._open_row(rows[index], open_)
            else:
                self._open_side(index - count, open_)

    def _order(self, starts: array[float]) -> list[int]:
        """By start; of events that start together the longer first."""
        order = sorted(range(len(starts)), key=starts.__getitem__)
        at = 0
        while at < len(order) - 1:
            if starts[order[at]] == starts[order[at + 1]]:
                end = at + 2
                while end < len(order) and starts[order[end]] == starts[order[at]]:
                    end += 1
                order[at:end] = sorted(order[at:end], key=self._negative_duration)
                at = end
            else:
                at += 1
        return order

    def _negative_duration(self, index: int) -> float:
        count = len(self._rows)
        if index < count:
            return -self.table.duration[self._rows[index]]
        return -self._sides.duration[index - count]

    def _open_row(self, row: int, open_: dict[int, list[Open]]) -> None:
        table = self.table
        start, thread = table.start[row], table.thread[row]
        stack = open_.get(thread)
        if stack is None:
            stack = open_[thread] = []
        while stack and stack[-1][0] <= start:
            stack.pop()
        parent, frame, module = stack[-1][1:] if stack else (NONE, NONE, NONE)
        if not stack and self._is_operator(row):
            parent = self._parallel(row, open_)
            frame = table.stack[parent] if parent >= 0 else NONE
        if parent >= 0:
            table.adopt(parent, row)
        self._settle(row, parent, frame, module)
        end = start + table.duration[row]
        stack.append((end, row, table.stack[row], table.module[row]))

    def _parallel(self, row: int, open_: dict[int, list[Open]]) -> int:
        """The operator that ran this one in a thread of its pool: the only operator of ATen
        that was running all the while, where this thread runs nothing else then."""
        table = self.table
        start = table.start[row]
        end = start + table.duration[row]
        found = NONE
        for stack in open_.values():
            inner = next((entry for entry in reversed(stack) if entry[0] > start), None)
            if inner is None or inner[1] < 0:
                continue
            if found >= 0 or inner[0] < end or not self._is_operator(inner[1]):
                return NONE
            found = inner[1]
        return found

    def _is_operator(self, row: int) -> bool:
        return self.table.names[self.table.name[row]][0].startswith("aten::")

    def _open_side(self, side: int, open_: dict[int, list[Open]]) -> None:
        sides = self._sides
        start, thread = sides.start[side], sides.thread[side]
        stack = open_.setdefault(thread, [])
        while stack and stack[-1][0] <= start:
            stack.pop()
        row, frame, module = stack[-1][1:] if stack else (NONE, NONE, NONE)
        if sides.kind[side] == _RUNTIME:
            self._launched[sides.first[side]] = (self._launcher(row), sides.second[side])
            return
        if sides.kind[side] == _MEMORY:
            self._allocate(row, sides.first[side], sides.second[side])
            return
        frame = sides.first[side] if sides.first[side] >= 0 else frame
        module = sides.second[side] if sides.second[side] >= 0 else module
        stack.append((start + sides.duration[side], row, frame, module))

    def _allocate(self, row: int, size: int, place: int) -> None:
        """An operator that makes a tensor from nothing runs where the memory is."""
        table = self.table
        if row >= 0:
            table.allocated[row] = table.allocated.get(row, 0) + size
            if table.place[row] < 0 and table.kind[row] == OP and not table.has_tensors(row):
                table.place[row] = place

    def _launcher(self, row: int) -> int:
        """The smallest operator around a launch; an annotation launches nothing."""
        while row >= 0 and self.table.kind[row] == ANNOTATION:
            row = self.table.parent[row]
        return row

    # --------------------------------------------------------------------- one row

    def _settle(self, row: int, parent: int, frame: int, module: int) -> None:
        """Kind, phase, Node, origin, line and module of a row whose parent is settled."""
        table = self.table
        kind = table.kind[row]
        if kind == OP:
            kind = table.kind[row] = self._kind_of(row, parent)
        if parent >= 0:
            table.phase[row] = table.phase[parent]
            table.node[row] = table.node[parent]
            table.origin[row] = table.origin[parent]
        if kind in (NODE, ENGINE):
            self._settle_node(row, parent)
        elif kind == ANNOTATION:
            if self._is_optimizer(row):
                table.phase[row] = OPTIMIZER
        elif parent >= 0 and table.node[row] >= 0:
            self._settle_origin(row, parent, kind)
        if kind in (OP, REGION) and table.sequence[row] >= 0:
            self._links.started(row)
        if table.stack[row] < 0:
            table.stack[row] = frame
        if table.module[row] < 0:
            above = table.module[parent] if parent >= 0 else NONE
            table.module[row] = above if above >= 0 else module

    def _kind_of(self, row: int, parent: int) -> int:
        table = self.table
        kind = self._name_kinds[table.name[row]]
        if parent >= 0 and table.kind[parent] == ENGINE and self._is_node_of(row, parent):
            return NODE
        return kind

    def _is_node_of(self, row: int, engine: int) -> bool:
        names = self.table.names
        whole = names[self.table.name[engine]][0]
        return whole[len(ENGINE_PREFIX) :] == names[self.table.name[row]][0]

    def _settle_node(self, row: int, parent: int) -> None:
        table = self.table
        table.phase[row] = BACKWARD
        table.node[row] = row
        table.origin[row] = FORMULA
        if parent < 0:
            self._under_backward(row)
        forward = self._links.of_node(row, self._forward_thread.get(row, 0))
        if forward >= 0:
            table.module[row] = table.module[forward]
            if table.kind[row] == NODE:
                table.forward[row] = forward
                table.reverse[forward] = row
                if parent >= 0:  # what the engine does next is for the same module
                    table.module[parent] = table.module[forward]

    def _under_backward(self, row: int) -> None:
        """A Node on a thread of the engine: the call that started this backward pass, if one."""
        start = self.table.start[row]
        calls = [call for begin, end, call in self.backward if begin <= start <= end]
        if len(set(calls)) == 1:
            self.table.stack[row] = self.table.stack[calls[0]]

    def _settle_origin(self, row: int, parent: int, kind: int) -> None:
        table = self.table
        above, stack = table.kind[parent], table.stack[row]
        from_python = stack >= 0 and (kind == CALL or stack != table.stack[parent])
        if from_python and self._is_recomputing(stack):
            table.origin[row] = RECOMPUTE
        elif above == ENGINE:
            table.origin[row] = BY_HOOK if from_python else BY_ENGINE

    def _is_recomputing(self, stack: int) -> bool:
        known = self._recomputing.get(stack)
        if known is None:
            frames = self.table.stacks[stack].frames if stack >= 0 else ()
            known = any(f.location.path.replace("\\", "/").endswith(_CHECKPOINT) for f in frames)
            self._recomputing[stack] = known
        return known

    def _is_optimizer(self, row: int) -> bool:
        return self.table.names[self.table.name[row]][0].startswith(_OPTIMIZER_PREFIX)

    # ------------------------------------------------------------------ after nesting

    def _place(self, places: dict[int, str] | None) -> None:
        if places is None:
            return
        table = self.table
        cpu = table.places.number("cpu")
        for row, external in zip(self._rows, self._external, strict=True):
            place = places.get(external)
            if place is not None:
                table.place[row] = table.places.number(place)
            elif table.kind[row] == OP and table.has_tensors(row):
                table.place[row] = cpu

    def _set_default_place(self) -> None:
        elsewhere = any(place != "cpu" for place in self.table.places.values)
        self.table.default_place = "" if elsewhere or len(self.table.kernels) else "cpu"

    def _assign_kernels(self) -> None:
        kernels = self.table.kernels
        waiting = [n for n in range(self._kernels_done, len(kernels)) if kernels.op[n] < 0]
        for number in waiting:
            launched = self._launched.get(kernels.correlation[number])
            if launched is None:
                kernels.reasons[number] = "its launch is not in the trace"
                continue
            row, name = launched
            kernels.launch[kernels.correlation[number]] = kernels.names[name]
            if row >= 0:
                kernels.assign(number, row)
                self._on_device(row, kernels.places[kernels.place[number]][0])
            else:
                kernels.reasons[number] = "launched outside of any recorded operator"
        self._kernels_done = len(kernels)

    def _on_device(self, row: int, device: str) -> None:
        """What launches device work runs on that device, and so does what called it."""
        place = self.table.places.number(f"cuda:{device}" if device.isdigit() else device)
        while row >= 0 and self.table.place[row] < 0:
            self.table.place[row] = place
            row = self.table.parent[row]

    def _settle_roots(self) -> None:
        """Roots of this window by time; calls announced since may stand among them."""
        table = self.table
        fresh = set(table.roots[self._roots_done :])
        fresh.update(row for row in self._rows if table.parent[row] < 0)
        kept = (row for row in fresh if table.kind[row] != GONE and table.parent[row] < 0)
        table.roots[self._roots_done :] = sorted(kept, key=table.start.__getitem__)
        self._roots_done = len(table.roots)

    def announce_root(self, row: int) -> None:
        """Show a row before its window closes."""
        self.table.roots.append(row)


def _kind_of_name(name: str) -> int:
    if name.startswith(ENGINE_PREFIX):
        return ENGINE
    namespace, separator, rest = name.partition("::")
    operator = bool(separator) and namespace.isidentifier() and " " not in rest
    return OP if operator else REGION
