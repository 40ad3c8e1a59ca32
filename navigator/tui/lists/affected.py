"""What uncommitted work, or a range of commits, changes and reaches."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.model.errors import TorchnavError
from indexes.model.impact import Affected
from indexes.queries.impact.affected import affected
from navigator.tui.context import Context
from navigator.tui.impact_rows import change_rows, reached_rows, test_rows
from navigator.tui.lists.checklist import CommandsPane
from navigator.tui.place_rows import PlaceRow
from navigator.tui.processes.preview import REASON
from navigator.tui.text import one_line


class AffectedPane(CommandsPane):
    """At first uncommitted work; the line above the list takes a commit or ``A..B``."""

    PLACEHOLDER = "/ for since HEAD~3, or v2.6.0..v2.7.0; empty: uncommitted work"

    _asked: str | None = None

    def __init__(self, context: Context) -> None:
        super().__init__(context, "affected")

    def begin(self) -> None:
        self._ask_for("")

    def entered(self, text: str) -> None:
        if text != self._asked:
            self._ask_for(text)
        self.screen.set_focus(self.places)

    def _ask_for(self, commits: str) -> None:
        index = self.context.index
        if index is None:
            self.show_message(f"nothing can be followed: {REASON}")
            return
        self._asked = commits
        what = one_line(commits) if commits else "uncommitted work"
        self.show_message(f"following {what} …")
        self.ask(lambda: affected(index, commits or None), self._show)

    def _show(self, found: Affected) -> None:
        self.places.message = "no changes"
        self.show_rows(list(self._rows_of(found)), folded=True)

    def _rows_of(self, found: Affected) -> Iterator[PlaceRow]:
        yield from change_rows(found)
        if found.checks:
            yield PlaceRow(f"Documentation: commands that build and check it ({len(found.checks)})")
        for check in found.checks:
            row = PlaceRow(check.command, check.location, check.purpose, comment=check.note)
            yield self.with_command(row, check.command)
        if found.changes:
            yield from reached_rows(found.impact)
            for row, command in test_rows(found.impact):
                yield self.with_command(row, command)

    def failed(self, error: TorchnavError) -> None:
        self._asked = None
        super().failed(error)
