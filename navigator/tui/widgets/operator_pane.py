"""The operators with the line that filters them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Label

from indexes.model import OperatorSummary
from navigator.tui.widgets.filter_input import FilterInput
from navigator.tui.widgets.operator_list import OperatorList


class OperatorPane(Vertical):
    """Filter above, list below."""

    DEFAULT_CSS: ClassVar[str] = """
    OperatorPane {
        #filter-line { height: 1; background: $surface; }
        #filter-line:ansi { background: ansi_default; }
        FilterInput { width: 1fr; }
        #count { color: $text-muted; padding: 0 1; width: auto; }
        OperatorList { height: 1fr; }
    }
    """

    _total = 0

    def compose(self) -> ComposeResult:
        with Horizontal(id="filter-line"):
            yield FilterInput(placeholder="filter operators", target=OperatorList)
            yield Label("", id="count", markup=False)
        yield OperatorList()

    @property
    def filter(self) -> FilterInput:
        return self.query_one(FilterInput)

    @property
    def list(self) -> OperatorList:
        return self.query_one(OperatorList)

    def set_total(self, total: int) -> None:
        """How many operators there are, filtered or not."""
        self._total = total

    def show(self, operators: Sequence[OperatorSummary], filter_text: str) -> None:
        """Show the operators that a filter left."""
        self.list.message = f"no operator matches {filter_text}" if filter_text else ""
        self.list.show(operators, filter_text)
        count = f"{len(operators):,}"
        text = count if len(operators) == self._total else f"{count}/{self._total:,}"
        self.query_one("#count", Label).update(text)
