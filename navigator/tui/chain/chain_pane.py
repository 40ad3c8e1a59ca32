"""The chain of an operator, and why the hop under the cursor is where it is."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from indexes.model.vocabulary import Chain
from navigator.tui.chain.chain_tree import ChainTree
from navigator.tui.chain.step_detail import StepDetail
from navigator.tui.widgets.bars import PaneTitle


class ChainPane(Vertical):
    """Title, tree, detail."""

    DEFAULT_CSS: ClassVar[str] = "ChainPane ChainTree { height: 1fr; }"

    def compose(self) -> ComposeResult:
        yield PaneTitle()
        yield ChainTree()
        yield StepDetail()

    @property
    def hops(self) -> ChainTree:
        return self.query_one(ChainTree)

    @property
    def detail(self) -> StepDetail:
        return self.query_one(StepDetail)

    def show(self, chain: Chain, hop_id: int | None = None) -> None:
        """Show a chain with the cursor on a hop, by default the first."""
        self.query_one(PaneTitle).show(chain.op.full_name, chain.op.kind)
        self.hops.message = ""
        self.hops.show(chain, hop_id)
        self.detail.show(self.hops.step)

    def show_message(self, title: str, message: str) -> None:
        """Show why there is no chain."""
        self.query_one(PaneTitle).show(title)
        self.hops.message = message
        self.hops.show(None)
        self.detail.show(None)

    def on_chain_tree_step_selected(self, message: ChainTree.StepSelected) -> None:
        self.detail.show(message.step)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.query_one(PaneTitle).add_class("-focused")

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        self.query_one(PaneTitle).remove_class("-focused")
