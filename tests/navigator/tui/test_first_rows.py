"""The first rows, found by a process of their own while the screen is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from indexes.queries.index import Index
from indexes.source.source import Source
from navigator.tui.app import TorchnavApp
from navigator.tui.config import Config
from navigator.tui.processes import first_rows
from navigator.tui.processes.preview import Preview
from navigator.tui.screens.browser import BrowserScreen
from navigator.tui.session import Opener, Session
from tests.tree_marks import TREE


def test_they_are_those_of_the_index(small_tree: tuple[str, ...]) -> None:
    cache = Path(small_tree[3])
    first = first_rows.begin(str(TREE), cache)
    operators = Index.as_left(Source.find(str(TREE)), cache).operators()
    assert first.operators == (len(operators), operators[: first_rows.ROWS])
    assert first.entries is None


def test_without_an_index_they_are_those_of_the_yaml_file(tmp_path: Path) -> None:
    first = first_rows.begin(str(TREE), tmp_path)
    preview = Preview(Source.find(str(TREE)))
    assert first.operators == (len(preview.operators()), preview.operators()[: first_rows.ROWS])
    assert first.entries is not None
    again = Preview(Source.find(str(TREE)), first.entries)
    assert again.operators() == preview.operators()


def test_where_there_is_no_tree_there_are_none(tmp_path: Path) -> None:
    first = first_rows.begin(str(tmp_path), tmp_path)
    assert first.operators is None
    assert first.entries is None


def _names() -> Iterator[str]:
    return (one.full_name for one in Preview(Source.find(str(TREE))).operators())


class Waiting(Opener):
    """Opens nothing, so that what is shown are the first rows alone."""

    def sessions(self, *_: object) -> Iterator[Session]:
        return iter(())


async def test_they_are_painted_before_anything_is_opened(small_tree: tuple[str, ...]) -> None:
    first = first_rows.begin(str(TREE), Path(small_tree[3]))
    app = TorchnavApp(Waiting(str(TREE), None, first), Config())
    async with app.run_test(size=(120, 40)) as pilot:
        screen = app.screen
        assert isinstance(screen, BrowserScreen)
        while not screen.operators.list.row_count:
            await pilot.pause(0.01)
        assert first.operators is not None
        total, rows = first.operators
        assert screen.session is None
        assert screen.operators.list.current == rows[0]
        await pilot.press("down", "enter")  # no chain can be asked for yet
        assert screen.op is None
        assert total > len(rows) or screen.operators.list.row_count == total
