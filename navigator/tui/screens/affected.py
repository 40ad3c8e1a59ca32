"""What uncommitted work, or a range of commits, changes and reaches."""

from __future__ import annotations

from collections.abc import Iterator

from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Input

from indexes.model.impact import Affected
from navigator.tui.config import Config
from navigator.tui.impact_rows import change_rows, reached_rows, test_rows
from navigator.tui.messages import Failed
from navigator.tui.place_rows import PlaceRow
from navigator.tui.processes.preview import REASON
from navigator.tui.screens.commands import CommandsScreen
from navigator.tui.session import Session
from navigator.tui.text import one_line
from navigator.tui.widgets.filter_input import FilterInput
from navigator.tui.widgets.place_list import PlaceList

_ABOUT = "affected"


class AffectedLoaded(Message):
    """What is affected, and by which commits."""

    def __init__(self, commits: str, found: Affected) -> None:
        super().__init__()
        self.commits = commits
        self.found = found


class AffectedScreen(CommandsScreen):
    """At first uncommitted work; the line above the list takes a commit or ``A..B``."""

    _asked: str | None = None

    def __init__(self, session: Session, config: Config) -> None:
        super().__init__(session, config, "affected")

    def compose_input(self) -> ComposeResult:
        yield FilterInput(
            placeholder="/ for since HEAD~3, or v2.6.0..v2.7.0; empty: uncommitted work",
            target=PlaceList,
        )

    def on_mount(self) -> None:
        super().on_mount()
        self._ask_for("")

    def _ask_for(self, commits: str) -> None:
        from indexes.queries.index import Index

        index = self.session.index if self.session else None
        if not isinstance(index, Index):
            self.places.message = f"nothing can be followed: {REASON}"
            return
        self._asked = commits
        what = one_line(commits) if commits else "uncommitted work"
        self.places.message = f"looking at {what}, and for what it leads to …"
        self.show_rows(())
        from indexes.queries.impact.affected import affected

        self.ask(_ABOUT, lambda: AffectedLoaded(commits, affected(index, commits or None)))

    def on_affected_loaded(self, message: AffectedLoaded) -> None:
        if message.commits == self._asked:
            self.places.message = "nothing differs"
            self.show_rows(list(self._rows_of(message.found)), folded=True)

    def _rows_of(self, found: Affected) -> Iterator[PlaceRow]:
        yield from change_rows(found)
        if found.changes:
            yield from reached_rows(found.impact)
            for row, command in test_rows(found.impact):
                yield self.with_command(row, command)

    def on_failed(self, message: Failed) -> None:
        if message.about == _ABOUT:
            self._asked = None
            self.places.message = one_line(str(message.error))
            self.show_rows(())
        else:
            super().on_failed(message)

    def action_choose(self) -> None:
        # Keys that were typed before this one may still be on their way into the line.
        self.query_one(FilterInput).call_later(self._choose)

    def _choose(self) -> None:
        commits = self.query_one(FilterInput).value.strip()
        if commits != self._asked:
            self._ask_for(commits)
        self.set_focus(self.places)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.action_choose()

    def action_search(self) -> None:
        if self.is_in_source:
            super().action_search()
        else:
            self.set_focus(self.query_one(FilterInput))
