"""The goto screen: a line, a file:line, or any pasted name."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from indexes.model.vocabulary import Location
from navigator.tui.background import ask
from navigator.tui.context import Context
from navigator.tui.debounce import Debounce, Pause, TypeAhead
from navigator.tui.history import Visit
from navigator.tui.place_rows import Named, PlaceRow, named, target_of
from navigator.tui.widgets.comment import Comment
from navigator.tui.widgets.filter_input import EarlyKeys, FilterInput
from navigator.tui.widgets.place_list import PlaceList


class GotoScreen(ModalScreen[Visit | None]):
    """Takes a pasted name; returns the visit, or None."""

    CSS_PATH = "goto.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Close", id="goto.close")]

    def __init__(self, context: Context, path: str | None) -> None:
        """``path`` is the file for a bare line number."""
        super().__init__()
        self.early_keys = EarlyKeys()
        self.context = context
        self._path = path
        self._soon = Debounce(self, 0.05)
        self._read_soon = Pause(self, 0.05)
        self._type_ahead = TypeAhead(self._resolve, self._choose)

    def compose(self) -> ComposeResult:
        with Vertical(id="goto"):
            yield FilterInput(
                placeholder="add.Tensor, AddmmBackward0, SoftMax.cu:1274, 123 …", target=PlaceList
            )
            yield PlaceList()
            yield Comment()

    def on_mount(self) -> None:
        self.early_keys.begin_in(self.query_one(FilterInput))

    def index_opened(self) -> None:
        """Called when there is an index, or a newer one."""
        self._resolve(self.query_one(FilterInput).value.strip())

    def on_input_changed(self, event: FilterInput.Changed) -> None:
        text = event.value.strip()
        self._soon(lambda: self._resolve(text))

    def _resolve(self, text: str) -> None:
        session, path = self.context.session, self._path
        if not text:
            self._show(text, Named([]))
        elif text.isdecimal():
            line = int(text[:18])  # more than any file has
            rows = [PlaceRow(f"line {line}", Location(path, line), "line")] if path else []
            self._show(text, Named(rows))
        elif session is not None:
            ask(self, "goto", lambda: named(session, text), lambda found: self._show(text, found))

    def _show(self, text: str, found: Named) -> None:
        places = self.query_one(PlaceList)
        places.show(found.rows)
        places.styles.height = min(len(found.rows), 12)
        self.query_one(Comment).show(found.note)
        self._type_ahead.answered(text)

    def on_place_list_selected(self, message: PlaceList.Selected) -> None:
        where = message.place.location
        if where is not None:
            self._read_soon(lambda: self._read_ahead(where))

    def _read_ahead(self, where: Location) -> None:
        """Read the file that Enter would open."""
        session = self.context.session
        if session is not None:
            read = partial(session.documents.ahead, where.path)
            ask(self, "ahead", read, lambda _: None)

    def on_line_list_chosen(self) -> None:
        self._choose()

    def on_filter_input_chosen(self, message: FilterInput.Chosen) -> None:
        self._type_ahead.enter(message.text)

    def _choose(self) -> None:
        row = self.query_one(PlaceList).current
        if row is not None:
            self.dismiss(target_of(row))
