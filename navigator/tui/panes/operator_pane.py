"""The operators with the line that filters them."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from navigator.tui.chain.chain_pane import ChainPane
from navigator.tui.context import Context
from navigator.tui.widgets.bars import Bar
from navigator.tui.widgets.filter_input import FilterInput
from navigator.tui.widgets.operator_list import OperatorList
from navigator.tui.widgets.pane import MainPane


class Count(Bar):
    """How many operators there are, and how many a filter leaves. Its width never changes:
    a change would lay out the whole screen for every key."""

    DEFAULT_CSS: ClassVar[str] = "Count { color: $text-muted; padding: 0 1; width: 0; }"

    _text = ""

    def show(self, left: int, total: int) -> None:
        """How many are left of how many."""
        self._text = f"{total:,}" if left == total else f"{left:,}/{total:,}"
        self.styles.width = len(f"{total:,}/{total:,}") + 2
        self.refresh()

    def render(self) -> Content:
        return Content(self._text.rjust(self.size.width))


class OperatorPane(MainPane):
    """Filter above, list below."""

    NAME = "operators"

    DEFAULT_CSS: ClassVar[str] = """
    OperatorPane {
        #filter-line { height: 1; background: $surface; }
        #filter-line:ansi { background: ansi_default; }
        FilterInput { width: 1fr; }
        OperatorList { height: 1fr; }
    }
    """

    def __init__(self, context: Context, chain: ChainPane) -> None:
        """``chain`` shows the chain of the operator under the cursor."""
        super().__init__()
        self.context = context
        self._chain = chain

    def compose(self) -> ComposeResult:
        with Horizontal(id="filter-line"):
            yield FilterInput(
                placeholder="filter operators", target=OperatorList, at_once=self._choose
            )
            yield Count()
        yield OperatorList(self._chain.follow)

    def on_mount(self) -> None:
        self._chain.next_ops = self.list.around

    @property
    def filter(self) -> FilterInput:
        return self.query_one(FilterInput)

    @property
    def list(self) -> OperatorList:
        return self.query_one(OperatorList)

    def show_message(self, text: str) -> None:
        """Show why there are no operators."""
        self.list.message = text
        self.list.refresh()

    # -------------------------------------------------------------------------- filter

    _filtered: str | None = None
    """The filter whose operators are shown; None at first."""

    def refill(self, *, follow: bool = True) -> None:
        """Show the operators that the filter line leaves. That takes less than a thread would.

        ``follow`` says whether the chain of the first one is to be shown as well.
        """
        session, text = self.context.session, self.filter.value.strip()
        if session is None:
            return
        is_other, self._filtered = text != self._filtered, text
        found = session.index.filter(text)
        self.list.message = f"no operator matches {text}" if text else ""
        self.list.show(found, text)
        self.query_one(Count).show(len(found), len(session.index.operators()))
        current = self.list.current
        if is_other and follow and current is not None:
            self._chain.follow(current.full_name)
        elif self._chain.op is not None:
            self.list.select(self._chain.op)

    def on_input_changed(self) -> None:
        self.refill()

    def _choose(self) -> None:
        """Into the chain. The filter may not have seen the last letters yet."""
        self.screen.set_focus(self._chain.entrance)
        self._chain.is_chosen = False

    def on_filter_input_chosen(self, message: FilterInput.Chosen) -> None:
        if message.text != self._filtered:
            self.refill()  # the input has not yet said that it changed
        self._chain.is_chosen = True
