"""Where a new operator must be added: from its schema, beside the likest operators' source."""

from __future__ import annotations

from collections.abc import Iterable

from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Input

from indexes.queries.contribution.new_operator import NewOperator
from navigator.text.contribution import plan_markdown, plan_sections
from navigator.tui.config import Config
from navigator.tui.messages import Failed
from navigator.tui.processes.preview import REASON
from navigator.tui.screens.commands import SectionsScreen
from navigator.tui.screens.early_keys import EarlyKeys
from navigator.tui.session import Session
from navigator.tui.text import one_line
from navigator.tui.widgets.filter_input import FilterInput
from navigator.tui.widgets.place_list import PlaceList

_ABOUT = "new operator"


class Planned(Message):
    """The plan for a new operator."""

    def __init__(self, schema: str, plan: NewOperator) -> None:
        super().__init__()
        self.schema = schema
        self.plan = plan


class NewOperatorScreen(SectionsScreen, EarlyKeys):
    """A schema is typed; enter plans it."""

    _schema = ""
    _plan: NewOperator | None = None

    def __init__(self, session: Session, config: Config) -> None:
        super().__init__(session, config, "a new operator")

    def compose_input(self) -> ComposeResult:
        yield FilterInput(placeholder="mish2(Tensor self) -> Tensor", target=PlaceList)

    def focus_first(self) -> None:
        self.places.message = "write its schema and press enter, or the name of an operator like it"
        self.begin_in(self.query_one(FilterInput))

    def action_choose(self) -> None:
        # Keys that were typed before this one may still be on their way into the line.
        self.query_one(FilterInput).call_later(self._choose)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.action_choose()

    def _choose(self) -> None:
        line = self.query_one(FilterInput)
        schema = line.value.strip()
        like = self.session.index.summary(schema) if self.session and schema else None
        if like is not None:
            line.value = like.schema
            line.cursor_position = 0
        elif schema and schema != self._schema:
            self._make(schema)
            self.set_focus(self.places)
        else:
            self.set_focus(self.places)

    def _make(self, schema: str) -> None:
        from indexes.queries.index import Index
        from navigator.live.schema_check import plan_operator

        index = self.session.index if self.session else None
        if not isinstance(index, Index):
            self.places.message = f"nothing can be planned: {REASON}"
            return
        self._schema, self._plan = schema, None
        self.places.message = "asking torchgen, and looking for operators like it …"
        self.show_rows(())
        self.ask(_ABOUT, lambda: Planned(schema, plan_operator(index, schema)))

    def on_planned(self, message: Planned) -> None:
        if message.schema == self._schema:
            self._plan = message.plan
            self.show_rows(list(self.section_rows(plan_sections(message.plan))))

    def markdown(self) -> Iterable[str]:
        return plan_markdown(self._plan) if self._plan else ()

    def on_failed(self, message: Failed) -> None:
        if message.about == _ABOUT:
            self._schema = ""
            self.places.message = one_line(str(message.error))
            self.show_rows(())
        else:
            super().on_failed(message)

    def action_search(self) -> None:
        if self.is_in_source:
            super().action_search()
        else:
            self.set_focus(self.query_one(FilterInput))
