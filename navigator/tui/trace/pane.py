"""A trace: filter above, rows or groups, what is known of the row under the cursor."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Label

from navigator.tui.trace.detail import TraceDetail
from navigator.tui.trace.group_list import GroupList
from navigator.tui.trace.timeline_bar import TimelineBar
from navigator.tui.trace.tree import TraceTree
from navigator.tui.widgets.bars import PaneTitle
from navigator.tui.widgets.filter_input import FilterInput
from navigator.tui.widgets.line_list import LineList


class TracePane(Vertical):
    """Either rows or groups are shown."""

    DEFAULT_CSS: ClassVar[str] = """
    TracePane {
        #filter-line { height: 1; background: $surface; }
        #filter-line:ansi { background: ansi_default; }
        FilterInput { width: 1fr; }
        #count { color: $text-muted; padding: 0 1; width: auto; }
        TraceTree, GroupList { height: 1fr; }
        GroupList { display: none; }
        &.-groups TraceTree, &.-groups TraceDetail { display: none; }
        &.-groups GroupList { display: block; }
    }
    """

    def compose(self) -> ComposeResult:
        yield PaneTitle()
        with Horizontal(id="filter-line"):
            yield FilterInput(
                placeholder="filter: words, phase:backward, node:, module:, dur:>1ms",
                target=TraceTree,
            )
            yield Label("", id="count", markup=False)
        yield TimelineBar()
        yield TraceTree()
        yield GroupList()
        yield TraceDetail()

    @property
    def filter(self) -> FilterInput:
        return self.query_one(FilterInput)

    @property
    def ops(self) -> TraceTree:
        return self.query_one(TraceTree)

    @property
    def groups(self) -> GroupList:
        return self.query_one(GroupList)

    @property
    def timeline(self) -> TimelineBar:
        return self.query_one(TimelineBar)

    @property
    def detail(self) -> TraceDetail:
        return self.query_one(TraceDetail)

    @property
    def shown(self) -> LineList:
        """The list that is on screen."""
        return self.groups if self.has_class("-groups") else self.ops

    def show_groups(self, shown: bool) -> None:
        self.set_class(shown, "-groups")

    def show_title(self, text: str, note: str) -> None:
        self.query_one(PaneTitle).show(text, note)

    def show_count(self, text: str) -> None:
        self.query_one("#count", Label).update(text)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.query_one(PaneTitle).add_class("-focused")

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        self.query_one(PaneTitle).remove_class("-focused")
