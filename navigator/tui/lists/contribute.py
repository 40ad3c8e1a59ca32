"""The plan for changing an operator, file or function, and for adding an operator."""

from __future__ import annotations

from collections.abc import Iterable

from indexes.model.errors import TorchnavError
from indexes.queries.contribution.new_operator import NewOperator
from indexes.queries.contribution.plan import Contribution
from navigator.live.schema_check import plan_operator
from navigator.text.contribution import markdown_lines, plan_markdown, plan_sections, sections
from navigator.tui.context import Context
from navigator.tui.lists.checklist import ChecklistPane

_HISTORIES = 4
"""Number of places whose last changes are shown."""


class ContributePane(ChecklistPane):
    """Places to edit, tests, commands, reviewers and history for a subject."""

    _found: Contribution | None = None

    def __init__(self, context: Context, subject: str) -> None:
        super().__init__(context, f"contribute: {subject}")
        self._subject = subject

    def begin(self) -> None:
        if self.context.index is None:
            self.wait("nothing can be prepared", self.begin)
        else:
            self.show_message("looking at tests, includes, owners and history …")
            self._load(histories=0)

    def _load(self, histories: int) -> None:
        """Prepare it; the slow history from git is added after the rest is on screen."""
        session, subject = self.context.session, self._subject
        contributions = session.contributions if session else None
        if contributions is not None:
            self.ask(lambda: contributions.of(subject, histories=histories), self._show)

    def _show(self, found: Contribution) -> None:
        at, is_first = self.places.cursor, self._found is None
        self._found = found
        self.places.message = ""
        self.show_rows(list(self.section_rows(sections(found))))
        self.places.cursor = at  # history is appended, so rows have not moved
        if is_first:
            self._load(_HISTORIES)

    def markdown(self) -> Iterable[str]:
        return markdown_lines(self._found) if self._found else ()


class NewOperatorPane(ChecklistPane):
    """Plans the operator whose schema was entered."""

    PLACEHOLDER = "mish2(Tensor self) -> Tensor"
    INVITATION = "type its schema, or the name of a similar operator, and press enter"

    _schema = ""
    _plan: NewOperator | None = None

    def __init__(self, context: Context) -> None:
        super().__init__(context, "a new operator")

    def entered(self, text: str) -> None:
        session, line = self.context.session, self.filter
        like = session.index.summary(text) if session and text else None
        if like is not None and line is not None:
            line.value = like.schema
            line.cursor_position = 0
            return
        if text and text != self._schema:
            self._make(text)
        self.screen.set_focus(self.places)

    def _make(self, schema: str) -> None:
        index = self.context.index
        if index is None:
            self.wait("no plan", lambda: self._make(schema))
            return
        self._schema, self._plan = schema, None
        self.show_message("asking torchgen, looking for similar operators …")
        self.ask(lambda: plan_operator(index, schema), self._show)

    def _show(self, plan: NewOperator) -> None:
        self._plan = plan
        self.show_rows(list(self.section_rows(plan_sections(plan))))

    def markdown(self) -> Iterable[str]:
        return plan_markdown(self._plan) if self._plan else ()

    def failed(self, error: TorchnavError) -> None:
        self._schema = ""
        super().failed(error)
