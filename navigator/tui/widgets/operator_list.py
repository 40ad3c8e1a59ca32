"""The list of operators, or of the meanings of another name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rich.cells import cell_len

from indexes.model.vocabulary import OperatorSummary
from navigator.tui.place_rows import PlaceRow
from navigator.tui.text import clean, one_line, place, short_symbol, shorten, shorten_start
from navigator.tui.widgets.line_list import LineList, Piece, fill

DEVICES = ("CPU", "CUDA", "MPS", "XPU", "Meta")
"""The keys to show in a narrow list."""


class OperatorList(LineList):
    """Operators with the devices they run on, including through called operators."""

    _operators: Sequence[OperatorSummary] = ()
    _places: Sequence[PlaceRow] = ()
    """Places shown instead of operators."""
    _needles: tuple[str, ...] = ()

    def __init__(
        self, follow: Callable[[str], None], follow_place: Callable[[PlaceRow], None]
    ) -> None:
        """``follow`` is called with the selected operator, ``follow_place`` with the selected
        place, at once: the next key may already refer to it, so that a message would be late."""
        super().__init__()
        self._follow = follow
        self._follow_place = follow_place

    @property
    def row_count(self) -> int:
        return len(self._operators or self._places)

    @property
    def current(self) -> OperatorSummary | None:
        """The operator under the cursor."""
        return self._operators[self.cursor] if self.cursor < len(self._operators) else None

    def show(self, operators: Sequence[OperatorSummary], filter_text: str = "") -> None:
        """Show these operators, with the words of the filter highlighted."""
        self._operators, self._places = operators, ()
        words = filter_text.lower().split()
        self._needles = tuple(word for word in words if ":" not in word.replace("::", ""))
        self.rows_changed()

    @property
    def place(self) -> PlaceRow | None:
        """The selected place, if places are shown."""
        return self._places[self.cursor] if self.cursor < len(self._places) else None

    def show_places(self, places: Sequence[PlaceRow]) -> None:
        """Show the meanings of a name that is not an operator."""
        self._operators, self._places, self._needles = (), places, ()
        self.rows_changed()

    def can_rest(self, index: int) -> bool:
        return not self._places or not _is_heading(self._places[index])

    def moved(self) -> None:
        if self.current is not None:
            self._follow(self.current.full_name)
        elif self.place is not None:
            self._follow_place(self.place)

    def select(self, full_name: str) -> bool:
        """Put the cursor on an operator; False if it is not shown."""
        for row, operator in enumerate(self._operators):
            if operator.full_name == full_name:
                self.move_to(row)
                return True
        return False

    def around(self) -> list[str]:
        """The neighbours of the selected operator, likely ones first."""
        rows = (self.cursor + by for by in (1, 2, -1, 3))
        count = len(self._operators)
        return [self._operators[row].full_name for row in rows if 0 <= row < count]

    def row(self, index: int, width: int) -> Iterable[Piece]:
        if self._places:
            return _place_pieces(self._places[index], width)
        operator = self._operators[index]
        right = _badges(operator, width - len(operator.full_name) - 3)
        return fill([(" ", ""), *self._name_pieces(operator.full_name)], [*right, (" ", "")], width)

    def _name_pieces(self, full_name: str) -> list[Piece]:
        base, dot, overload = clean(full_name).partition(".")
        pieces = _marked(base, self._needles, "strong")
        return [*pieces, *_marked(dot + overload, self._needles, "dim")] if dot else pieces


def _is_heading(row: PlaceRow) -> bool:
    return row.location is None and row.op is None


def _place_pieces(row: PlaceRow, width: int) -> list[Piece]:
    """The name of a place and, if it fits, its kind."""
    if _is_heading(row):
        return fill([(f" {row.name}", "warn")], [], width)
    name, kind = _name(row), one_line(row.kind)
    right = [(f" {kind} ", "name")] if cell_len(name) + cell_len(kind) + 3 <= width else []
    return fill([(" ", ""), (shorten_start(name, width - 1), "strong")], right, width)


def _name(row: PlaceRow) -> str:
    """A name; for functions only the last part."""
    if row.kind == "file" and row.location is not None:
        return place(row.location)
    return short_symbol(row.name) if "::" in row.name else one_line(row.name)


def _marked(text: str, needles: tuple[str, ...], style: str) -> list[Piece]:
    """``text`` with the first needle in it highlighted."""
    for needle in needles:
        start = text.lower().find(needle)
        if start >= 0:
            end = start + len(needle)
            parts = [(text[:start], style), (text[start:end], "match"), (text[end:], style)]
            return [part for part in parts if part[0]]
    return [(text, style)]


def _badges(operator: OperatorSummary, width: int) -> list[Piece]:
    """Facts about an operator in ``width`` cells: devices, and ∂ for a derivative."""
    mark = "∂" if operator.has_derivative or operator.differentiable else " "
    devices = DEVICES if width > 18 else DEVICES[:2]
    runs = {*operator.keys, *operator.devices}
    words = [key for key in devices if key in runs] or [operator.kind]
    text = shorten_words(words, width - 2)
    if len(words) > 1 and text == words[0]:
        text = ""  # one of several would look like the only one
    return [(f"{text} " if text else "", "faint"), (mark, "good")] if width > 0 else []


def shorten_words(words: Sequence[str], width: int) -> str:
    """The first whole words that fit."""
    text = ""
    for word in words:
        longer = f"{text} {word}" if text else word
        if len(longer) > width:
            return text or shorten(word, width if width > 3 else 0)
        text = longer
    return text
