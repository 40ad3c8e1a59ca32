"""The operators with the line that filters them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from indexes.model.vocabulary import OperatorSummary
from navigator.tui.widgets.bars import Bar
from navigator.tui.widgets.filter_input import FilterInput
from navigator.tui.widgets.operator_list import OperatorList


class Count(Bar):
    """How many operators there are, and how many a filter leaves. Its width never changes:
    a change would lay out the whole screen for every key."""

    DEFAULT_CSS: ClassVar[str] = "Count { color: $text-muted; padding: 0 1; width: 0; }"

    _total = 0
    _left = 0

    def set_total(self, total: int) -> None:
        """How many there are, filtered or not."""
        self._total = total
        self.styles.width = len(f"{total:,}/{total:,}") + 2

    def show(self, left: int) -> None:
        """How many are left."""
        self._left = left
        self.refresh()

    def render(self) -> Content:
        left, total = f"{self._left:,}", f"{self._total:,}"
        text = total if left == total else f"{left}/{total}"
        return Content(text.rjust(self.size.width))


class OperatorPane(Vertical):
    """Filter above, list below."""

    DEFAULT_CSS: ClassVar[str] = """
    OperatorPane {
        #filter-line { height: 1; background: $surface; }
        #filter-line:ansi { background: ansi_default; }
        FilterInput { width: 1fr; }
        OperatorList { height: 1fr; }
    }
    """

    def compose(self) -> ComposeResult:
        with Horizontal(id="filter-line"):
            yield FilterInput(placeholder="filter operators", target=OperatorList)
            yield Count()
        yield OperatorList()

    @property
    def filter(self) -> FilterInput:
        return self.query_one(FilterInput)

    @property
    def list(self) -> OperatorList:
        return self.query_one(OperatorList)

    def set_total(self, total: int) -> None:
        """How many operators there are, filtered or not."""
        self.query_one(Count).set_total(total)

    def show(self, operators: Sequence[OperatorSummary], filter_text: str) -> None:
        """Show the operators that a filter left."""
        self.list.message = f"no operator matches {filter_text}" if filter_text else ""
        self.list.show(operators, filter_text)
        self.query_one(Count).show(len(operators))
