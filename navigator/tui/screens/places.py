"""A list of places beside the source they are in: definitions, uses, members, functions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical

from navigator.tui.config import Config
from navigator.tui.history import Visit
from navigator.tui.place_rows import PlaceRow, target_of
from navigator.tui.screens.source_screen import SourceScreen
from navigator.tui.session import Session
from navigator.tui.source.source_pane import SourcePane
from navigator.tui.widgets.bars import PaneTitle
from navigator.tui.widgets.comment import Comment
from navigator.tui.widgets.key_bar import KeyBar
from navigator.tui.widgets.line_list import LineList
from navigator.tui.widgets.place_list import PlaceList

_WIDTHS = [(0, "-narrow"), (110, "-wide"), (150, "-broad")]


class PlacesScreen(SourceScreen):
    """Choose a place while its source is shown. Answers the visit, or None."""

    CSS_PATH = Path(__file__).with_name("places.tcss")  # also for screens of other folders
    HORIZONTAL_BREAKPOINTS = _WIDTHS

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", id="places.open"),
        Binding("escape,q", "close", "Close", id="places.close"),
        Binding("tab", "switch", "Other pane", id="places.switch", priority=True),
    ]

    def __init__(
        self, session: Session | None, config: Config, title: str, rows: Sequence[PlaceRow] = ()
    ) -> None:
        super().__init__(session, config)
        self._title = title
        self._rows = rows

    def compose(self) -> ComposeResult:
        with Horizontal(id="places"):
            with Vertical(id="list"):
                yield PaneTitle()
                yield from self.compose_input()
                yield PlaceList()
                yield Comment()
            yield SourcePane()
        yield KeyBar(self.config.keys)

    def compose_input(self) -> ComposeResult:
        """An input above the list, for screens that search."""
        yield from ()

    def on_mount(self) -> None:
        self.show_rows(self._rows)
        self.focus_first()

    def focus_first(self) -> None:
        """Where the keys go when the screen opens."""
        self.set_focus(self.places)

    @property
    def places(self) -> PlaceList:
        return self.query_one(PlaceList)

    def show_rows(self, rows: Sequence[PlaceRow], *, folded: bool = False) -> None:
        """Show these places."""
        count = sum(row.location is not None and not row.depth for row in rows)
        self.query_one("#list PaneTitle", PaneTitle).show(self._title, f"{count:,}")
        self.places.show(rows, folded=folded)

    def on_place_list_selected(self, message: PlaceList.Selected) -> None:
        self.query_one(Comment).show(message.place.comment)
        self.load(message.place.visit)

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        self.action_open()

    def name_here(self) -> str:
        row = self.places.current
        return super().name_here() if self.is_in_source or row is None else row.name

    def action_open(self) -> None:
        """Go to the place in the browser."""
        row = self.places.current
        if row is not None:
            self.dismiss(self._visit_shown(row))

    def _visit_shown(self, row: PlaceRow) -> Visit:
        """The row's place; from inside the source pane the line of the cursor."""
        here = self.here() if self.is_in_source else None
        return here or target_of(row)

    def action_close(self) -> None:
        """From the source back to the list, from the list back to where it was called."""
        if self.is_in_source:
            self.set_focus(self.places)
        else:
            self.dismiss(None)

    def action_switch(self) -> None:
        if self.is_in_source:
            self.set_focus(self.places)
        else:
            self.set_focus(self.source.view)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.set_class(self.is_in_source, "-in-source")
