"""Questions to the index are answered in threads; what comes back is a message."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from textual.message import Message
from textual.worker import Worker, WorkerState, get_current_worker

from indexes.model.errors import TorchnavError
from navigator.tui.config import Config
from navigator.tui.messages import Failed
from navigator.tui.screens.chords import ChordScreen
from navigator.tui.session import Session
from navigator.tui.text import one_line


class AskingScreen(ChordScreen):
    """A screen that asks an index. Without a session there is none yet."""

    def __init__(self, session: Session | None, config: Config) -> None:
        super().__init__()
        self.session = session
        self.config = config

    def ask(self, about: str, question: Callable[[], Message]) -> None:
        """Answer a question in a thread; a newer one about the same thing replaces it."""
        work = partial(self._answer, about, question)
        self.run_worker(work, group=about, thread=True, exclusive=True, exit_on_error=False)

    def _answer(self, about: str, question: Callable[[], Message]) -> None:
        worker = get_current_worker()
        try:
            message = question()
        except TorchnavError as error:
            message = Failed(about, error)
        if not worker.is_cancelled:
            self.post_message(message)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        error = event.worker.error
        if event.state == WorkerState.ERROR and error is not None:
            self.complain(f"unexpected {type(error).__name__}: {error}")

    def on_failed(self, message: Failed) -> None:
        if message.about != "source":  # which the source pane says itself
            self.complain(str(message.error))

    def complain(self, text: str) -> None:
        """Say in one line what went wrong."""
        self.notify(one_line(text), severity="error", markup=False)

    def say(self, text: str) -> None:
        """Say something in passing."""
        self.notify(one_line(text), markup=False, timeout=4)
