"""Impact on screen: one key from an operator or a line of source."""

from __future__ import annotations

from navigator.tui.lists.impact import ImpactPane
from tests.navigator.tui.conftest import Person, Sit


def _impact(person: Person) -> ImpactPane:
    return person.pane(ImpactPane)


async def test_a_line_of_a_kernel_reaches_operators_and_opens_the_way(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.asks_for("sin")
        await person.presses("g", "k")
        await person.until(lambda: person.workspace.is_in_source and person.place(), "the kernel")
        await person.presses("I")
        await person.sees("impact: aten/src/ATen", "Operators reached")
        screen = _impact(person)
        while not (row := screen.places.current) or row.kind != "operator":
            await person.presses("down")
        before = screen.places.row_count
        await person.presses("right")
        assert screen.places.row_count == before + row.below
        await person.presses("escape")
        await person.until(lambda: person.app.screen is person.browser, "the browser")


async def test_tests_come_last_and_their_command_is_copied(sit: Sit) -> None:
    async with sit(80, 24) as person:
        await person.asks_for("sin")
        await person.presses("I")
        await person.sees("impact: sin")
        screen = _impact(person)
        await person.sees("Tests (")
        while (row := screen.places.current) is None or not row.command:
            await person.presses("down")
        await person.presses("C")
        await person.until(lambda: person.app.context.copied == row.command, row.command)
