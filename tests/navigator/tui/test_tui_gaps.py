"""What is missing in a tree, on screen."""

from __future__ import annotations

from tests.navigator.tui.conftest import Sit


async def test_gaps_are_counted_filtered_and_opened(sit: Sit) -> None:
    async with sit() as person:
        await person.asks_for("relu")
        await person.presses("M")
        await person.sees("operators missing a backend kernel")
        await person.types("kind:todo tensor.index")
        await person.sees("use tensor.index() after improving perf")
        await person.sees_no("without a docstring (docs)")
        await person.presses("enter", "enter")
        await person.sees("plan: todo/at::native::embedding", "Steps: 0 of")
        await person.presses("enter", "escape", "escape")
        await person.until(lambda: person.app.screen is person.browser, "the browser")


async def test_what_cannot_be_told_says_why(sit: Sit) -> None:
    async with sit(200, 50) as person:
        await person.asks_for("relu")
        await person.presses("M")
        await person.sees("operators missing a backend kernel")
        await person.types("kind:decomposition")
        await person.sees("HasDecompTest.test_has_decomposition.expect")


async def test_a_kind_that_there_is_not(sit: Sit) -> None:
    async with sit() as person:
        await person.asks_for("relu")
        await person.presses("M")
        await person.sees("operators missing a backend kernel")
        await person.types("kind:nonsense")
        await person.sees("no kind of gap is named nonsense")


async def test_a_gap_leads_to_its_contribution(sit: Sit) -> None:
    async with sit() as person:
        await person.asks_for("relu")
        await person.presses("M")
        await person.sees("operators missing a backend kernel")
        await person.types("batch-rule cumsum")
        await person.sees("no batching rule for cumsum")
        await person.presses("enter", "c")
        await person.sees("plan: batch-rule/cumsum")
