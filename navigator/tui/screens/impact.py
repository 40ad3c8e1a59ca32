"""Who uses a place, and what is reached if it changes: each operator with the way to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.message import Message

from indexes.model.impact import Impact
from navigator.tui.config import Config
from navigator.tui.impact_rows import reached_rows, test_rows, uses_rows
from navigator.tui.place_rows import PlaceRow
from navigator.tui.processes.preview import REASON
from navigator.tui.screens.commands import CommandsScreen
from navigator.tui.session import Session

if TYPE_CHECKING:
    from indexes.queries.impact.answers import Impacts


class ImpactLoaded(Message):
    """An impact, first without its tests, then with them."""

    def __init__(self, callers: Impact, found: Impact, whole: bool) -> None:
        super().__init__()
        self.callers = callers
        self.found = found
        self.whole = whole


class ImpactScreen(CommandsScreen):
    """The uses of one subject, the operators that it reaches, Python names and tests."""

    _impacts: Impacts | None = None

    def __init__(self, session: Session, config: Config, subject: str) -> None:
        super().__init__(session, config, f"impact: {subject}")
        self._subject = subject

    def on_mount(self) -> None:
        from indexes.queries.index import Index

        super().on_mount()
        index = self.session.index if self.session else None
        if not isinstance(index, Index):
            self.places.message = f"nothing can be followed: {REASON}"
            return
        self.places.message = "looking for uses, and for what they lead to …"
        from indexes.queries.impact.answers import Impacts

        self._impacts = Impacts(index)
        self.ask("impact", self._first)

    def _first(self) -> ImpactLoaded:
        assert self._impacts is not None
        callers = self._impacts.callers(self._subject)
        return ImpactLoaded(callers, self._impacts.impact(self._subject, tests=False), False)

    def on_impact_loaded(self, message: ImpactLoaded) -> None:
        at, impacts = self.places.cursor, self._impacts
        self.places.message = ""
        rows = [*uses_rows(message.callers), *reached_rows(message.found), *self._tests(message)]
        self.show_rows(rows, folded=True)
        self.places.cursor = min(at, max(len(rows) - 1, 0))
        if not message.whole and impacts is not None:
            callers, found = message.callers, message.found
            self.ask("impact", lambda: ImpactLoaded(callers, impacts.with_tests(found), True))

    def on_failed(self, message: Message) -> None:
        self.places.message = "nothing is known about this place"
        super().on_failed(message)  # type: ignore[arg-type]

    def _tests(self, message: ImpactLoaded) -> Iterator[PlaceRow]:
        if not message.whole:
            yield PlaceRow("Tests: looking …")
            return
        for row, command in test_rows(message.found):
            yield self.with_command(row, command)
