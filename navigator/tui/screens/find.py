"""Search everything: operators, symbols, files."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.widgets import Input

from navigator.tui.config import Config
from navigator.tui.debounce import Debounce
from navigator.tui.messages import Found
from navigator.tui.place_rows import of_hit
from navigator.tui.screens.early_keys import EarlyKeys
from navigator.tui.screens.places import PlacesScreen
from navigator.tui.session import Session
from navigator.tui.type_ahead import TypeAhead
from navigator.tui.widgets.filter_input import FilterInput
from navigator.tui.widgets.place_list import PlaceList


class FindScreen(PlacesScreen, EarlyKeys):
    """Results while one types, with the source of the one under the cursor."""

    LIMIT: ClassVar[int] = 200

    def __init__(self, session: Session | None, config: Config, text: str = "") -> None:
        super().__init__(session, config, "find")
        self._text = text
        self._soon = Debounce(self, 0.05)
        self._ahead = TypeAhead(self._find, self.action_open)

    def compose_input(self) -> ComposeResult:
        yield FilterInput(
            self._text, placeholder="operator, C++ symbol, macro, file …", target=PlaceList
        )

    def focus_first(self) -> None:
        self.places.message = "type to search operators, symbols and files"
        self.begin_in(self.query_one(FilterInput))

    def on_input_changed(self, event: Input.Changed) -> None:
        text = event.value.strip()
        self._soon(lambda: self._find(text))

    def on_input_submitted(self) -> None:
        self.action_choose()

    def action_choose(self) -> None:
        line = self.query_one(FilterInput)
        line.call_later(lambda: self._ahead.enter(line.value.strip()))

    def _find(self, text: str) -> None:
        session = self.session
        if not text:
            self.show_rows(())
            self._ahead.answered(text)
        elif session is not None:
            self.ask("find", lambda: Found(text, session.index.find(text, limit=self.LIMIT)))

    def on_found(self, message: Found) -> None:
        self.places.message = f"nothing is called {message.text}"
        self.show_rows([of_hit(hit) for hit in message.hits])
        self._ahead.answered(message.text)

    def action_search(self) -> None:
        if self.is_in_source:
            super().action_search()
        else:
            self.set_focus(self.query_one(FilterInput))
