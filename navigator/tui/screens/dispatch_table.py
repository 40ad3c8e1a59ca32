"""The dispatch table of an operator: what each key runs, and what the installed torch says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from indexes.model.dispatch import DispatchTable
from indexes.queries.dispatch_compare import Difference
from indexes.queries.index import Index
from navigator.tui.config import Config
from navigator.tui.place_rows import PlaceRow, of_slots
from navigator.tui.screens.places import PlacesScreen
from navigator.tui.session import Session


class TableLoaded(Message):
    """The computed table, and where a running torch differs, when it was asked."""

    def __init__(
        self, table: DispatchTable, differences: Sequence[Difference] | None = None
    ) -> None:
        super().__init__()
        self.table = table
        self.differences = differences


class DispatchTableScreen(PlacesScreen):
    """Runtime keys in order of priority, the first to be asked on top, beside their kernels."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("L", "live", "Compare with torch", id="table.live")
    ]

    def __init__(self, session: Session, config: Config, index: Index, op: str) -> None:
        super().__init__(session, config, f"dispatch table of {op} (L: beside torch's)")
        self._index = index
        self._op = op
        self._table: DispatchTable | None = None

    def on_mount(self) -> None:
        self.places.message = "reading the registrations …"
        self.ask("table", lambda: TableLoaded(self._index.table(self._op)))

    def on_table_loaded(self, message: TableLoaded) -> None:
        self._table = message.table
        self.show_rows(list(_rows(message.table, message.differences)))

    def action_live(self) -> None:
        """Ask the installed torch, in a process of its own."""
        table = self._table
        if table is None:
            self.say("the registrations are still being read")
            return
        from navigator.live.torch_table import differences

        self.say("asking the installed torch …")
        self.ask("table", lambda: TableLoaded(table, differences(self._index, table)))


def _rows(table: DispatchTable, differences: Sequence[Difference] | None) -> Iterator[PlaceRow]:
    if differences is not None and not differences:
        yield PlaceRow("the installed torch says the same for every key")
    other = {one.key: one for one in differences or ()}
    for slots in reversed(table.groups()):
        yield of_slots(table.op, slots)
        yield from (_said(other.pop(s.key)) for s in reversed(slots) if s.key in other)
    yield from (_said(one) for one in other.values())
    empty = [slot.key for slot in table.slots if slot.kind == "missing"]
    if empty:
        yield PlaceRow(f"no kernel and no fallback: {' '.join(empty)}")
    yield PlaceRow("registered")
    for slot in table.registrations:
        yield of_slots(table.op, [slot])
    if table.unseen:
        yield PlaceRow(table.unseen)


def _said(one: Difference) -> PlaceRow:
    """What torch says of a key; a heading where nothing of ours stands in source."""
    theirs, where = one.theirs, one.ours.definition or one.ours.registration
    said = f"{theirs.kind}, registered at {theirs.path}" if theirs else "nothing"
    text = f"{one.key} in the installed torch: {said}; {one.reason or 'not explained'}"
    return PlaceRow(said if where else f"≠ {text}", where, f"≠ {one.key}", comment=text)
