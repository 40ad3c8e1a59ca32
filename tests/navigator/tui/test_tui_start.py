"""The first screen on a machine without any source of PyTorch."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Static

from indexes.model.errors import SourceError
from indexes.source.source import Source
from indexes.source.torch_install import choose_python
from navigator.tui.start import Start, StartApp, _source


def check(start: Start) -> object:
    return Source.find(start.name)


def wrong(app: StartApp) -> str:
    return str(app.query_one("#wrong", Static).render())


async def test_a_key_fetches() -> None:
    app = StartApp("", check)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("c")
    assert app.return_value == Start("clone")


async def test_a_folder_that_is_no_tree_says_so_and_asks_again(tree: Path, tmp_path: Path) -> None:
    app = StartApp("", check)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("t", *str(tmp_path), "enter")
        await pilot.pause()
        assert "native_functions.yaml" in wrong(app) or "no source tree" in wrong(app)
        app.query_one("Input").value = str(tree)  # type: ignore[attr-defined]
        await pilot.press("enter")
    assert app.return_value == Start("tree", str(tree))


async def test_enter_on_a_line_does_what_its_key_does_and_escape_leads_back() -> None:
    app = StartApp("no source tree at /nowhere", check)
    async with app.run_test(size=(80, 24)) as pilot:
        assert "/nowhere" in wrong(app)
        assert "the tree that was named" in str(app.query(Static).first().render())
        await pilot.press("down", "enter")
        assert app.focused is app.query_one("Input")
        await pilot.press("escape", "up", "enter")
    assert app.return_value == Start("clone")


async def test_leaving_answers_nothing() -> None:
    app = StartApp("", check)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("q")
    assert app.return_value is None


def test_a_python_without_torch_is_refused(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    try:
        with pytest.raises(SourceError, match="has no torch"):
            _source(None, Start("python", str(python)))
    finally:
        choose_python("", "")
