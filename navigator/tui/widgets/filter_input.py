"""The input above a list: letters filter, arrows move in the list."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from indexes.queries.pasted import pasted
from navigator.tui.text import one_line
from navigator.tui.widgets.line_list import LineList

ENTER = ("enter", "ctrl+j")
"""Enter, under both of its names: before a terminal is in raw mode it arrives as ctrl+j."""
_EDITS = {
    key: binding.action
    for binding in Binding.make_bindings(Input.BINDINGS)
    if binding.action.startswith(("delete_", "cursor_"))
    for key in binding.key.split(",")
}
"""Textual's editing keys and their actions."""


class EarlyKeys:
    """Buffers keys until the first input exists; screens have it as ``early_keys``."""

    def __init__(self) -> None:
        self._keys: list[events.Key] | None = []

    def take(self, event: events.Key) -> bool:
        """Whether to keep a key for the input."""
        is_text = event.is_printable or event.key in (*ENTER, "backspace")
        if self._keys is None or not is_text:
            return False
        self._keys.append(event)
        return True

    def begin_in(self, line: Input) -> None:
        """Passes the buffered keys to the input."""
        keys, self._keys = self._keys or [], None
        line.screen.set_focus(line)
        for event in keys:
            line.app.post_message(events.Key(event.key, event.character))


class FilterInput(Input):
    """A one-line input without a border."""

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
        Binding(",".join(ENTER), "choose", "Choose", id="filter.choose", priority=True),
        Binding("down", "list_move(1)", "Down", id="filter.down"),
        Binding("up", "list_move(-1)", "Up", id="filter.up"),
        Binding("pagedown", "list_page(1)", "Page down", show=False, id="filter.page_down"),
        Binding("pageup", "list_page(-1)", "Page up", show=False, id="filter.page_up"),
    ]

    class Chosen(Message):
        """Enter was pressed, after all letters have been processed."""

        def __init__(self, line: FilterInput) -> None:
            super().__init__()
            self.line = line
            self.text = line.value.strip()

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str,
        target: type[LineList],
        at_once: Callable[[], object] | None = None,
    ) -> None:
        """``at_once`` is called by Enter itself, when letters may still be pending."""
        super().__init__(value, placeholder=placeholder, select_on_focus=False)
        self._target = target
        self._at_once = at_once

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Question marks are in no name and stay the help key."""
        return character != "?" and super().check_consume_key(key, character)

    async def on_key(self, event: events.Key) -> None:
        """Runs editing keys here, in typing order: as app bindings, letters would overtake them. A
        slash, in no name, focuses a filter."""
        action = _EDITS.get(event.key)
        if action or (event.character == "/" and not self.value):
            event.prevent_default()
            event.stop()
        if action:
            await self.run_action(action)

    def on_paste(self, event: events.Paste) -> None:
        """Of several pasted lines, takes the error's line instead of the first one."""
        if "\n" in event.text.strip():
            event.prevent_default()
            event.stop()
            self.insert_text_at_cursor(one_line(pasted(event.text).line))

    def action_choose(self) -> None:
        if self._at_once is not None:
            self._at_once()
        self.call_later(lambda: self.post_message(self.Chosen(self)))

    def action_list_move(self, by: int) -> None:
        self._list.action_move(by)

    def action_list_page(self, pages: float) -> None:
        self._list.action_page(pages)

    def action_home(self, select: bool = False) -> None:
        """Go to the start of the text or, if it is empty, of the list."""
        if self.value:
            super().action_home(select)
        else:
            self._list.action_first()

    def action_end(self, select: bool = False) -> None:
        """Go to the end of the text or, if it is empty, of the list."""
        if self.value:
            super().action_end(select)
        else:
            self._list.action_last()

    @property
    def _list(self) -> LineList:
        return self.screen.query_one(self._target)
