"""A person at the screen: types, presses keys, waits for words to appear."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar
from unittest.mock import patch

import pytest
from textual import events
from textual.pilot import Pilot, WaitForScreenTimeout
from textual.widget import Widget

from indexes.build.workers import start_workers
from navigator.tui.app import TorchnavApp
from navigator.tui.chain.chain_pane import ChainPane
from navigator.tui.config import Config
from navigator.tui.history import LastPlaces
from navigator.tui.panes.chain_workspace import ChainWorkspace
from navigator.tui.panes.index_progress import IndexProgress
from navigator.tui.processes.chains import index_in_process
from navigator.tui.processes.preview import Preview
from navigator.tui.screens.browser import BrowserScreen
from navigator.tui.session import Opener, Session
from navigator.tui.source.source_pane import SourcePane
from tests.tree_marks import TREE

W = TypeVar("W", bound=Widget)
Sit = Callable[..., AbstractAsyncContextManager["Person"]]

_KEYS = {
    " ": "space",
    ":": "colon",
    ".": "full_stop",
    "_": "underscore",
    "/": "slash",
    "\x15": "ctrl+u",
    "\x7f": "backspace",
}
PATIENCE = 120.0
"""Seconds to wait for what should come at once; tests share the machine, and only a failure takes
them."""


class Person:
    """Somebody who sees the screen as text and has a keyboard."""

    def __init__(self, pilot: Pilot[int]) -> None:
        self.pilot = pilot
        assert isinstance(pilot.app, TorchnavApp)
        self.app = pilot.app

    @property
    def session(self) -> Session | None:
        return self.app.context.session

    @property
    def workspace(self) -> ChainWorkspace:
        return self.browser.workspace

    @property
    def chain(self) -> ChainPane:
        return self.workspace.chain

    @property
    def source(self) -> SourcePane:
        return self.workspace.source

    def pane(self, kind: type[W]) -> W:
        """The pane of a kind on the screen."""
        return self.app.screen.query_one(kind)

    @property
    def browser(self) -> BrowserScreen:
        screen = self.app.screen_stack[0]
        assert isinstance(screen, BrowserScreen)
        return screen

    def screen(self) -> str:
        """The characters on the screen, without the blanks at the ends of lines."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(part.text for part in strip).rstrip() for strip in strips)

    def line(self, words: str) -> str:
        """The first line on the screen with these words."""
        return next(line for line in self.screen().split("\n") if words in line)

    async def presses(self, *keys: str) -> None:
        with suppress(WaitForScreenTimeout):  # what follows waits for what it needs
            await self.pilot.press(*keys)

    async def pauses(self, delay: float | None = None) -> None:
        """Let the widgets do what they have to. Textual waits 30 s for that, which may be too few
        on a busy machine."""
        with suppress(WaitForScreenTimeout):
            await self.pilot.pause(delay)

    async def types(self, text: str, into: str = "") -> None:
        """Type as fast as a paste, which is how a slow line delivers keys; ``into`` the box that a
        key opens."""
        if into:
            await self.presses(into)
        for letter in text:
            self.app.post_message(events.Key(_KEYS.get(letter, letter), letter))
        await self.pauses()

    async def until(self, seen: Callable[[], Any], what: str = "") -> None:
        """Wait until something is so."""
        end = monotonic() + PATIENCE
        while not seen():
            assert monotonic() < end, f"waited in vain for {what!r}:\n{self.screen()}"
            await self.pauses(0.01)

    async def sees(self, *words: str) -> None:
        """Wait until all these words are on the screen, on one line or wrapped."""
        for word in words:
            await self.until(lambda word=word: self._shows(word), word)  # type: ignore[misc]

    def _shows(self, words: str) -> bool:
        screen = self.screen()
        return words in screen or words in " ".join(screen.split())

    async def sees_no(self, word: str) -> None:
        await self.until(lambda: word not in self.screen(), f"no {word}")

    def place(self) -> str:
        """The file and line that the source pane shows."""
        view = self.source.view
        return f"{view.path}:{view.line}" if view.path else ""

    async def is_at(self, place: str) -> None:
        """Wait until the source pane shows this place (the end of its path will do)."""
        await self.until(lambda: self.place().endswith(place), place)

    def opens(self, session: Session) -> None:
        """There is a newer index."""
        self.browser.progress.post_message(IndexProgress.Opened(session))

    def has_index(self) -> bool:
        """Whether there is more to ask than the YAML file."""
        return self.session is not None and not isinstance(self.session.index, Preview)

    def lists_every_operator(self) -> bool:
        """Whether the list holds all operators of the tree."""
        session = self.session
        rows = self.browser.operators.list.row_count
        return session is not None and rows == len(session.index.operators()) > 0

    async def filters(self, text: str) -> None:
        """Type into the box above the operators of a whole index."""
        await self.until(self.has_index, "the index")
        await self.types(text)

    async def asks_for(self, name: str) -> None:
        """Filter for a name and go to the card of the first operator."""
        await self.filters(name)
        await self.presses("enter")
        await self.until(lambda: self.chain.is_ready, f"the chain of {name}")


class Ahead:
    """The process that computes chains ahead: one for all screens, each of which ends its own."""

    pool = cache(start_workers)

    def __init__(self) -> None:
        self.submit = Ahead.pool().submit
        self.submit(index_in_process.cache_clear)

    def shutdown(self, **_: object) -> None: ...

    @staticmethod
    def processes() -> set[int]:
        return {*(Ahead.pool()._processes or ())}


one_process_ahead = patch("navigator.tui.processes.chains.start_workers", Ahead)


@pytest.fixture
def sit(small_tree: tuple[str, ...]) -> Sit:
    """Sit down at a screen of a size: ``async with sit(80, 24) as person``."""
    cache = Path(small_tree[3])

    @asynccontextmanager
    async def sit_down(
        width: int = 120,
        height: int = 40,
        *,
        tree: Path | None = TREE,
        cache: Path = cache,
        config: Config | None = None,
        op: str | None = None,
        places: LastPlaces | None = None,
    ) -> AsyncIterator[Person]:
        opener = Opener(str(tree) if tree else None, cache)
        app = TorchnavApp(opener, config or Config(), op, places)
        with one_process_ahead:
            async with app.run_test(size=(width, height), notifications=True) as pilot:
                yield Person(pilot)

    return sit_down


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor with a window of its own that writes down how it was called, one line a call."""
    log = tmp_path / "calls.txt"
    script = tmp_path / "code"
    script.write_text(f'#!/bin/sh\necho "$@" >> {log}\n')
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(script))
    return log


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """No tmux, no special terminal, whatever runs the tests."""
    for name in ("TMUX", "VTE_VERSION", "TERM_PROGRAM", "EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
