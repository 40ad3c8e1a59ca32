"""What a change of an operator, a file or a function asks for, beside the source."""

from __future__ import annotations

from collections.abc import Iterable

from indexes.queries.contribution.plan import Contribution
from navigator.text.contribution import markdown_lines, sections
from navigator.tui.context import Context
from navigator.tui.lists.checklist import ChecklistPane
from navigator.tui.processes.preview import REASON

_HISTORIES = 4
"""Of how many places the last changes are shown."""


class ContributePane(ChecklistPane):
    """The places to touch, tests, commands, reviewers and history of one subject."""

    _found: Contribution | None = None

    def __init__(self, context: Context, subject: str) -> None:
        super().__init__(context, f"contribute: {subject}")
        self._subject = subject

    def begin(self) -> None:
        if self.context.index is None:
            self.show_message(f"nothing can be prepared: {REASON}")
        else:
            self.show_message("looking at tests, includes, owners and history …")
            self._load(histories=0)

    def _load(self, histories: int) -> None:
        """Prepare it; git's part takes longest, and so comes after the rest is on screen."""
        session, subject = self.context.session, self._subject
        contributions = session.contributions if session else None
        if contributions is not None:
            self.ask(lambda: contributions.of(subject, histories=histories), self._show)

    def _show(self, found: Contribution) -> None:
        at, is_first = self.places.cursor, self._found is None
        self._found = found
        self.places.message = ""
        self.show_rows(list(self.section_rows(sections(found))))
        self.places.cursor = at  # the history comes last: all rows are where they were
        if is_first:
            self._load(_HISTORIES)

    def markdown(self) -> Iterable[str]:
        return markdown_lines(self._found) if self._found else ()
