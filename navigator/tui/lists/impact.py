"""Who uses a place, and what is reached if it changes: each operator with the way to it."""

from __future__ import annotations

from indexes.model.errors import TorchnavError
from indexes.model.impact import Impact
from indexes.queries.impact.answers import Impacts
from navigator.tui.asking import complain
from navigator.tui.context import Context
from navigator.tui.impact_rows import reached_rows, test_rows, uses_rows
from navigator.tui.lists.checklist import CommandsPane
from navigator.tui.place_rows import PlaceRow
from navigator.tui.processes.preview import REASON


class ImpactPane(CommandsPane):
    """The uses of one subject, the operators that it reaches, Python names and tests."""

    def __init__(self, context: Context, subject: str) -> None:
        super().__init__(context, f"impact: {subject}")
        self._subject = subject

    def begin(self) -> None:
        index, subject = self.context.index, self._subject
        if index is None:
            self.show_message(f"nothing can be followed: {REASON}")
            return
        self.show_message("following its uses …")
        impacts = Impacts(index)
        self.ask(
            lambda: (impacts.callers(subject), impacts.impact(subject, tests=False)),
            lambda found: self._show_first(impacts, *found),
        )

    def _show_first(self, impacts: Impacts, callers: Impact, found: Impact) -> None:
        """All but the tests, which take longest."""
        known = [*uses_rows(callers), *reached_rows(found)]
        self._show([*known, PlaceRow("Tests: looking …")])
        self.ask(
            lambda: impacts.with_tests(found),
            lambda whole: self._show(
                [*known, *(self.with_command(*pair) for pair in test_rows(whole))]
            ),
        )

    def _show(self, rows: list[PlaceRow]) -> None:
        at = self.places.cursor
        self.places.message = ""
        self.show_rows(rows, folded=True)
        self.places.cursor = min(at, max(len(rows) - 1, 0))

    def failed(self, error: TorchnavError) -> None:
        self.places.message = "nothing is indexed at this place"
        complain(self, str(error))
