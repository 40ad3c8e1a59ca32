"""Runs questions in threads, and shows short messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from textual.widget import Widget

from indexes.model.errors import TorchnavError
from navigator.tui.text import one_line

T = TypeVar("T")


def ask(
    owner: Widget,
    about: str,
    question: Callable[[], T],
    then: Callable[[T], object],
    failed: Callable[[TorchnavError], object] | None = None,
) -> None:
    """Run a question in a thread and pass the answer on, so that keys never wait.

    Parameters:
        owner: the asking widget; its next question with the same topic replaces this one.
        about: the topic.
        question: called in the thread.
        then: called with the answer.
        failed: called with an expected error; by default it is shown.
    """

    async def work() -> None:
        try:
            answer = await asyncio.to_thread(question)
        except TorchnavError as error:
            failed(error) if failed else complain(owner, str(error))
        except Exception as error:  # noqa: BLE001  a mistake of ours must not end the screen
            complain(owner, f"unexpected {type(error).__name__}: {error}")
        else:
            if is_open(owner):
                then(answer)

    # A function, since a coroutine that never starts causes a warning.
    owner.run_worker(work, group=about, exclusive=True)  # type: ignore[arg-type]


def is_open(owner: Widget) -> bool:
    """Whether a widget can still show something: its screen is not being closed."""
    return owner.app.is_running and owner.is_attached and owner.screen.display


def complain(owner: Widget, text: str) -> None:
    """Show an error in one line."""
    owner.notify(one_line(text), severity="error", markup=False)


def say(owner: Widget, text: str) -> None:
    """Show a message."""
    owner.notify(one_line(text), markup=False, timeout=4)
