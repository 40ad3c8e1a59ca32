"""Search everything: operators, symbols, files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from indexes.model.answers import Hit
from navigator.tui.context import Context
from navigator.tui.lists.places_pane import PlacesPane
from navigator.tui.place_rows import of_hit
from navigator.tui.type_ahead import TypeAhead


class FindPane(PlacesPane):
    """Results while one types, with the source of the one under the cursor."""

    LIMIT: ClassVar[int] = 200
    PLACEHOLDER = "operator, C++ symbol, macro, file …"
    INVITATION = "type to search operators, symbols and files"

    def __init__(self, context: Context) -> None:
        super().__init__(context, "find")
        self._ahead = TypeAhead(self._find, self._open)

    def typed(self) -> None:
        self._find(self.text)

    def entered(self, text: str) -> None:
        self._ahead.enter(text)

    def _open(self) -> None:
        self.post_message(self.Chosen())

    def _find(self, text: str) -> None:
        session = self.context.session
        if not text:
            self.show_rows(())
            self._ahead.answered(text)
        elif session is not None:
            self.ask(
                lambda: session.index.find(text, limit=self.LIMIT),
                lambda hits: self._found(text, hits),
            )

    def _found(self, text: str, hits: Sequence[Hit]) -> None:
        self.places.message = f"nothing is named {text}"
        self.show_rows([of_hit(hit) for hit in hits])
        self._ahead.answered(text)
