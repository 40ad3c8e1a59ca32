"""The bar that opens the index and shows its progress."""

from __future__ import annotations

from threading import Event
from time import monotonic
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.message import Message
from textual.timer import Timer

from indexes.model.errors import Progress, TorchnavError
from indexes.model.vocabulary import SourceInfo
from navigator.tui.background import ask, complain
from navigator.tui.context import Context
from navigator.tui.session import Session
from navigator.tui.source.highlight import prepare
from navigator.tui.text import one_line
from navigator.tui.widgets.bars import Bar

_OFTEN_S = 0.05
"""Seconds between two reports of progress."""
_LATE_S = 0.7
"""Seconds before the opening of an index is announced."""
_AT_FIRST = "listing the files of the tree"


class IndexProgress(Bar):
    """Opens, builds or refreshes the index in a thread, and can be cancelled."""

    DEFAULT_CSS: ClassVar[str] = """
    IndexProgress {
        display: none;
        padding: 0 1;
        &.-shown { display: block; }
    }
    """

    class Opened(Message):
        """There is an index to query, or a newer one."""

        def __init__(self, session: Session) -> None:
            super().__init__()
            self.session = session

    class Described(Message):
        """The version of the source, which needs git and so comes after the operators."""

        def __init__(self, info: SourceInfo) -> None:
            super().__init__()
            self.info = info

    class Failed(Message):
        """The index could not be opened or refreshed."""

        def __init__(self, error: TorchnavError) -> None:
            super().__init__()
            self.error = error

    _stage = ""
    _done = 0
    _total = 0

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self._stop = Event()
        self._late_timer = Timer(self, 1, pause=True)

    def on_unmount(self) -> None:
        self._stop.set()
        if self.context.session is not None:
            self.context.session.close()

    def open(self) -> None:
        """Open the index, or refresh it after changes of its source."""
        stop = self._stop = Event()
        self._late_timer = self.set_timer(_LATE_S, lambda: self.show(_AT_FIRST, 0, 0))
        ask(self, "index", lambda: self._open(stop), lambda _: self._end(), self._fail)

    def cancel(self) -> None:
        """Stop, leaving the index as it was."""
        self._stop.set()

    def _open(self, stop: Event) -> None:
        """In a thread: report each session, first the stale index, then the refreshed one."""
        last = 0.0

        def progress(now: Progress) -> None:
            nonlocal last
            if monotonic() - last > _OFTEN_S:
                last = monotonic()
                self.call_later(self.show, now.stage, now.done, now.total)

        def tell(text: str) -> None:
            self.call_later(complain, self, text)

        for session in self.context.opener.sessions(progress, stop.is_set, tell):
            session.index.operators()  # is slow the first time, so not on the event loop
            self.post_message(self.Opened(session))
            self.post_message(self.Described(session.info))
        prepare()

    def _end(self) -> None:
        """Called after the thread's last report."""
        self._late_timer.stop()
        self.call_later(self.hide)

    def _fail(self, error: TorchnavError) -> None:
        self._end()
        self.post_message(self.Failed(error))

    def on_index_progress_opened(self, message: Opened) -> None:
        """Sets the session before other handlers run."""
        if self.context.session is not None:
            self.context.session.close()
        self.context.session = message.session

    def show(self, stage: str, done: int, total: int) -> None:
        """Show ``done`` of ``total`` in a stage; a total of 0 is unknown."""
        self._late_timer.stop()
        self._stage, self._done, self._total = one_line(stage), done, total
        self.add_class("-shown")
        self.refresh()

    def hide(self) -> None:
        self.remove_class("-shown")

    def render(self) -> Content:
        count = f" {self._done:,} of {self._total:,}" if self._total else ""
        words = f"{self._stage}{count} "
        stop = " ctrl+x cancels"
        room = min(40, self.size.width - len(words) - len(stop))
        filled = room * self._done // self._total if self._total and room > 0 else 0
        return Content.assemble(
            words, ("━" * filled, "$text-primary"), ("━" * (room - filled), "dim"), (stop, "dim")
        )

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.cancel()
