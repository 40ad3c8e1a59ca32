"""What a change of an operator, a file or a function asks for, beside the source."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.message import Message

from navigator.text.contribution import markdown_lines, sections
from navigator.tui.config import Config
from navigator.tui.processes.preview import REASON
from navigator.tui.screens.commands import SectionsScreen
from navigator.tui.session import Session

if TYPE_CHECKING:
    from indexes.queries.contribution.plan import Contribution, Contributions

_HISTORIES = 4
"""Of how many places the last changes are shown."""


class ContributionLoaded(Message):
    """A contribution, prepared."""

    def __init__(self, found: Contribution) -> None:
        super().__init__()
        self.found = found


class ContributeScreen(SectionsScreen):
    """The places to touch, tests, commands, reviewers and history of one subject."""

    _has_history = False
    _found: Contribution | None = None

    def __init__(self, session: Session, config: Config, subject: str) -> None:
        super().__init__(session, config, f"contribute: {subject}")
        self._subject = subject

    def on_mount(self) -> None:
        super().on_mount()
        if self.session is None or self.session.contributions is None:
            self.places.message = f"nothing can be prepared: {REASON}"
            return
        self.places.message = "looking at tests, includes, owners and history …"
        self._load(self.session.contributions, histories=0)

    def _load(self, contributions: Contributions, histories: int) -> None:
        """Prepare it; git's part takes longest, and so comes after the rest is on screen."""
        subject = self._subject
        self.ask(
            "contribution",
            lambda: ContributionLoaded(contributions.of(subject, histories=histories)),
        )

    def on_contribution_loaded(self, message: ContributionLoaded) -> None:
        at = self.places.cursor
        self._found = message.found
        self.places.message = ""
        self.show_rows(list(self.section_rows(sections(message.found))))
        self.places.cursor = at  # the history comes last: all rows are where they were
        if not self._has_history and self.session and self.session.contributions:
            self._has_history = True
            self._load(self.session.contributions, _HISTORIES)

    def markdown(self) -> Iterable[str]:
        return markdown_lines(self._found) if self._found else ()
