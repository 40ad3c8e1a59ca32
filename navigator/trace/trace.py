"""A trace: what every screen and command asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from indexes.model.errors import TorchnavError
from navigator.trace.building.forward_links import BY_NUMBER, NO_NODE
from navigator.trace.building.places import PYTHON_KEYS
from navigator.trace.columns import NONE
from navigator.trace.model import Allocation, DeviceKernel, TraceMeta, TraceOp
from navigator.trace.table import BACKWARD, CALL, ENGINE, GONE, NODE, Table


@dataclass(slots=True)
class Trace:
    """Rows, device kernels, and what the trace says about itself.

    While a reader still feeds it, rows are only added and completed.
    """

    meta: TraceMeta = field(default_factory=TraceMeta)
    table: Table = field(default_factory=Table)

    def __len__(self) -> int:
        """How many ids there are; a few may be calls that ran no operator, which are gone."""
        return len(self.table)

    def op(self, row: int) -> TraceOp:
        """One row in full: times in microseconds from the start of the trace.

        Raises:
            IndexError: There is no row of this id.
        """
        return self.table.op(row)

    def ops(self) -> Iterator[TraceOp]:
        """Every row that is there, by id."""
        return (self.op(row) for row in range(len(self)) if self.table.kind[row] != GONE)

    def roots(self) -> tuple[int, ...]:
        """Ids of the rows that stand under nothing, by time."""
        return tuple(self.table.roots)

    def children(self, row: int) -> tuple[int, ...]:
        """Ids of the rows that stand directly under a row, by time."""
        return tuple(self.table.children(row))

    def kernels(self) -> Iterator[DeviceKernel]:
        """Every kernel, copy and fill that ran on a device, in the order of the file."""
        return (self.kernel(number) for number in range(len(self.table.kernels)))

    def kernel(self, number: int) -> DeviceKernel:
        """One kernel, copy or fill by its id. Raises IndexError for another."""
        return self.table.kernels.kernel(number, self.table.zero or 0.0)

    def kernels_of(self, row: int) -> tuple[DeviceKernel, ...]:
        """Device work that this row itself launched, not what it calls."""
        numbers = self.table.kernels.by_op.get(row, ())
        return tuple(self.kernel(number) for number in numbers)

    def allocations_of(self, row: int | None) -> tuple[Allocation, ...]:
        """Memory that a row itself took or gave back; for None, that of no row."""
        allocations, zero = self.table.allocations, self.table.zero or 0.0
        numbers = allocations.by_op.get(NONE if row is None else row, ())
        return tuple(allocations.allocation(number, zero) for number in numbers)

    def device_types(self) -> tuple[str, ...]:
        """Kinds of device that anything in the trace ran on: ``cpu`` first, then ``cuda`` ..."""
        places = set(self.table.places.values) - self.table.unreal_places
        seen = {place.partition("/")[0].partition(":")[0] for place in places}
        return ("cpu", *sorted(seen - {"cpu", ""}))

    def learn_devices(self, kinds: Iterable[str]) -> None:
        """Some of it ran on devices of these kinds, too, of which no row says so: what says
        nothing may have run there."""
        for kind in kinds:
            self.table.places.number(kind)
            self.table.default_place = ""

    def answered_by(self, op: TraceOp) -> TraceOp | None:
        """The call that reached a kernel: this one, or, where a ``__torch_dispatch__`` answered it,
        the same operator below; None where that ran others."""
        table = self.table
        names = map(table.name_of, table.children(op.id) if op.kind == "op" else ())
        if PYTHON_KEYS.isdisjoint(names):
            return op
        name = table.name[op.id]
        below = next((row for row in table.descendants(op.id) if table.name[row] == name), None)
        return None if below is None else self.answered_by(self.op(below))

    def backward_of(self, row: int) -> int | None:
        """The row of the Node that computes this operator's gradient, if it ran."""
        return self.table.reverse.get(row)

    def forward_note(self, row: int) -> str | None:
        """In a backward pass: the rule by which the forward operator of a row is known, or why
        it is not. None elsewhere."""
        if self.table.phase[row] != BACKWARD:
            return None
        node = self.table.node[row]
        return self.table.forward_notes.get(node, BY_NUMBER if node >= 0 else NO_NODE)

    def node_of(self, row: int) -> int | None:
        """The row of the Node that ran it, or that the engine ran when it ran this."""
        table, node = self.table, self.table.node[row]
        if node >= 0 and table.kind[node] == ENGINE:
            inside = (child for child in table.children(node) if table.kind[child] == NODE)
            node = next(inside, node)
        return node if node >= 0 else None

    def call_of(self, row: int) -> int | None:
        """The call of the program that a row stands in."""
        parent = self.table.parent[row]
        while parent >= 0 and self.table.kind[parent] != CALL:
            parent = self.table.parent[parent]
        return parent if parent >= 0 else None

    def _repr_html_(self) -> str:
        """For notebooks."""
        from navigator.trace.html_report import notebook_html

        return notebook_html(self)


class BadTrace(TorchnavError):
    """The file is not a trace that can be read: the message says why in one line."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Who follows the reading of a trace. A reader that is done at once need not ask."""

    progress: Callable[[int], bool] | None = None
    """Called with the number of rows so far; returns False to stop."""
    early: Callable[[Trace], None] | None = None
    """Called once with the first rows, in a trace of their own, where more take a while."""
