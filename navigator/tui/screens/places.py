"""The places screen: a list of places with the source of the selected one."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from navigator.tui.history import Visit
from navigator.tui.lists.places_pane import PlacesPane
from navigator.tui.panes.workspace import Workspace
from navigator.tui.place_rows import target_of
from navigator.tui.screens.breakpoints import fit_terminal
from navigator.tui.source.source_pane import SourcePane
from navigator.tui.widgets.key_bar import KeyBar

_WIDTHS = [(0, "-narrow"), (110, "-wide"), (150, "-broad")]


class PlacesWorkspace(Workspace):
    """The list, and the source of the selected place."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", id="places.open"),
        Binding("escape,q", "close", "Close", id="places.close"),
        Binding("tab", "switch", "Other pane", id="places.switch", priority=True),
    ]

    @property
    def pane(self) -> PlacesPane:
        return self.query_one(PlacesPane)

    def name_here(self) -> str:
        row = self.pane.places.current
        return super().name_here() if self.is_in_source or row is None else row.name

    def subject(self) -> str:
        listed = "" if self.is_in_source else self.pane.subject()
        return listed or super().subject()

    def change(self) -> str:
        return "" if self.is_in_source else self.pane.change()

    def on_places_pane_selected(self, message: PlacesPane.Selected) -> None:
        self.source.load(message.row.visit)

    async def on_places_pane_chosen(self) -> None:
        await self.action_open()

    async def action_open(self) -> None:
        """Go to the place in the browser, or open the plan of a gap."""
        if self.change():
            await self.run_action("app.list('contribute')")
            return
        row = self.pane.places.current
        if not self.is_in_source and self.pane.goes_in():
            return
        if row is not None:
            here = self.here() if self.is_in_source else None
            self.screen.dismiss(here or target_of(row))

    def action_close(self) -> None:
        """From the source to the list, from the list back to the caller."""
        if self.is_in_source:
            self.screen.set_focus(self.pane.places)
        elif not self.pane.goes_out():
            self.screen.dismiss(None)

    def action_switch(self) -> None:
        self.screen.set_focus(self.pane.places if self.is_in_source else self.source.view)


class PlacesScreen(Screen[Visit | None]):
    """Returns the chosen visit, or None."""

    CSS_PATH = Path(__file__).with_name("places.tcss")  # also for screens of other folders
    HORIZONTAL_BREAKPOINTS = _WIDTHS

    def __init__(self, pane: PlacesPane) -> None:
        super().__init__()
        self.pane = pane
        self.early_keys = pane.early_keys

    def compose(self) -> ComposeResult:
        context = self.pane.context
        with PlacesWorkspace(context):
            yield self.pane
            yield SourcePane(context)
        yield KeyBar(context.config.keys)

    def on_screen_resume(self) -> None:
        fit_terminal(self)

    def index_opened(self) -> None:
        """Called when there is an index, or a newer one."""
        self.pane.index_opened()
