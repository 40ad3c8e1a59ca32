"""How it looks: the characters of the screen, and on the Textual they were drawn with, colours.

``TORCHNAV_UPDATE=1 pytest ...`` writes the text files anew, ``--snapshot-update`` the images.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from navigator.tui.app import TorchnavApp
from navigator.tui.config import Config
from tests.navigator.tui.conftest import Person
from tests.navigator.tui.sample import SampleOpener

TEXTS = Path(__file__).parent / "looks"
DRAWN_WITH = "8.2.8"

Story = Callable[[Person], Awaitable[None]]


async def chain(person: Person) -> None:
    await person.asks_for("relu")
    await person.presses("tab", "j")
    await person.is_at("Activation.cpp:4")


async def card(person: Person) -> None:
    await person.asks_for("relu")
    await person.presses("2")
    await person.is_at("ActivationThresholdKernel.cu:41")


async def route(person: Person) -> None:
    await card(person)
    await person.presses("enter")
    await person.sees("CUDA route 1 of 2")


async def source(person: Person) -> None:
    await chain(person)
    await person.presses("enter")
    await person.types("self", into="slash")
    await person.sees("1/3")


async def unresolved(person: Person) -> None:
    await person.asks_for("relu")
    await person.sees("relu_mps")
    await person.presses("tab", "j", "j", "j", "j")
    await person.sees("not resolved")


async def goto(person: Person) -> None:
    await chain(person)
    await person.types("relu", into="colon")
    await person.sees("operator relu6")


async def find(person: Person) -> None:
    await chain(person)
    await person.types("relu", into="s")
    await person.sees("function")


async def second_stroke(person: Person) -> None:
    await chain(person)
    await person.presses("g")
    await person.sees("d definition")


async def start(person: Person) -> None:
    await person.sees("Type any name", "relu_", "checkout 2.7.0")


LOOKS: dict[str, tuple[tuple[int, int], Story]] = {
    "start-80x24": ((80, 24), start),
    "start-200x50": ((200, 50), start),
    "chain-80x24": ((80, 24), chain),
    "chain-160x45": ((160, 45), chain),
    "card-80x24": ((80, 24), card),
    "card-200x50": ((200, 50), card),
    "route-80x24": ((80, 24), route),
    "chain-40x12": ((40, 12), chain),
    "source-80x24": ((80, 24), source),
    "unresolved-120x40": ((120, 40), unresolved),
    "goto-80x24": ((80, 24), goto),
    "find-120x30": ((120, 30), find),
    "second-stroke-80x24": ((80, 24), second_stroke),
}


async def settled(person: Person, wanted: str) -> str:
    """What the screen shows once it is as wanted, or in the end: a busy machine may paint the last
    of a story late."""
    with suppress(AssertionError):  # the caller's says what differs
        await person.until(lambda: person.screen() + "\n" == wanted)
    return person.screen() + "\n"


@pytest.mark.parametrize("name", LOOKS)
async def test_the_characters(name: str) -> None:
    size, story = LOOKS[name]
    app = TorchnavApp(SampleOpener(), Config())
    kept = TEXTS / f"{name}.txt"
    async with app.run_test(size=size) as pilot:
        person = Person(pilot)
        await story(person)
        if os.environ.get("TORCHNAV_UPDATE"):
            await pilot.pause(1)
            kept.parent.mkdir(exist_ok=True)
            kept.write_text(person.screen() + "\n", encoding="utf-8")
        wanted = kept.read_text(encoding="utf-8")
        seen = await settled(person, wanted)
    assert seen == wanted


@pytest.mark.skipif(version("textual") != DRAWN_WITH, reason=f"drawn with Textual {DRAWN_WITH}")
@pytest.mark.parametrize(
    ("name", "theme"),
    [
        ("chain-80x24", "textual-dark"),
        ("chain-160x45", "textual-light"),
        ("source-80x24", "textual-dark"),
        ("source-80x24", "textual-light"),
        ("chain-80x24", "ansi-dark"),
    ],
)
def test_the_colours(name: str, theme: str, snap_compare: Callable[..., bool]) -> None:
    size, story = LOOKS[name]

    async def play(pilot: Pilot[Any]) -> None:
        await story(Person(pilot))
        for line in pilot.app.screen.query(Input):
            line.cursor_blink = False  # a busy machine may take the picture between
        await pilot.pause(0.2)

    app = TorchnavApp(SampleOpener(), Config(theme=theme))
    assert snap_compare(app, run_before=play, terminal_size=size)
