"""A screen that opens the index itself and shows how far it is; its panes take turns."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.message import Message
from textual.widget import Widget

from indexes.model.errors import Cancelled, SourceError
from navigator.tui.config import Config
from navigator.tui.messages import Described, Failed, Opened, Progressed, UpToDate
from navigator.tui.screens.chain_screen import ChainScreen
from navigator.tui.session import Opener, Session
from navigator.tui.source.highlight import prepare
from navigator.tui.widgets.bars import NoticeBar, ProgressLine, TopBar

if TYPE_CHECKING:
    from indexes.queries.index import Progress


class OpeningScreen(ChainScreen):
    """Yields a TopBar, a NoticeBar and a ProgressLine besides its panes."""

    PANES: ClassVar[Mapping[type[DOMNode], str]] = {}
    """The class ``-in-NAME`` is on the screen while the keys go to that pane."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("z", "zoom", "Zoom", id="zoom"),
        Binding("tab", "next_pane(1)", "Next pane", show=False, priority=True, id="pane.next"),
        Binding(
            "shift+tab",
            "next_pane(-1)",
            "Pane before",
            show=False,
            priority=True,
            id="pane.previous",
        ),
    ]

    def __init__(self, opener: Opener, config: Config) -> None:
        super().__init__(None, config)
        self._opener = opener
        self._stop = Event()

    def has_session(self, session: Session) -> None:
        """There is an index to ask, or a newer one."""

    def begin(self) -> None:
        """Open the index."""
        self.open_index()

    def focus_order(self) -> list[Widget]:
        """What tab goes through."""
        raise NotImplementedError

    def on_unmount(self) -> None:
        self._stop.set()
        if self.session is not None:
            self.session.close()

    # ---------------------------------------------------------------------------- index

    def open_index(self) -> None:
        self._stop = Event()
        stop = self._stop
        self.ask("index", lambda: self._opened(stop))

    def _opened(self, stop: Event) -> Message:
        """In a thread: open, build or refresh the index."""
        last = 0.0

        def progress(now: Progress) -> None:
            nonlocal last
            if monotonic() - last > 0.05:
                last = monotonic()
                self.post_message(Progressed(now.stage, now.done, now.total))

        def tell(text: str) -> None:
            self.post_message(Failed("indexing beside", SourceError(text)))

        for session in self._opener.sessions(progress, stop.is_set, tell):
            self.post_message(Opened(session, session.index.operators()))
            self.post_message(Described(session.info))
        prepare()
        return UpToDate()

    def on_progressed(self, message: Progressed) -> None:
        self.query_one(ProgressLine).show(message.stage, message.done, message.total)

    def on_up_to_date(self) -> None:
        self.query_one(ProgressLine).hide()

    def on_opened(self, message: Opened) -> None:
        if self.session is not None:
            self.session.close()
        self.session = message.session
        self.has_session(message.session)

    def on_described(self, message: Described) -> None:
        self.query_one(TopBar).show_source(message.info)

    def on_failed(self, message: Failed) -> None:
        if message.about != "index":
            return
        message.prevent_default()
        self.query_one(ProgressLine).hide()
        stopped = isinstance(message.error, Cancelled)
        self.query_one(NoticeBar).show(str(message.error), error=not stopped)

    # ---------------------------------------------------------------------------- panes

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        inside = {type(widget) for widget in event.widget.ancestors}
        # All at once: every change of classes on a screen styles all of its widgets anew.
        self.update_classes({f"-in-{name}": pane in inside for pane, name in self.PANES.items()})

    def action_next_pane(self, by: int) -> None:
        panes = self.focus_order()
        at = panes.index(self.focused) if self.focused in panes else -1
        self.set_focus(panes[(at + by) % len(panes)])

    def action_zoom(self) -> None:
        self.toggle_class("-zoomed")
