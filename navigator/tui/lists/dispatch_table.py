"""The dispatch table of an operator: kernels by key, and differences from the installed torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from indexes.model.dispatch import DispatchTable
from indexes.model.errors import TorchnavError
from indexes.queries.dispatch_path.live import Difference
from navigator.live.installed import differences
from navigator.tui.background import complain, say
from navigator.tui.context import Context
from navigator.tui.lists.places_pane import PlacesPane
from navigator.tui.place_rows import PlaceRow, of_slots


class DispatchTablePane(PlacesPane):
    """Runtime keys with their kernels: the common keys first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("L", "live", "Compare with torch", id="table.live")
    ]

    _table: DispatchTable | None = None

    def __init__(self, context: Context, op: str) -> None:
        super().__init__(context, f"dispatch table of {op} (L: beside torch's)")
        self._op = op

    def begin(self) -> None:
        index = self.context.index
        if index is None:
            self.wait("the table is unknown", self.begin)
        else:
            self.places.message = "reading the registrations …"
            self.ask(lambda: index.table(self._op), self._show)

    def _show(self, table: DispatchTable, found: Sequence[Difference] | None = None) -> None:
        self._table = table
        self.show_rows(list(_rows(table, found)))

    def action_live(self) -> None:
        """Ask the installed torch, in a separate process."""
        table, index = self._table, self.context.index
        if table is None or index is None:
            say(self, "the registrations are still being read")
            return
        say(self, "asking the installed torch …")
        self.ask(lambda: differences(index, table), lambda found: self._show(table, found))

    def failed(self, error: TorchnavError) -> None:
        complain(self, str(error))


def _rows(table: DispatchTable, differences: Sequence[Difference] | None) -> Iterator[PlaceRow]:
    if differences is not None and not differences:
        yield PlaceRow("the installed torch agrees for every key")
    other = {difference.key: difference for difference in differences or ()}
    main, rest = table.by_interest()
    for number, slots in enumerate((*main, *rest)):
        if number == len(main):
            yield PlaceRow("other keys, highest priority first")
        yield of_slots(table.op, slots)
        yield from (_live_row(other.pop(s.key)) for s in reversed(slots) if s.key in other)
    yield from (_live_row(one) for one in other.values())
    empty = [slot.key for slot in table.slots if slot.kind == "missing"]
    if empty:
        yield PlaceRow(f"no kernel and no fallback: {' '.join(empty)}")
    yield PlaceRow("registered")
    for slot in table.registrations:
        yield of_slots(table.op, [slot])
    if table.unseen:
        yield PlaceRow(table.unseen)


def _live_row(one: Difference) -> PlaceRow:
    """Torch's kernel for a key; a heading if it has no place in source."""
    theirs, where = one.theirs, one.ours.definition or one.ours.registration
    words = f"{theirs.kind}, registered at {theirs.path}" if theirs else "nothing"
    text = f"{one.key} in the installed torch: {words}; {one.reason or 'not explained'}"
    return PlaceRow(words if where else f"≠ {text}", where, f"≠ {one.key}", comment=text)
