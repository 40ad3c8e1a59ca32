"""The source pane: path, file, search line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from indexes.model.errors import TorchnavError
from indexes.source.git_history import Blame
from navigator.tui.background import ask, say
from navigator.tui.context import Context
from navigator.tui.debounce import Debounce
from navigator.tui.history import Visit
from navigator.tui.source.document import Document
from navigator.tui.source.source_view import SourceView
from navigator.tui.widgets.bars import PaneTitle
from navigator.tui.widgets.pane import Pane

_AROUND = 150
"""Lines before and after the cursor whose blame is requested at once."""


class SearchLine(Input):
    """Search as you type inside the file."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", id="search.cancel"),
        Binding("down", "found(1)", "Next", id="search.typed_next"),
        Binding("up", "found(-1)", "Previous", id="search.typed_previous"),
    ]

    def action_cancel(self) -> None:
        self.pane.end_search(keep=False)

    def action_found(self, direction: int) -> None:
        self.pane.view.action_found(direction)

    @property
    def pane(self) -> SourcePane:
        assert isinstance(self.parent, SourcePane)
        return self.parent


class SourcePane(Pane):
    """A SourceView with its path. Reads files in threads, and asks git for authors."""

    NAME = "source"

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

    class Shown(Message):
        """Another place is shown."""

        def __init__(self, document: Document) -> None:
            super().__init__()
            self.document = document

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.expected: Visit | None = None
        """The place being loaded, which keys already refer to."""
        self._soon = Debounce(self, 0.05)
        self._blame_soon = Debounce(self, 0.2)
        self._blames = False
        self._blame_note = ""

    def compose(self) -> ComposeResult:
        yield PaneTitle()
        yield SourceView()
        yield SearchLine(placeholder="search in this file", select_on_focus=True)

    @property
    def view(self) -> SourceView:
        return self.query_one(SourceView)

    @property
    def stops(self) -> Sequence[Widget]:
        return (self.view,)

    # ------------------------------------------------------------------------- showing

    def here(self) -> Visit | None:
        """The place that is shown or being loaded."""
        view = self.view
        return self.expected or (Visit(path=view.path, line=view.line) if view.path else None)

    def load(self, visit: Visit) -> None:
        """Show a place: at once if its file is cached, else after reading it."""
        self._soon.cancel()
        path = visit.path
        documents = self.context.documents(path) if path is not None else None
        if documents is not None and path is not None and not self._show_cached(visit):
            self.expected = visit
            ask(
                self,
                "source",
                lambda: documents.document(path),
                lambda document: self._loaded(document, visit),
                self._failed,
            )

    def load_soon(self, visit: Visit) -> None:
        """As ``load``, but an uncached file is read only when the cursor rests."""
        self._soon.cancel()
        if not self._show_cached(visit):
            self.expected = visit
            self._soon(lambda: self.load(visit))

    def _show_cached(self, visit: Visit) -> bool:
        """Show a place in a cached file; returns whether it is cached."""
        documents = self.context.documents(visit.path or "")
        document = documents.cached(visit.path) if documents and visit.path else None
        if document is not None:
            self._show(document, visit)
        return document is not None

    def _loaded(self, document: Document, visit: Visit) -> None:
        if visit is self.expected:
            self._show(document, visit)

    def _show(self, document: Document, visit: Visit) -> None:
        self.expected = None
        self.view.show_document(document, max(visit.line, 1), visit.end_line)
        self._show_title()
        if self._blames:
            self._ask_blame()
        self.post_message(self.Shown(document))

    def _failed(self, error: TorchnavError) -> None:
        self.show_message(str(error))

    def show_message(self, message: str) -> None:
        """Show why there is no source."""
        self.expected = None
        self._soon.cancel()
        self.view.clear(message)
        self._show_title()

    def reread(self, path: str) -> None:
        """Show a file again, if it is on screen, after it may have been edited."""
        documents = self.context.documents(path)
        if documents is not None:
            documents.forget(path)
            if self.view.path == path:
                ask(self, "edited", lambda: documents.document(path), self._replace)

    def _replace(self, document: Document) -> None:
        if self.view.path == document.path:
            self.view.replace(document)

    def _show_title(self) -> None:
        view = self.view
        path = f"{view.path}:{view.line}" if view.path else "source"
        self.query_one(PaneTitle).show(path, self._matches(), is_path=True)

    def _matches(self) -> str:
        view = self.view
        if not view.needle or not view.document:
            return ""
        if not view.found:
            return "no match"
        cursor = (view.row, view.column)
        number = view.found.index(cursor) + 1 if cursor in view.found else 0
        return f"{number or '·'}/{len(view.found)}"

    def on_source_view_cursor_moved(self) -> None:
        self._show_title()
        if self._blames:
            self._blame_soon(self._ask_blame)

    # --------------------------------------------------------------------------- blame

    def toggle_blame(self) -> None:
        """Show or hide the authors of lines."""
        self._blames = not self._blames
        if self._blames:
            say(self, "asking git who wrote these lines …")
            self._ask_blame()
        else:
            self.view.show_blame(())

    def _ask_blame(self) -> None:
        """Request the lines around the cursor: a whole file takes git long."""
        session, view = self.context.session, self.view
        path, line = view.path, view.line
        if session is None or path is None or line in view.blamed:
            return
        start, end = max(1, line - _AROUND), min(line + _AROUND, len(view.lines))
        ask(
            self,
            "blame",
            lambda: session.blame(path, start, end),
            lambda blame: self._show_blame(path, blame),
        )

    def _show_blame(self, path: str, blame: Blame) -> None:
        if self._blames and self.view.path == path:
            self.view.show_blame(blame.lines)
            if blame.note and blame.note != self._blame_note:  # once, not for every line
                self._blame_note = blame.note
                say(self, blame.note)

    # ---------------------------------------------------------------------- searching

    _origin = 0

    def start_search(self) -> None:
        """Open the search line."""
        self._origin = self.view.row
        self.add_class("-searching")
        self.screen.set_focus(self.query_one(SearchLine))

    def end_search(self, *, keep: bool) -> None:
        """Close the search line; without ``keep``, remove the marks and restore the cursor."""
        self.remove_class("-searching")
        if not keep:
            self.view.search("")
            self.view.go_to(self._origin + 1)
        self.screen.set_focus(self.view)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.has_class("-searching"):
            self.view.search(event.value, self._origin)
            self._show_title()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.view.search(event.value, self._origin)
        self.end_search(keep=True)
