"""The card of an operator as a list: devices, gradient, Python names, tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from indexes.model.answers import Card, CardLine
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from navigator.text.answers import CardRow, card_line_rows, wrap
from navigator.tui.text import one_line
from navigator.tui.widgets.line_list import LineList, Piece, cut

DIGITS = {"1": "CPU", "2": "CUDA", "3": "MPS", "4": "Gradient", "5": "Python", "6": "Tests"}
"""The label of each digit, the same for all operators."""
_LABEL = 9
_MARGIN = 3
"""The width of the digit."""
_FEW_ROWS = 32
"""Minimum height of the terminal for lines of several rows."""
_FLAGS = regex(r"whole chain: --chain(?: · )?|: callers| · --key .*")
"""The command line's hint about more lines, replaced by keys."""
_KEYS = "d dispatch table · I impact · c contribute"


class CardView(LineList):
    """The lines of a card, each with its digit."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "choose", "Follow", show=False, id="card.follow"),
        Binding("left,h", "out", "Close", show=False, id="card.out"),
    ]

    class LineSelected(Message):
        """The cursor is on another line; None for the schema."""

        def __init__(self, line: CardLine | None) -> None:
            super().__init__()
            self.line = line

    class EndPassed(Message):
        """The cursor moved down from the last line."""

    card: Card | None = None
    _rows: Sequence[CardRow] = ()
    _ran: Collection[str] = ()

    # ------------------------------------------------------------------------ content

    def show(self, card: Card | None, *, keep: bool = False) -> None:
        """Show a card with the cursor on its schema, or ``keep`` it on its line."""
        label = self.line.label if keep and self.line else None
        self.card = card
        self._fit(label)

    def mark_ran(self, labels: Collection[str]) -> None:
        """Mark the devices on which a call ran."""
        self._ran = labels
        self.refresh()

    def _fit(self, label: str | None) -> None:
        """Wrap rows to the view's width, with the cursor on a line."""
        self._rows = list(self._rows_of(self.card)) if self.card else []
        self.styles.height = len(self._rows)
        self.rows_changed(self._row_of(label))

    def _rows_of(self, card: Card) -> Iterable[CardRow]:
        most = 1 if self.app.size.height < _FEW_ROWS else 2
        schema = wrap(card.schema, "", self.size.width - 2) if most > 1 else [one_line(card.schema)]
        yield from (CardRow(None, text) for text in islice(schema, most))
        room = max(20, self.size.width - _LABEL - _MARGIN - 1)
        for line in card.lines:
            shown = replace(line, text=_with_keys(line.text)) if line.label == "more" else line
            yield from card_line_rows(shown, room, most)

    def _row_of(self, label: str | None) -> int:
        labels = [row.line.label if row.line else None for row in self._rows]
        return labels.index(label) if label in labels else 0

    def on_resize(self) -> None:
        self._fit(self.line.label if self.line else None)

    @property
    def row_count(self) -> int:
        return len(self._rows)

    @property
    def line(self) -> CardLine | None:
        """The line under the cursor; None for the schema."""
        return self._rows[self.cursor].line if self._rows else None

    @property
    def location(self) -> Location | None:
        """The place of the line under the cursor."""
        line = self.line
        if line is not None:
            return line.location
        return self.card.location if self.card else None

    def select(self, key: str) -> bool:
        """Put the cursor on the line with a digit; False if there is none."""
        keys = [row.line.key if row.line else "" for row in self._rows]
        if key in keys:
            self.move_to(keys.index(key))
        return key in keys

    # ------------------------------------------------------------------------ drawing

    def row(self, index: int, width: int) -> Iterable[Piece]:
        row = self._rows[index]
        parts: list[Piece] = [(one_line(row.place), "dim"), (one_line(row.note), "faint")]
        if row.line is None:
            return cut([(" ", ""), (row.text, "name")], width)
        text: Piece = (one_line(row.text), "strong" if row.line.key else "")
        sides = [part for part in (text, *parts) if part[0]]
        spaced = [piece for part in sides for piece in (("  ", ""), part)][1:]
        return cut([*self._label(index, row.line), *spaced], width)

    def _label(self, index: int, line: CardLine) -> list[Piece]:
        if not self.can_rest(index):
            return [(" " * (_MARGIN + _LABEL), "")]
        mark: Piece = ("▶", "good") if line.label in self._ran else (" ", "")
        return [mark, (f"{line.key or ' '} ", "match"), (f"{line.label} ".ljust(_LABEL), "head")]

    def can_rest(self, index: int) -> bool:
        """On the first row of a line."""
        return index == 0 or self._rows[index].line is not self._rows[index - 1].line

    def has_cursor(self, row: int) -> bool:
        return self._rows[row].line is self.line

    # -------------------------------------------------------------------------- moves

    def announce(self) -> None:
        """Post the line under the cursor."""
        self.post_message(self.LineSelected(self.line))

    def watch_cursor(self, old: int, new: int) -> None:
        super().watch_cursor(old, new)
        self.refresh()
        self.announce()

    def action_move(self, by: int) -> None:
        """Moves on to the widget below from the last line."""
        at = self.cursor
        super().action_move(by)
        if by > 0 and self.cursor <= at:
            self.move_to(at)
            self.post_message(self.EndPassed())


def _with_keys(text: str) -> str:
    """A card's last line with the screen's keys."""
    return " · ".join(filter(None, (_FLAGS.sub("", text), _KEYS)))
