"""The source pane: the path, the file, and a line to search it."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from navigator.tui.source.document import Document
from navigator.tui.source.source_view import SourceView
from navigator.tui.widgets.bars import PaneTitle


class SearchLine(Input):
    """Search as you type inside the file."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", id="search.cancel"),
        Binding("down", "found(1)", "Next", id="search.typed_next"),
        Binding("up", "found(-1)", "Before", id="search.typed_previous"),
    ]

    def action_cancel(self) -> None:
        self.pane.end_search(keep=False)

    def action_found(self, direction: int) -> None:
        self.pane.view.action_found(direction)

    @property
    def pane(self) -> SourcePane:
        assert isinstance(self.parent, SourcePane)
        return self.parent


class SourcePane(Vertical):
    """A SourceView under its path."""

    DEFAULT_CSS: ClassVar[str] = """
    SourcePane {
        SourceView { height: 1fr; }
        SearchLine, SearchLine:focus {
            display: none;
            height: 1;
            border: none;
            padding: 0 1;
            background: $surface;
        }
        &.-searching SearchLine { display: block; }
    }
    """

    def compose(self) -> ComposeResult:
        yield PaneTitle()
        yield SourceView()
        yield SearchLine(placeholder="search in this file", select_on_focus=True)

    @property
    def view(self) -> SourceView:
        return self.query_one(SourceView)

    @property
    def title(self) -> PaneTitle:
        return self.query_one(PaneTitle)

    def show(self, document: Document, line: int, end_line: int = 0) -> None:
        """Show a file at a line."""
        self.view.show_document(document, line, end_line)
        self._show_title()

    def show_message(self, message: str) -> None:
        """Show why there is no source."""
        self.view.clear(message)
        self._show_title()

    def _show_title(self) -> None:
        view = self.view
        path = f"{view.path}:{view.line}" if view.path else "source"
        self.title.show(path, self._matches(), is_path=True)

    def _matches(self) -> str:
        view = self.view
        if not view.needle or not view.document:
            return ""
        if not view.found:
            return "no match"
        here = (view.row, view.column)
        number = view.found.index(here) + 1 if here in view.found else 0
        return f"{number or '·'}/{len(view.found)}"

    # ---------------------------------------------------------------------- searching

    def start_search(self) -> None:
        """Open the search line."""
        self._origin = self.view.row
        self.add_class("-searching")
        self.screen.set_focus(self.query_one(SearchLine))

    def end_search(self, *, keep: bool) -> None:
        """Close it; without ``keep`` the marks go and the cursor returns."""
        self.remove_class("-searching")
        if not keep:
            self.view.search("")
            self.view.go_to(self._origin + 1)
        self.screen.set_focus(self.view)

    _origin = 0

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.has_class("-searching"):
            self.view.search(event.value, self._origin)
            self._show_title()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.view.search(event.value, self._origin)
        self.end_search(keep=True)

    def on_source_view_cursor_moved(self) -> None:
        self._show_title()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.title.add_class("-focused")

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        self.title.remove_class("-focused")
