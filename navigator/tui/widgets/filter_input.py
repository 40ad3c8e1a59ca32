"""An input above a list: letters filter, arrows move in the list."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from navigator.tui.widgets.line_list import LineList

ENTER = ("enter", "ctrl+j")
"""Enter, and what it is while a terminal is not ours yet."""


class FilterInput(Input):
    """One line without a border."""

    DEFAULT_CSS: ClassVar[str] = """
    FilterInput {
        height: 1;
        border: none;
        padding: 0 1;
        background: $surface;
        &:focus { border: none; background: $surface; }
        &:ansi { background: ansi_default; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(ENTER), "screen.choose", "Choose", id="filter.choose", priority=True),
        Binding("down", "list_move(1)", "Down", id="filter.down"),
        Binding("up", "list_move(-1)", "Up", id="filter.up"),
        Binding("pagedown", "list_page(1)", "Page down", show=False, id="filter.page_down"),
        Binding("pageup", "list_page(-1)", "Page up", show=False, id="filter.page_up"),
    ]

    def __init__(self, value: str = "", *, placeholder: str, target: type[LineList]) -> None:
        super().__init__(value, placeholder=placeholder, select_on_focus=False)
        self._target = target

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """No name holds a question mark, so it stays the key for help."""
        return character != "?" and super().check_consume_key(key, character)

    def action_list_move(self, by: int) -> None:
        self._list.action_move(by)

    def action_list_page(self, pages: float) -> None:
        self._list.action_page(pages)

    @property
    def _list(self) -> LineList:
        return self.screen.query_one(self._target)
