"""Enter means what was typed, also when the answer to the last letters is still on its way."""

from __future__ import annotations

from collections.abc import Callable


class TypeAhead:
    """Puts off a choice until the answer to the whole text is there."""

    def __init__(self, ask: Callable[[str], None], choose: Callable[[], None]) -> None:
        self._ask = ask
        self._choose = choose
        self._answered = ""
        self._wanted: str | None = None

    def enter(self, text: str) -> None:
        """The reader chose, with ``text`` in the input."""
        if text == self._answered:
            self._choose()
        else:
            self._wanted = text
            self._ask(text)

    def answered(self, text: str) -> None:
        """The rows for ``text`` are on screen."""
        self._answered = text
        if self._wanted == text:
            self._wanted = None
            self._choose()
