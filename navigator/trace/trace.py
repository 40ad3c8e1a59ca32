"""The trace: what screens and commands query."""

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
    """Rows, device kernels, and facts about the trace.

    While it is being read, rows are only added and completed.
    """

    meta: TraceMeta = field(default_factory=TraceMeta)
    table: Table = field(default_factory=Table)

    def __len__(self) -> int:
        """The number of ids, some of which may be calls that ran no operator and were removed."""
        return len(self.table)

    def op(self, row: int) -> TraceOp:
        """A row in full: times in microseconds from the start of the trace.

        Raises:
            IndexError: There is no row with this id.
        """
        return self.table.op(row)

    def ops(self) -> Iterator[TraceOp]:
        """Every row by id."""
        return (self.op(row) for row in range(len(self)) if self.table.kind[row] != GONE)

    def roots(self) -> tuple[int, ...]:
        """Ids of the top-level rows, by time."""
        return tuple(self.table.roots)

    def children(self, row: int) -> tuple[int, ...]:
        """Ids of a row's direct children, by time."""
        return tuple(self.table.children(row))

    def kernels(self) -> Iterator[DeviceKernel]:
        """Every kernel, copy and fill on a device, in file order."""
        return (self.kernel(number) for number in range(len(self.table.kernels)))

    def kernel(self, number: int) -> DeviceKernel:
        """A kernel, copy or fill by id. Raises IndexError for an unknown one."""
        return self.table.kernels.kernel(number, self.table.zero or 0.0)

    def kernels_of(self, row: int) -> tuple[DeviceKernel, ...]:
        """Device work that this row itself launched, without that of its callees."""
        numbers = self.table.kernels.by_op.get(row, ())
        return tuple(self.kernel(number) for number in numbers)

    def allocations_of(self, row: int | None) -> tuple[Allocation, ...]:
        """Memory events of a row itself; for None, those of no row."""
        allocations, zero = self.table.allocations, self.table.zero or 0.0
        numbers = allocations.by_op.get(NONE if row is None else row, ())
        return tuple(allocations.allocation(number, zero) for number in numbers)

    def device_types(self) -> tuple[str, ...]:
        """Types of devices that anything in the trace ran on: ``cpu`` first, then ``cuda`` ..."""
        places = set(self.table.places.values) - self.table.unreal_places
        kinds = {place.partition("/")[0].partition(":")[0] for place in places}
        return ("cpu", *sorted(kinds - {"cpu", ""}))

    def learn_devices(self, kinds: Iterable[str]) -> None:
        """Add device types: rows without a recorded device may have run there."""
        for kind in kinds:
            self.table.places.number(kind)
            self.table.default_place = ""

    def answered_by(self, op: TraceOp) -> TraceOp | None:
        """The call that reached a kernel: this one or, if a ``__torch_dispatch__`` handled it, the
        same operator below; None if that ran others."""
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
        """In a backward pass: how the forward operator of a row was found, or why it is unknown.
        None elsewhere."""
        if self.table.phase[row] != BACKWARD:
            return None
        node = self.table.node[row]
        return self.table.forward_notes.get(node, BY_NUMBER if node >= 0 else NO_NODE)

    def node_of(self, row: int) -> int | None:
        """The row of the Node that ran it, or of the Node that the engine was running."""
        table, node = self.table, self.table.node[row]
        if node >= 0 and table.kind[node] == ENGINE:
            inside = (child for child in table.children(node) if table.kind[child] == NODE)
            node = next(inside, node)
        return node if node >= 0 else None

    def call_of(self, row: int) -> int | None:
        """The program's call around a row."""
        kinds = self.table.kind
        return next((one for one in self.table.ancestors(row) if kinds[one] == CALL), None)

    def _repr_html_(self) -> str:
        """For notebooks."""
        from navigator.trace.html_report import notebook_html

        return notebook_html(self)


class BadTrace(TorchnavError):
    """The file is not a readable trace; the message is one line."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Callbacks while a trace is read. Fast readers need not call them."""

    progress: Callable[[int], bool] | None = None
    """Called with the number of rows so far; returns False to stop."""
    early: Callable[[Trace], None] | None = None
    """Called once with the first rows of a large trace, as a separate trace."""
