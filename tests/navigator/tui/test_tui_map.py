"""The folders of the tree on screen."""

from __future__ import annotations

import pytest

from navigator.tui.lists.folder_map import FolderMapPane
from navigator.tui.screens.places import PlacesWorkspace
from tests.navigator.tui.conftest import Sit


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_down_a_folder_up_again_and_into_a_file(sit: Sit, size: tuple[int, int]) -> None:
    async with sit(*size) as person:
        await person.asks_for("relu")
        await person.presses("D")
        await person.sees("folders of the tree", "aten")
        pane = person.app.screen.query_one(FolderMapPane)
        while person.pane(PlacesWorkspace).name_here() != "torch":
            await person.presses("down")
        await person.presses("enter")
        await person.until(lambda: pane.title == "torch", "in torch")
        await person.presses("escape")
        await person.until(lambda: pane.title == "folders of the tree", "at the root")
        assert person.pane(PlacesWorkspace).name_here() == "torch"
        while pane.places.current is None or pane.places.current.kind != "file":
            await person.presses("down")
        path = pane.places.current.visit.path
        await person.presses("enter")
        await person.until(lambda: (path or "").rpartition("/")[2] in person.place(), "the file")
