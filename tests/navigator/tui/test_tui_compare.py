"""Two versions compared on screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.navigator.tui.conftest import Sit
from tests.repositories import commit, repository
from tests.tree_marks import YAML


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """``v1``, and an argument more in the work tree."""
    root = repository(tmp_path / "pytorch")
    file = root / YAML
    old = "- func: mul.Tensor(Tensor self, Tensor other)"
    file.write_text(file.read_text().replace(old, f"{old[:-1]}, *, int round)"))
    commit(root, "An argument without a default")
    return root


async def test_a_version_is_named_compared_and_filtered(sit: Sit, repo: Path) -> None:
    async with sit(120, 40, tree=repo) as person:
        await person.asks_for("mul.Tensor")
        await person.presses("V")
        await person.sees("name a version and press enter")
        await person.types("v1")
        await person.presses("enter")
        await person.sees("Schemas: 1 changed")
        await person.types(" add")
        await person.sees("no difference matches")


async def test_a_list_compares_too_and_is_there_again_behind_it(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.asks_for("relu")
        await person.presses("c")
        await person.sees("contribute: relu")
        await person.presses("V")
        await person.sees("name a version and press enter")
        await person.presses("escape")
        await person.sees("contribute: relu")


async def test_an_unknown_version_says_what_to_do(sit: Sit, repo: Path) -> None:
    async with sit(200, 50, tree=repo) as person:
        await person.asks_for("mul.Tensor")
        await person.presses("V")
        await person.types("v99")
        await person.presses("enter")
        await person.sees("no commit, tag, branch or folder v99")
