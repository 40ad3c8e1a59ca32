"""A list of places: definitions, uses, members, functions, and whatever else stands in source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.message import Message

from indexes.model.errors import TorchnavError
from navigator.tui.background import ask
from navigator.tui.context import Context
from navigator.tui.debounce import Debounce
from navigator.tui.place_rows import PlaceRow
from navigator.tui.text import one_line
from navigator.tui.widgets.bars import PaneTitle
from navigator.tui.widgets.comment import Comment
from navigator.tui.widgets.filter_input import EarlyKeys, FilterInput
from navigator.tui.widgets.line_list import LineList
from navigator.tui.widgets.pane import MainPane
from navigator.tui.widgets.place_list import PlaceList

T = TypeVar("T")


class PlacesPane(MainPane):
    """A title, perhaps a line to type in, the list and what there is to say about a place.

    A subclass asks for its places in ``begin``, and again when something was typed.
    """

    NAME = "places"
    PLACEHOLDER: ClassVar = ""
    """What the line above the list says while it is empty; without it there is no line."""
    INVITATION: ClassVar = ""
    """What the list says at first where the screen begins in that line."""

    class Selected(Message):
        """The cursor is on another place."""

        def __init__(self, row: PlaceRow) -> None:
            super().__init__()
            self.row = row

    class Chosen(Message):
        """The place under the cursor was chosen."""

    def __init__(self, context: Context, title: str, rows: Sequence[PlaceRow] = ()) -> None:
        super().__init__(id="list")
        self.context = context
        self.title = title
        self._rows = rows
        self._soon = Debounce(self, 0.05)
        self.early_keys = EarlyKeys() if self.INVITATION else None

    def compose(self) -> ComposeResult:
        yield PaneTitle()
        if self.PLACEHOLDER:
            yield FilterInput(placeholder=self.PLACEHOLDER, target=PlaceList)
        yield PlaceList()
        yield Comment()

    @property
    def places(self) -> PlaceList:
        return self.query_one(PlaceList)

    def on_mount(self) -> None:
        self.places.message = self.INVITATION
        self.show_rows(self._rows)
        if self.early_keys and self.filter:
            self.early_keys.begin_in(self.filter)
        else:
            self.screen.set_focus(self.places)
        self.begin()

    # ------------------------------------------------------------ what subclasses define

    def begin(self) -> None:
        """The list is there."""

    def typed(self) -> None:
        """Another text is in the line."""

    def entered(self, text: str) -> None:
        """Enter was pressed in the line."""
        self.typed()
        self.screen.set_focus(self.places)

    def subject(self) -> str:
        """What a change of this place would be about; empty for the line in source."""
        return ""

    def change(self) -> str:
        """The id of the change that enter opens the plan of; empty where it goes to the place."""
        return self.places.current.change if self.places.current else ""

    def goes_in(self) -> bool:
        """Go on inside the list from the place under the cursor; False where enter opens it."""
        return False

    def goes_out(self) -> bool:
        """Go back inside the list; False where this leaves it."""
        return False

    # ------------------------------------------------------------------------- showing

    def show_rows(self, rows: Sequence[PlaceRow], *, folded: bool = False) -> None:
        """Show these places; ``folded`` hides those that are set in below others."""
        count = sum(row.location is not None and not row.depth for row in rows)
        self.query_one(PaneTitle).show(self.title, f"{count:,}" if count or not rows else "")
        self.places.show(rows, folded=folded)

    def show_message(self, text: str) -> None:
        """Show why there are no places, or none yet."""
        self.places.message = one_line(text)
        self.show_rows(())

    def ask(self, question: Callable[[], T], then: Callable[[T], object]) -> None:
        """Ask in a thread; the list says what went wrong."""
        ask(self, "places", question, then, self.failed)

    def failed(self, error: TorchnavError) -> None:
        """There is no answer, for a reason."""
        self.show_message(str(error))

    def on_place_list_selected(self, message: PlaceList.Selected) -> None:
        message.stop()
        self.query_one(Comment).show(message.place.comment)
        self.post_message(self.Selected(message.place))

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        message.stop()
        self.post_message(self.Chosen())

    # -------------------------------------------------------------------------- typing

    @property
    def text(self) -> str:
        """What is in the line."""
        return self.filter.value.strip() if self.filter else ""

    def on_input_changed(self) -> None:
        self._soon(self.typed)

    def on_filter_input_chosen(self, message: FilterInput.Chosen) -> None:
        self._soon.cancel()
        self.entered(message.text)
