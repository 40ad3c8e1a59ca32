"""A contribution on screen, and who wrote the lines."""

from __future__ import annotations

from pathlib import Path

from indexes.source.git_history import BlamedLine, Change
from navigator.tui.lists.contribute import ContributePane
from navigator.tui.source.blame import BLAME_WIDTH, blame_column
from tests.navigator.tui.conftest import Person, Sit
from tests.repositories import begin


def _contribution(person: Person) -> ContributePane:
    return person.pane(ContributePane)


async def test_c_prepares_a_contribution_to_the_operator(sit: Sit) -> None:
    async with sit(100, 30) as person:
        await person.asks_for("add.Tensor")
        await person.presses("c")
        await person.sees("contribute: add.Tensor", "Places", "schema add.Tensor")
        await person.until(lambda: _contribution(person)._found, "the contribution")
        await person.presses("end")
        await person.sees("History")
        await person.presses("escape")
        await person.until(lambda: person.app.screen is person.browser, "the browser")


async def test_c_in_the_source_is_about_the_line(sit: Sit) -> None:
    async with sit(120, 30) as person:
        await person.asks_for("mul.Tensor")
        await person.presses("g", "k")
        await person.until(lambda: person.workspace.is_in_source and person.place(), "the kernel")
        place = person.place()
        await person.presses("c")
        await person.sees(f"contribute: {place[:20]}")
        assert _contribution(person)._subject == place


async def test_a_command_and_the_checklist_are_copied(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.asks_for("sin")
        await person.presses("c")
        await person.sees("Places")
        screen = _contribution(person)
        places = screen.places
        while "pytest test/test_ops.py" not in (places.current.name if places.current else ""):
            await person.presses("down")
        await person.presses("C")
        expression = "_sin_cpu and not _name_sin and not _masked_sin and not test_references"
        command = f"pytest test/test_ops.py -k '{expression}'"
        await person.until(lambda: person.app.context.copied == command, command)
        await person.presses("m")
        await person.until(
            lambda: person.app.clipboard.startswith("# Contribute to operator `sin`"), "Markdown"
        )


async def test_tiny_screens_hold_it(sit: Sit) -> None:
    async with sit(40, 10) as person:
        await person.asks_for("sin")
        await person.presses("c")
        await person.sees("Places")


async def test_blame_says_why_there_is_none(sit: Sit) -> None:
    async with sit(120, 30) as person:
        await person.asks_for("sin")
        await person.presses("B")
        await person.sees("torchnav clone --history")
        await person.presses("B")


async def test_blame_beside_the_source(sit: Sit, tree_copy: Path, cache: Path) -> None:
    begin(tree_copy, "Begin (#77)")
    async with sit(120, 30, tree=tree_copy, cache=cache) as person:
        await person.asks_for("sin")
        await person.presses("B")
        await person.sees("#77", "A Te")  # what the column has room for of A Tester
        # On top and at the cursor, not on every line.
        await person.until(lambda: person.screen().count("#77") == 2, "two of them")
        await person.presses("B")
        await person.sees_no("#77")


def _change(number: int | None, author: str = "Ada", *, at_cut: bool = False) -> Change:
    return Change(f"{number or 9:040x}", author, "2024-05-31", "s", number, at_cut)


def test_the_column_is_short_and_harmless() -> None:
    lines = [
        BlamedLine(1, _change(1)),
        BlamedLine(2, _change(1)),
        BlamedLine(3, None),
        BlamedLine(4, _change(None, "E\x1b[31mve" + "x" * 60, at_cut=True)),
        BlamedLine(5, _change(1)),
    ]
    column = blame_column(lines)
    assert column[0] == column[1] == "2024-05 #1       Ada"
    assert column[2] == "not committed"
    assert column[3].startswith("2024-05≤00000000 E")
    assert "\x1b" not in column[3]
    assert column[4] == column[0]
    assert all(len(text) < BLAME_WIDTH for text in column)
