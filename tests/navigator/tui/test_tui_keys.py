"""The key bar: what it offers at which width."""

from __future__ import annotations

import pytest

from navigator.tui.panes.workspace import Workspace
from navigator.tui.screens.help import HelpList
from navigator.tui.widgets.filter_input import FilterInput
from tests.navigator.tui.conftest import Person, Sit


def bar(person: Person) -> str:
    return person.screen().split("\n")[-1].strip()


async def test_the_bar_of_a_wide_terminal_names_every_main_screen(sit: Sit) -> None:
    async with sit(200, 50) as person:
        await person.asks_for("relu")
        await person.sees(
            "c Contribute",
            "I Impact",
            "d Dispatch table",
            "V Diff",
            "M Gaps",
            "B Blame",
            "A Affected",
            "P New operator",
            "z Zoom",
        )
        assert bar(person).endswith("? Help")


@pytest.mark.parametrize(("width", "last"), [(80, "y Copy  [ Back"), (40, "g Go to…")])
async def test_a_narrow_bar_keeps_the_most_useful_whole(sit: Sit, width: int, last: str) -> None:
    async with sit(width, 24) as person:
        await person.asks_for("relu")
        await person.sees("q Quit")
        before, _, _ = bar(person).partition("q Quit")
        assert last in before
        assert "B Blame" not in before
        assert bar(person).endswith("? Help")


async def test_a_list_offers_its_own_keys_first(sit: Sit) -> None:
    async with sit(200, 50) as person:
        await person.asks_for("relu")
        await person.presses("c")
        await person.sees("contribute: relu", "M Gaps")
        shown = bar(person)
        assert shown.index("m Copy checklist") < shown.index("g Go to…") < shown.index("M Gaps")
        assert shown.endswith("? Help")


async def test_help_and_a_click_say_and_do_what_the_bar_says_shortly(sit: Sit) -> None:
    async with sit(200, 50) as person:
        await person.asks_for("relu")
        await person.presses("question_mark")
        await person.sees("Plan a new operator")
        await person.presses("escape")
        await person.sees("M Gaps")
        await person.pilot.click(offset=(bar(person).index("M Gaps") + 2, 49))
        await person.sees("operators missing a backend kernel")


async def test_the_help_begins_with_what_is_at_hand_and_can_be_searched(sit: Sit) -> None:
    async with sit(100, 40) as person:
        await person.asks_for("softmax")
        await person.presses("question_mark")
        help_list = person.app.screen.query_one(HelpList)

        def rows() -> list[str]:
            shown = (help_list.row(at, 100) for at in range(help_list.row_count))
            return [" ".join("".join(text for text, _ in row).split()) for row in shown]

        await person.until(lambda: help_list.row_count > 0, "the keys")
        assert rows()[0] == "Lists"
        assert rows().index("Card") < rows().index("This screen") < rows().index("Chain")
        assert sum("cursor.page_down" in row for row in rows()) == 2  # in lists, in the source
        await person.types("dispatch tab")
        await person.until(lambda: help_list.row_count == 2, "one key below its heading")
        assert rows() == ["This screen", "d Dispatch table table"]
        await person.types("zz")
        await person.sees("no key, mark or word for dispatch tabzz")
        await person.presses("escape")
        await person.until(lambda: person.app.screen is person.browser, "the browser")


async def test_q_closes_the_help_and_is_a_letter_behind_others(sit: Sit) -> None:
    async with sit(100, 40) as person:
        await person.until(person.has_index, "the index")
        await person.presses("question_mark")
        line = person.app.screen.query_one(FilterInput)
        await person.presses("a")
        await person.until(lambda: line.value == "a", "a letter")
        await person.presses("q")
        await person.until(lambda: line.value == "aq", "both letters")
        await person.presses("escape", "question_mark", "q")
        await person.until(lambda: person.app.screen is person.browser, "the browser")


async def test_nobody_waits_for_a_second_stroke_when_its_screen_is_gone(sit: Sit) -> None:
    async with sit() as person:
        await person.asks_for("relu")
        workspace = person.app.screen.query_one(Workspace)
        workspace.action_chord("go")
        assert workspace.context.next_key
        await workspace.remove()
        assert workspace.context.next_key is None


async def test_letters_do_not_overtake_the_keys_that_edit(sit: Sit) -> None:
    async with sit(80, 24) as person:
        await person.types("soft\x15tanx\x7fh")
        assert person.app.screen.query_one(FilterInput).value == "tanh"
