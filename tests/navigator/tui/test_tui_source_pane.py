"""Reading source: moving, searching, following names, taking a place elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from navigator.tui.config import Config
from navigator.tui.source.source_moves import next_word, previous_word
from tests.indexing import build
from tests.navigator.tui.conftest import Person, Sit

BINARY_OPS = "aten/src/ATen/native/BinaryOps.cpp"


async def in_kernel(person: Person, op: str = "mul.Tensor") -> None:
    """Stand in the source of an operator's kernel."""
    await person.asks_for(op)
    await person.presses("g", "k")
    await person.until(lambda: person.place().startswith("aten/"), "the kernel")
    await person.until(lambda: person.source.expected is None, "the kernel")


def under_cursor(person: Person) -> str:
    return person.source.view.name_under_cursor()


async def test_vim_keys_move_by_letters_words_lines_and_pages(sit: Sit) -> None:
    async with sit() as person:
        await in_kernel(person)
        view = person.source.view
        start = view.line
        assert under_cursor(person) == "TORCH_IMPL_FUNC"
        await person.presses("w", "w")
        assert under_cursor(person) == "mul_out"
        await person.presses("b", "b", "l", "h")
        assert under_cursor(person) == "TORCH_IMPL_FUNC"
        await person.presses("j", "j", "k")
        assert view.line == start + 1
        await person.presses("G")
        assert view.line == len(view.lines)
        await person.presses("g", "g")
        assert view.line == 1
        await person.presses("ctrl+d")
        assert view.line > 1
        await person.presses("ctrl+u")
        assert view.line == 1


def test_there_are_no_words_where_there_is_no_text() -> None:
    for lines in ((), ("",)):
        assert previous_word(lines, 0, 0) == next_word(lines, 0, 0) == (0, 0)


async def test_the_hop_is_marked_and_in_view(sit: Sit) -> None:
    async with sit() as person:
        await in_kernel(person)
        view = person.source.view
        assert view.lines[view.marked[0]].startswith("TORCH_IMPL_FUNC(mul_out)")
        assert view.lines[view.marked[-1]] == "}"
        await person.sees("TORCH_IMPL_FUNC(mul_out)")


async def test_search_goes_round_and_says_how_many(sit: Sit) -> None:
    async with sit() as person:
        await in_kernel(person)
        start = person.source.view.line
        await person.types("mul_stub", into="slash")
        await person.sees("3/3")
        await person.presses("enter")
        view = person.source.view
        places = [(view.row, view.column)]
        for _ in range(3):
            await person.presses("n")
            places.append((view.row, view.column))
        assert len(set(places)) == 3
        assert places[3] == places[0]
        await person.presses("N")
        assert (view.row, view.column) == places[2]
        await person.types("no such text", into="slash")
        await person.sees("no match")
        await person.presses("escape")
        assert view.row == places[2][0] != start


async def test_a_line_by_its_number(sit: Sit) -> None:
    async with sit() as person:
        await in_kernel(person)
        await person.types("7", into="colon")
        await person.sees("line 7")
        await person.presses("enter")
        await person.is_at(f"{BINARY_OPS}:7")


async def test_the_definition_of_the_name_under_the_cursor(sit: Sit) -> None:
    async with sit() as person:
        await in_kernel(person)
        await person.types("mul_stub", into="slash")
        await person.presses("enter", "g", "d")
        await person.sees("definitions of mul_stub", "DEFINE_DISPATCH", "REGISTER_DISPATCH")
        await person.presses("enter")
        view = person.source.view
        await person.until(lambda: "DEFINE_DISPATCH(mul_stub)" in view.lines[view.row], "it")
        await person.presses("alt+left")
        await person.until(lambda: "mul_stub(device_type" in view.lines[view.row], "its use")


async def test_several_definitions_are_offered(sit: Sit) -> None:
    async with sit() as person:
        await in_kernel(person)
        await person.presses("w", "w", "g", "d")
        await person.sees("definitions of mul_out", "made by TORCH_IMPL_FUNC", "function")
        await person.presses("j", "enter")
        await person.sees_no("definitions of mul_out")
        view = person.source.view
        await person.until(lambda: "Tensor& mul_out(" in view.lines[view.row], "the other one")


async def test_the_uses_of_a_name(sit: Sit) -> None:
    async with sit() as person:
        await in_kernel(person)
        await person.types("mul_stub", into="slash")
        await person.presses("enter", "g", "r")
        await person.sees("uses of mul_stub", "REGISTER_DI", "mul.Tensor")
        await person.presses("escape")
        await person.sees_no("uses of")


async def test_a_name_that_is_defined_nowhere(sit: Sit) -> None:
    async with sit() as person:
        await in_kernel(person)
        await person.presses("j", "w", "g", "d")
        await person.sees("no definition of const")


async def test_copying_a_name_a_place_and_a_link(sit: Sit) -> None:
    async with sit() as person:
        await in_kernel(person)
        line = person.source.view.line
        await person.presses("y", "p")
        assert person.app.clipboard == f"{BINARY_OPS}:{line}"
        await person.presses("y", "n")
        assert person.app.clipboard == "TORCH_IMPL_FUNC"
        await person.presses("y", "l")
        await person.sees("commit of this tree is not known")
        await person.presses("Y")
        await person.sees("Select it with the mouse", "TORCH_IMPL_FUNC")
        await person.presses("escape")
        await person.sees_no("Select it")


async def test_a_terminal_that_takes_no_text_shows_it_instead(
    sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM_PROGRAM", "Apple_Terminal")
    async with sit() as person:
        await in_kernel(person)
        await person.presses("y", "p")
        await person.sees("Select it with the mouse", BINARY_OPS)


async def test_a_reader_may_always_want_to_see_it(sit: Sit) -> None:
    async with sit(config=Config(clipboard="show")) as person:
        await in_kernel(person)
        await person.presses("y", "p")
        await person.sees("Select it with the mouse")


async def test_no_editor_is_one_line(sit: Sit, monkeypatch: pytest.MonkeyPatch) -> None:
    async with sit() as person:
        await in_kernel(person)
        monkeypatch.setenv("PATH", "/nonexistent")
        await person.presses("e")
        await person.sees("no editor")


async def test_an_edited_file_is_read_again_where_one_was(
    sit: Sit, tree_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "code"
    script.write_text('#!/bin/sh\nsed -i "1s/^/\\/\\/ edited just now\\n/" "${2%:*}"\n')
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(script))
    build(tree_copy, tmp_path / "cache")
    async with sit(tree=tree_copy, cache=tmp_path / "cache") as person:
        await in_kernel(person)
        line = person.source.view.line
        await person.presses("e")
        await person.until(
            lambda: "edited just now" in (tree_copy / BINARY_OPS).read_text(), "the edit"
        )
        await person.presses("ctrl+r")
        await person.until(lambda: "edited just now" in person.source.view.lines[0], "the new text")
        assert person.source.view.line == line


async def test_the_mouse_selects_text_and_a_click_moves_the_cursor(sit: Sit) -> None:
    async with sit() as person:
        await in_kernel(person)
        view = person.source.view
        row = view.row - round(view.scroll_y) + 1
        await person.pilot.click(view, offset=(10, row))
        assert view.row == row + round(view.scroll_y)
        await person.pilot.mouse_down(view, offset=(8, 2))
        await person.pilot.hover(view, offset=(12, 4))
        await person.pilot.mouse_up(view, offset=(12, 4))
        await person.until(person.app.screen.get_selected_text, "a selection")
        selected = person.app.screen.get_selected_text()
        assert selected is not None
        assert selected.count("\n") == 2
        top = round(view.scroll_y)
        assert view.lines[top + 3] in selected


async def test_a_double_click_goes_to_the_definition(sit: Sit) -> None:
    async with sit() as person:
        await in_kernel(person)
        view = person.source.view
        row = next(at for at in range(view.row, view.row + 9) if "mul_stub" in view.lines[at])
        offset = (view.lines[row].index("mul_stub") + 9, row - round(view.scroll_y))
        await person.pilot.click(view, offset=offset, times=2)
        await person.sees("definitions of mul_stub")
