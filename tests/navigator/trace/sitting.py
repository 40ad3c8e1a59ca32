"""Somebody in front of the screen of a trace."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from navigator.trace.groups import hottest
from navigator.tui.config import Config
from navigator.tui.session import Opener
from navigator.tui.trace.app import TraceApp
from navigator.tui.trace.recordings import RecordedFile, Recording
from navigator.tui.trace.screen import TraceScreen
from tests.navigator.tui.conftest import Person, one_process_ahead


@asynccontextmanager
async def sit(
    opener: Opener, recording: Recording, width: int = 120, height: int = 40
) -> AsyncIterator[Person]:
    app = TraceApp(opener, Config(), recording)
    with one_process_ahead:
        async with app.run_test(size=(width, height), notifications=True) as pilot:
            yield Person(pilot)


def screen_of(person: Person) -> TraceScreen:
    screen = person.app.screen_stack[0]
    assert isinstance(screen, TraceScreen)
    return screen


def opened(file: Path) -> Recording:
    return RecordedFile(file)


async def opens(person: Person) -> None:
    """Wait until the whole trace is there and the cursor stands where the time goes."""
    pane = screen_of(person).pane
    await person.until(lambda: pane.trace is not None and len(pane.trace) and pane.is_done)
    assert pane.trace is not None
    row = hottest(pane.trace)
    await person.until(lambda: pane.ops.current == row, "the hottest row")
