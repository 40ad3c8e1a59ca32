"""What uncommitted work reaches, and the plan of a new operator: one key from anywhere."""

from __future__ import annotations

from pathlib import Path

from navigator.tui.lists.impact import AffectedPane
from navigator.tui.widgets.filter_input import FilterInput
from tests.indexing import edit, opened
from tests.navigator.tui.conftest import Sit
from tests.repositories import commit, repository

KERNEL = "aten/src/ATen/native/Activation.cpp"


async def test_uncommitted_work_its_operators_and_its_tests(
    sit: Sit, tmp_path: Path, cache: Path
) -> None:
    tree = repository(tmp_path / "tree")
    edit(tree, KERNEL, "self.scalar_type() != at::kBool", "self.scalar_type() != at::kHalf")
    with opened(tree, cache):
        pass  # there is an index from now on
    async with sit(80, 24, tree=tree, cache=cache) as person:
        await person.asks_for("sin")
        await person.presses("A")
        await person.sees("against HEAD: 1 changes", "Operators reached", "relu")
        screen = person.pane(AffectedPane)
        while (row := screen.places.current) is None or not row.command:
            await person.presses("down")
        await person.presses("C")
        await person.until(lambda: person.app.context.copied == row.command, "the command")


async def test_a_range_is_typed(sit: Sit, tmp_path: Path, cache: Path) -> None:
    tree = repository(tmp_path / "tree")
    edit(tree, KERNEL, "self.scalar_type() != at::kBool", "self.scalar_type() != at::kHalf")
    commit(tree, "edit")
    with opened(tree, cache):
        pass  # there is an index from now on
    async with sit(tree=tree, cache=cache) as person:
        await person.asks_for("sin")
        await person.presses("A")
        await person.sees("HEAD: 0 changes")
        await person.types("HEAD~1..HEAD", into="slash")
        await person.presses("enter")
        await person.sees("HEAD against HEAD~1: 1 changes")
        await person.types("nonsense", into="slash")
        await person.presses("enter")
        await person.sees("HEAD~1..HEADnonsense")
        await person.presses("escape", "escape")
        await person.until(lambda: person.app.screen is person.browser, "the browser")


async def test_a_tree_without_history_says_so(sit: Sit) -> None:
    async with sit() as person:
        await person.asks_for("sin")
        await person.presses("A")
        await person.sees("no .git")


async def test_a_new_operator_is_planned_and_its_checklist_copied(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.asks_for("sin")
        await person.presses("P")
        await person.sees("type its schema, or the name")
        await person.types("sin9(Tensor self) -> Tensor")
        await person.presses("enter")
        await person.sees("Checks", "What to write", "Draft")
        await person.presses("m")
        await person.until(lambda: "# New operator `sin9" in person.app.clipboard, "Markdown")
        await person.presses("G", "enter")
        await person.until(lambda: person.app.screen is person.browser, "the browser")


async def test_the_name_of_an_operator_gives_its_schema_to_edit(sit: Sit) -> None:
    async with sit(80, 24) as person:
        await person.asks_for("sin")
        await person.presses("P")
        await person.types("relu")
        await person.presses("enter")
        line = person.app.screen.query_one(FilterInput)
        await person.until(lambda: line.value == "relu(Tensor self) -> Tensor", "its schema")
        await person.presses("enter")
        await person.sees("WRONG")


async def test_both_and_the_gaps_are_one_key_away_in_the_source_and_in_lists(sit: Sit) -> None:
    async with sit() as person:
        await person.asks_for("sin")
        await person.presses("g", "k")
        await person.until(lambda: person.workspace.is_in_source and person.place(), "the kernel")
        for key, words in (("A", "affected"), ("M", "gaps"), ("P", "a new operator")):
            await person.presses(key)
            await person.sees(words)
            await person.presses("escape")
            if person.app.screen is not person.browser:
                await person.presses("escape")
            await person.until(lambda: person.app.screen is person.browser, "the browser")
        await person.presses("I")
        await person.sees("impact:")
        await person.presses("A")
        await person.sees("no .git")
