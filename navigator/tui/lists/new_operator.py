"""Where a new operator must be added: from its schema, beside the likest operators' source."""

from __future__ import annotations

from collections.abc import Iterable

from indexes.model.errors import TorchnavError
from indexes.queries.contribution.new_operator import NewOperator
from navigator.live.schema_check import plan_operator
from navigator.text.contribution import plan_markdown, plan_sections
from navigator.tui.context import Context
from navigator.tui.lists.checklist import ChecklistPane
from navigator.tui.processes.preview import REASON


class NewOperatorPane(ChecklistPane):
    """A schema is typed; enter plans it."""

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
            self.show_message(f"nothing can be planned: {REASON}")
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
