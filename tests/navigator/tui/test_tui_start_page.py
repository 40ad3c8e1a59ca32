"""What is seen before anything is chosen, and where the reader was last time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from navigator.tui.history import LastPlaces, Visit
from navigator.tui.lists.gaps import GapsPane
from navigator.tui.screens.places import PlacesScreen
from tests.navigator.tui.conftest import Person, Sit


def row_of(person: Person, words: str) -> int:
    """The row of the start page with these words."""
    page = person.chain.start
    rows = ["".join(text for text, _ in page.row(at, 200)) for at in range(page.row_count)]
    return next(at for at, row in enumerate(rows) if words in row)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_the_first_screen_says_what_to_type_beside_the_operators(
    sit: Sit, size: tuple[int, int]
) -> None:
    async with sit(*size) as person:
        await person.until(person.has_index, "the index")
        await person.sees("Type any name", "Openings for a contribution")
        await person.sees("torchnav trace script.py")
        assert person.lists_every_operator()
        await person.types("softmax")
        await person.until(lambda: person.chain.is_ready, "softmax")
        await person.sees("1 CPU", "softmax.int")
        assert "Type any name" not in person.screen()


async def test_enter_opens_the_first_operator_when_nothing_was_typed(sit: Sit) -> None:
    async with sit() as person:
        await person.until(person.has_index, "the index")
        first = person.browser.operators.list.current
        assert first is not None
        await person.presses("enter")
        await person.until(lambda: person.chain.is_ready, "the first operator")
        assert person.chain.op == first.full_name
        assert person.app.focused is person.chain.card


async def test_a_row_of_the_start_page_does_what_its_key_does(sit: Sit) -> None:
    async with sit() as person:
        await person.until(person.has_index, "the index")
        await person.presses("tab", "tab")
        assert person.app.focused is person.chain.start
        person.chain.start.move_to(row_of(person, "Openings"))
        await person.presses("enter")
        await person.until(lambda: isinstance(person.app.screen, PlacesScreen), "the list")
        assert person.app.screen.query(GapsPane)


async def test_the_start_page_leads_back_to_what_was_open(sit: Sit) -> None:
    async with sit() as person:
        await person.asks_for("softmax")
        await person.presses("0")
        assert person.chain.start.has_focus
        person.chain.start.move_to(row_of(person, "softmax.int"))
        await person.presses("enter")
        await person.until(lambda: person.chain.is_ready, "softmax again")
        assert person.chain.op == "softmax.int"
        await person.presses("0", "left")
        assert person.browser.operators.list.has_focus
        await person.presses("enter")
        await person.until(lambda: person.chain.is_ready, "the operator of the list")


async def test_the_table_of_no_operator_says_what_is_missing(sit: Sit) -> None:
    async with sit() as person:
        await person.until(person.has_index, "the index")
        await person.presses("escape", "d")
        await person.sees("choose an operator first")


# ------------------------------------------------------------------------- last places


async def test_a_tree_opens_where_it_was_left(sit: Sit, tmp_path: Path) -> None:
    places = LastPlaces(tmp_path / "state" / "places.json")
    async with sit(places=places) as person:
        await person.asks_for("mul.Tensor")
        await person.presses("escape", "slash", "ctrl+u")
        await person.types("softmax")
        await person.presses("enter")
        await person.until(lambda: person.chain.op == "softmax.int", "softmax")
        await person.until(lambda: person.chain.is_ready, "softmax")
        await person.presses("q")
    async with sit(places=places) as person:
        await person.until(lambda: person.chain.is_ready, "the last place")
        assert person.chain.op == "softmax.int"
        assert person.browser.operators.list.current is not None
        assert person.browser.operators.list.current.full_name == "softmax.int"
        assert person.app.focused is person.browser.operators.filter
        await person.presses("escape", "left_square_bracket")
        await person.until(lambda: person.chain.op == "mul.Tensor", "the place before")


async def test_what_is_typed_or_named_comes_before_the_last_place(sit: Sit, tmp_path: Path) -> None:
    places = LastPlaces(tmp_path / "places.json")
    async with sit(places=places) as person:
        await person.asks_for("softmax")
        await person.presses("q")
    async with sit(places=places, op="mul.Tensor") as person:
        await person.until(lambda: person.chain.is_ready, "mul")
        assert person.chain.op == "mul.Tensor"
    async with sit(places=places) as person:
        await person.types("addmm")
        await person.until(lambda: person.chain.op == "addmm", "addmm")
        await person.until(person.has_index, "the index")
        assert person.chain.op == "addmm"


async def test_an_operator_that_is_gone_leaves_the_start_page(
    sit: Sit, tree: Path, tmp_path: Path
) -> None:
    places = LastPlaces(tmp_path / "places.json")
    places.keep(str(tree), [Visit("no_such_operator", title="no_such_operator")])
    async with sit(places=places) as person:
        await person.until(person.has_index, "the index")
        await person.sees("Type any name", "Last places", "no_such_operator")


def test_places_are_kept_for_each_tree(tmp_path: Path) -> None:
    places = LastPlaces(tmp_path / "deep" / "places.json")
    one, other = Visit("relu", "a.cpp", 3, 4, "relu"), Visit(path="b.cpp", line=1)
    places.keep("/one", [one])
    places.keep("/other", [other])
    assert (places.of("/one"), places.of("/other")) == ([one], [other])
    places.keep("/one", [Visit(f"op{at}") for at in range(99)])
    assert len(places.of("/one")) < 99
    assert places.of("/one")[-1] == Visit("op98")
    assert places.of("/third") == ()


@pytest.mark.parametrize("content", ["", "[]", '{"/t": 3}', json.dumps({"/t": [{"line": "x"}]})])
def test_a_file_that_cannot_be_read_counts_as_none_and_is_written_anew(
    tmp_path: Path, content: str
) -> None:
    places = LastPlaces(tmp_path / "places.json")
    (tmp_path / "places.json").write_text(content)
    assert places.of("/t") == ()
    places.keep("/t", [Visit("relu")])
    assert places.of("/t") == [Visit("relu")]


def test_a_folder_that_takes_nothing_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    LastPlaces(tmp_path / "file" / "places.json").keep("/t", [Visit("relu")])
    LastPlaces().keep("/t", [Visit("relu")])
