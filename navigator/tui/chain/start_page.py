"""The start page: what to type, where to continue, which keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import ClassVar

from rich.cells import cell_len
from textual.app import App
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget

from navigator.tui.context import Context
from navigator.tui.history import Visit
from navigator.tui.keys import Key, keys_of
from navigator.tui.text import one_line, short_symbol, shorten_path
from navigator.tui.widgets.line_list import LineList, Piece, cut, fill

_EXAMPLES = (
    ("conv2d  key:CUDA", "operators"),
    ("torch.nn.Linear", "Python names"),
    ("AddmmBackward0", "grad_fn names"),
    ("SoftMax.cu:1274", "places in source"),
    ("an error message", "the lines that say it"),
)
_HEADINGS: Sequence[tuple[str, Sequence[str]]] = (
    ("Keys (Escape leaves the filter)", ("help", "search", "find", "goto", "table")),
    ("Contribute", ("gaps", "affected", "new_operator")),
)
"""Ids of the keys to show."""
_PLACES = 5
_KEY = 4
"""The width of the keys."""


@dataclass(frozen=True, slots=True)
class StartRow:
    """A line of the page."""

    left: str
    right: str = ""
    style: str = ""
    run: Callable[[], object] | None = None
    """What Enter does; the cursor skips lines without it."""


class StartPage(LineList):
    """A list of lines, some with an action."""

    DEFAULT_CSS: ClassVar[str] = "StartPage { height: 1fr; display: none; }"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "out", "Close", show=False, id="start.out")
    ]

    class PlaceChosen(Message):
        """One of the last places was chosen."""

        def __init__(self, visit: Visit) -> None:
            super().__init__()
            self.visit = visit

    _rows: Sequence[StartRow] = ()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context

    def show(self, places: Sequence[Visit]) -> None:
        """Show the page with the last places, latest first."""
        self._rows = list(self._all(places))
        self.rows_changed()

    def _all(self, places: Sequence[Visit]) -> Iterator[StartRow]:
        yield StartRow("Type any name; letters filter the operators", style="head")
        yield from (StartRow(f"  {text}", what, "match") for text, what in _EXAMPLES)
        if places:
            yield StartRow("Last places", style="head")
        latest = dict.fromkeys(visit.whole for visit in reversed(places))
        for visit in islice(latest, _PLACES):
            go = partial(self.post_message, self.PlaceChosen(visit))
            where = one_line(f"{visit.path}:{visit.line}") if visit.path else ""
            yield StartRow(f"  {short_symbol(visit.title or visit.op or '')}", where, "strong", go)
        keys = self._keys()
        for heading, ids in _HEADINGS:
            yield StartRow(heading, style="head")
            yield from (self._of_key(*keys[one]) for one in ids if one in keys)
        yield StartRow("Record a program", style="head")
        yield StartRow("  torchnav trace script.py", "its operators, live", "match")

    def _keys(self) -> dict[str, tuple[Key, Callable[[str], object]]]:
        """The keys that work here, and the widgets with their actions."""
        found: dict[str, tuple[Key, Callable[[str], object]]] = {}
        for node in self.ancestors:
            if isinstance(node, (App, Widget)):
                for key in keys_of(type(node), self.context.config.keys):
                    found.setdefault(key.id, (key, node.run_action))
        return found

    def _of_key(self, key: Key, run: Callable[[str], object]) -> StartRow:
        name = key.keys[0] if key.keys else ""
        act = partial(self.call_later, run, key.action)
        return StartRow(f"  {name:<{_KEY}}{key.words}", run=act)

    # ------------------------------------------------------------------------- drawing

    @property
    def row_count(self) -> int:
        return len(self._rows)

    def can_rest(self, index: int) -> bool:
        return self._rows[index].run is not None

    def row(self, index: int, width: int) -> Iterable[Piece]:
        one = self._rows[index]
        left: list[Piece] = [(f" {one.left}", one.style)]
        room = width - cell_len(one.left) - 3
        if not one.right or room < len(one.right) // 2:
            return cut(left, width)
        return fill(left, [(f" {shorten_path(one.right, room)} ", "dim")], width)

    # --------------------------------------------------------------------------- moves

    def action_choose(self) -> None:
        if self._rows and (run := self._rows[self.cursor].run):
            run()

    def clicked(self, index: int, times: int) -> None:
        super().clicked(index, times)
        if self.can_rest(index) and times == 1:
            self.action_choose()
