"""Questions that are answered in threads, and what is said to the reader in passing."""

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
    """Answer a question in a thread, so that keys never wait, and hand on the answer.

    Parameters:
        owner: the widget that asks; a newer question of it about the same thing replaces this one.
        about: what the question is about.
        question: is called in the thread.
        then: is called with the answer.
        failed: is called with an error that is not a mistake of ours; by default it is shown.
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

    # The function, not a coroutine: one that is never begun leaves nothing behind.
    owner.run_worker(work, group=about, exclusive=True)  # type: ignore[arg-type]


def is_open(owner: Widget) -> bool:
    """Whether a widget can still show something: its screen is not being closed."""
    return owner.app.is_running and owner.is_attached and owner.screen.display


def complain(owner: Widget, text: str) -> None:
    """Say in one line what went wrong."""
    owner.notify(one_line(text), severity="error", markup=False)


def say(owner: Widget, text: str) -> None:
    """Say something in passing."""
    owner.notify(one_line(text), markup=False, timeout=4)
