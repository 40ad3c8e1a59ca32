"""A list of places in source: definitions, uses, members, functions and so on."""

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
from navigator.tui.processes.preview import REASON
from navigator.tui.text import one_line
from navigator.tui.widgets.bars import PaneTitle
from navigator.tui.widgets.comment import Comment
from navigator.tui.widgets.filter_input import EarlyKeys, FilterInput
from navigator.tui.widgets.line_list import LineList
from navigator.tui.widgets.pane import MainPane
from navigator.tui.widgets.place_list import PlaceList

T = TypeVar("T")


class PlacesPane(MainPane):
    """A title, an optional input, the list, and a comment on the selected place.

    Subclasses request their places in ``begin``, and again after typing.
    """

    NAME = "places"
    PLACEHOLDER: ClassVar = ""
    """Placeholder of the input; without it there is no input."""
    INVITATION: ClassVar = ""
    """Initial message of the list, if the input gets the focus."""

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
        self._question: Callable[[], object] | None = None
        """Needs an index, and is asked once there is one."""
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
        """Called when the list is mounted."""

    def typed(self) -> None:
        """Called when the input has changed."""

    def entered(self, text: str) -> None:
        """Called on Enter in the input."""
        self.typed()
        self.screen.set_focus(self.places)

    def subject(self) -> str:
        """The subject of a change here; empty for the line in source."""
        return ""

    def change(self) -> str:
        """The id of the change whose plan Enter opens; empty if Enter goes to the place."""
        return self.places.current.change if self.places.current else ""

    def goes_in(self) -> bool:
        """Enter a level of the list from the selected place; False if Enter opens the place."""
        return False

    def goes_out(self) -> bool:
        """Return a level within the list; False to leave it."""
        return False

    # ------------------------------------------------------------------------- showing

    def show_rows(self, rows: Sequence[PlaceRow], *, folded: bool = False) -> None:
        """Show these places; ``folded`` hides indented ones."""
        count = sum(row.location is not None and not row.depth for row in rows)
        self.query_one(PaneTitle).show(self.title, f"{count:,}" if count or not rows else "")
        self.places.show(rows, folded=folded)

    def show_message(self, text: str) -> None:
        """Show why there are no places, or none yet."""
        self.places.message = one_line(text)
        self.show_rows(())

    def wait(self, why: str, question: Callable[[], object]) -> None:
        """Show what is unknown without an index, and ask once there is one."""
        self._question = question
        self.show_message(f"{why}: {REASON}")

    def index_opened(self) -> None:
        """Ask the question that waits for an index."""
        question, self._question = self._question, None
        if question:
            question()

    def ask(self, question: Callable[[], T], then: Callable[[T], object]) -> None:
        """Run a question in a thread; errors are shown in the list."""
        ask(self, "places", question, then, self.failed)

    def failed(self, error: TorchnavError) -> None:
        """Called with the reason if there is no answer."""
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
        """The text of the input."""
        return self.filter.value.strip() if self.filter else ""

    def on_input_changed(self) -> None:
        self._soon(self.typed)

    def on_filter_input_chosen(self, message: FilterInput.Chosen) -> None:
        self._soon.cancel()
        self.entered(message.text)
