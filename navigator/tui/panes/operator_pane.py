"""The list of operators and its filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message

from indexes.model.regex import regex
from indexes.model.vocabulary import OperatorSummary
from indexes.queries.naming.near import near
from navigator.tui.background import ask
from navigator.tui.chain.chain_pane import ChainPane
from navigator.tui.context import Context
from navigator.tui.debounce import Pause
from navigator.tui.history import Visit
from navigator.tui.place_rows import Named, PlaceRow, named, of_summary
from navigator.tui.session import Session
from navigator.tui.text import one_line, place
from navigator.tui.widgets.bars import Bar
from navigator.tui.widgets.filter_input import FilterInput
from navigator.tui.widgets.operator_list import OperatorList
from navigator.tui.widgets.pane import MainPane

_TERM = regex(r"(?:no|has|key|file|tag|kind|module|name|schema|ns):")
"""Filter terms, which are not names."""
_LETTERS = "operators with these letters"
_PAUSE_S = 0.15
"""Seconds after the last key before an unknown name is looked up: partial names are as expensive as
whole ones."""
_SAID = ("error", "warning")
_FITTING = 50
"""Number of operators shown below other matches for the word."""


def _near_keys(session: Session, text: str) -> str:
    """Dispatch keys similar to the one in ``key:CUDAA``."""
    keys = {key for op in session.index.operators() for key in (*op.keys, *op.devices)}
    words = [word.partition(":")[2] for word in text.split() if word.startswith("key:")]
    found = dict.fromkeys(name for word in words for name in near(word, sorted(keys), 3))
    return f"; keys: {', '.join(found)}" if found else ""


def _only_letters(text: str, found: Sequence[OperatorSummary]) -> bool:
    """Whether operators match by scattered letters only, and none has the words in its name."""
    words = [word for word in text.split() if not _TERM.match(word)]
    return bool(words) and not any(
        all(_has(word, one.full_name) for word in words) for one in found
    )


def _has(word: str, name: str) -> bool:
    """Whether a name contains a word; capitals in the word must match."""
    return word in name if word.isupper() else word.lower() in name.lower()


def _words(row: PlaceRow, note: str) -> str:
    """Details of a place, since a narrow list shows no source."""
    where = place(row.location) if row.location else ""
    lines = (note, row.kind, where, row.detail, "Enter opens it")
    return "\n".join(one_line(line) for line in lines if line)


class Count(Bar):
    """The number of operators, and of those that match. Of constant width, as a change would lay
    out the whole screen for every key."""

    DEFAULT_CSS: ClassVar[str] = "Count { color: $text-muted; padding: 0 1; width: 0; }"

    _text = ""

    def show(self, left: int, total: int) -> None:
        """Show the number that match, and the total."""
        self._text = f"{total:,}" if left == total else f"{left:,}/{total:,}"
        self.styles.width = len(f"{total:,}/{total:,}") + 2
        self.refresh()

    def render(self) -> Content:
        return Content(self._text.rjust(self.size.width))


class OperatorPane(MainPane):
    """The filter above the list."""

    NAME = "operators"

    DEFAULT_CSS: ClassVar[str] = """
    OperatorPane {
        #filter-line { height: 1; background: $surface; }
        #filter-line:ansi { background: ansi_default; }
        FilterInput { width: 1fr; }
        OperatorList { height: 1fr; }
    }
    """

    def __init__(self, context: Context, chain: ChainPane) -> None:
        """``chain`` shows the chain of the selected operator."""
        super().__init__()
        self.context = context
        self._chain = chain
        self._soon = Pause(self, _PAUSE_S)

    def compose(self) -> ComposeResult:
        with Horizontal(id="filter-line"):
            yield FilterInput(
                placeholder="filter operators", target=OperatorList, at_once=self._choose
            )
            yield Count()
        yield OperatorList(self._chain.follow, self._follow_place)

    def on_mount(self) -> None:
        self._chain.next_ops = self.list.around

    @property
    def filter(self) -> FilterInput:
        return self.query_one(FilterInput)

    @property
    def list(self) -> OperatorList:
        return self.query_one(OperatorList)

    # -------------------------------------------------------------------------- filter

    class PlaceChosen(Message):
        """Open the meaning of a name that is not an operator."""

        def __init__(self, row: PlaceRow) -> None:
            super().__init__()
            self.row = row

    class Emptied(Message):
        """The filter was cleared while the meaning of another name was shown."""

    _filtered: str | None = None
    """The filter of the shown operators; None at first."""
    _named: str | None = None
    """The name whose meaning is shown instead."""
    _entered: str | None = None
    """The name whose meaning will be opened when it is known."""

    def refill(self, *, follow: bool = True) -> None:
        """Show the operators that match the filter. A thread would take longer.

        ``follow``: whether to show the first one's chain too.
        """
        session, text = self.context.session, self.filter.value.strip()
        if session is None:
            return
        before, self._filtered = self._filtered, text
        is_other = text != before
        found = session.index.filter(text)
        self.query_one(Count).show(len(found), len(session.index.operators()))
        if not found and text:
            self._ask_meaning(session, text)
            return
        self._named = None
        self.list.show(found, text)
        current = self.list.current
        if text and is_other and follow and current is not None:
            self._chain.follow(current.full_name)
        elif self._chain.op is not None:
            self.list.select(self._chain.op)
        elif before and not text:
            self.post_message(self.Emptied())
        if is_other and _only_letters(text, found):
            self._ask_meaning(session, text, found)

    def on_input_changed(self) -> None:
        self.refill()

    def _choose(self) -> None:
        """Enter the chain; the filter may not have received the last letters yet."""
        if self._chain.is_start and self.list.current is not None:
            self._chain.follow(self.list.current.full_name)
        self.screen.set_focus(self._chain.entrance)
        self._chain.is_chosen = False

    def on_filter_input_chosen(self, message: FilterInput.Chosen) -> None:
        if message.text != self._filtered:
            self.refill()  # the input's change message is still pending
        self._chain.is_chosen = True
        if self._filtered and self.list.current is None:
            self._entered = self._filtered
            self._open_entered()

    # -------------------------------------------------------- names that are no operator's

    def _ask_meaning(
        self, session: Session, text: str, fitting: Sequence[OperatorSummary] = ()
    ) -> None:
        """Show what a name means that no operator matches, or only by letters."""
        if any(map(_TERM.match, text.split())):
            self._show_meaning(
                text, Named([], f"no operator matches {text}{_near_keys(session, text)}")
            )
        elif self._named != text:
            if not fitting:
                self.list.message = "…"
                self.list.show_places(())
                self._chain.show_message(text, f"looking for {one_line(text)} …")
            self._soon(lambda: self._ask_now(session, text, fitting))

    def _ask_now(self, session: Session, text: str, fitting: Sequence[OperatorSummary]) -> None:
        ask(
            self,
            "named",
            lambda: named(session, text),
            lambda one: self._show_named(text, one, fitting),
        )

    def _show_named(self, text: str, found: Named, fitting: Sequence[OperatorSummary]) -> None:
        if text != self._filtered:
            return
        if not fitting:
            self._show_meaning(text, found)
        elif found.rows and not found.is_near and self.filter.has_focus:
            below = [PlaceRow(_LETTERS), *map(of_summary, fitting[:_FITTING])]
            self._show_meaning(text, Named([*found.rows, *below], found.note, found.heading))

    def _show_meaning(self, text: str, found: Named) -> None:
        self._named = text
        self.list.message = found.note if not found.rows else ""
        above = [PlaceRow(found.heading)] if found.heading else []
        self.list.show_places([*above, *found.rows])
        if self.list.place is None:
            self._chain.show_message(text, found.note)
            self._chain.post_message(ChainPane.Followed(Visit(title=text), ""))
        elif self._entered != text:  # opening it will show its place
            self._follow_place(self.list.place, found.note)
        self._open_entered()

    def _follow_place(self, row: PlaceRow, note: str = "") -> None:
        """Show a row's operator, or else its source or the line that raises it."""
        if row.op is not None and row.kind not in _SAID:
            self._chain.follow(row.op)
        else:
            self._chain.show_place(row.visit, _words(row, note))

    def _open_entered(self) -> None:
        """Open the entered name as soon as its meaning is known."""
        if self._entered is not None and self._entered == self._named:
            self._entered, row = None, self.list.place
            if row is not None:
                self.post_message(self.PlaceChosen(row))
