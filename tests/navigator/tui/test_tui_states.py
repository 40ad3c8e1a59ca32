"""Sizes, missing layers, bad input: what is seen when not all is well."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from threading import Event

import pytest

from indexes.model.answers import Unresolved
from indexes.queries.index import Index
from indexes.source.source import Source
from navigator.tui.history import Visit
from navigator.tui.processes.preview import REASON, Preview
from navigator.tui.screens.places import PlacesScreen
from navigator.tui.session import Session
from navigator.tui.source.source_pane import SourcePane
from tests.navigator.tui.conftest import Person, Sit
from tests.tree_marks import TREE

YAML = "aten/src/ATen/native/native_functions.yaml"


@pytest.mark.parametrize("size", [(200, 50), (80, 24), (40, 10), (9, 3), (1, 1)])
async def test_no_size_is_too_small(sit: Sit, size: tuple[int, int]) -> None:
    async with sit(*size) as person:
        await person.asks_for("softmax")
        await person.presses("j", "j", "enter", "j", "slash", "escape", "tab", "z", "z")
        await person.presses("question_mark", "escape", "T", "escape", "s", "escape")
        for width, height in ((80, 24), (1, 1), (150, 40)):
            await person.pilot.resize_terminal(width, height)
            await person.pauses()
        await person.sees("checkout 2.7.0a0")


async def test_at_80_columns_the_chain_and_the_source_take_turns(sit: Sit) -> None:
    async with sit(80, 24) as person:
        await person.asks_for("softmax")
        assert not person.source.display or person.source.region.width == 0
        await person.presses("enter")
        await person.until(lambda: person.source.region.width == 80, "the source")
        await person.presses("escape")
        await person.until(lambda: person.chain.region.width > 40, "the chain")


@pytest.mark.parametrize("key", ["s", "M", "V", "P", "c", "I", "A"])
async def test_at_80_columns_a_list_and_its_source_take_turns(sit: Sit, key: str) -> None:
    async with sit(80, 24) as person:
        await person.asks_for("softmax")
        await person.presses(key)
        await person.until(lambda: isinstance(person.app.screen, PlacesScreen), "the list")
        screen = person.app.screen
        assert isinstance(screen, PlacesScreen)
        await person.until(lambda: screen.pane.places.region.width == 80, "the list alone")
        await person.presses("tab")
        await person.until(
            lambda: screen.query_one(SourcePane).region.width == 80, "the source alone"
        )
        await person.pilot.resize_terminal(120, 40)
        await person.until(lambda: 0 < screen.pane.places.region.width < 120, "both")


async def test_a_size_that_changed_behind_a_list_is_known_on_return(sit: Sit) -> None:
    async with sit(200, 50) as person:
        await person.asks_for("softmax")
        await person.presses("I")
        await person.until(lambda: isinstance(person.app.screen, PlacesScreen), "the list")
        await person.pilot.resize_terminal(80, 24)
        await person.presses("escape")
        await person.until(lambda: person.source.region.width == 0, "no source")
        assert person.browser.has_class("-narrow")
        assert not person.browser.has_class("-wide")


async def test_a_zoomed_pane_has_the_screen_to_itself(sit: Sit) -> None:
    async with sit(200, 50) as person:
        await person.asks_for("softmax")
        await person.presses("z")
        await person.until(lambda: person.chain.region.width == 200, "zoom")
        await person.presses("enter")
        await person.until(lambda: person.source.region.width == 200, "source")
        await person.presses("z")
        await person.until(lambda: person.source.region.width < 120, "no zoom")


async def test_the_operators_are_there_while_the_index_is_built(
    sit: Sit, tree: Path, tmp_path: Path
) -> None:
    """Seen through every message: the first answers come before the index is finished."""
    async with sit(cache=tmp_path / "cache") as person:
        seen = []

        def note() -> bool:
            if person.session is not None:
                seen.append(type(person.session.index).__name__)
            return seen[-1:] == ["Index"]

        await person.until(note, "the index")
        assert "Preview" in seen
        await person.asks_for("softmax")
        await person.sees("softmax_cpu_out")
    assert (tmp_path / "cache").is_dir()


async def begins_before_the_index(person: Person) -> Index:
    """There is only the YAML file; returns the index that may come."""
    await person.asks_for("softmax")
    assert person.session is not None
    index = person.session.index
    assert isinstance(index, Index)
    person.opens(Session(Preview(Source.find(str(TREE)))))
    return index


async def test_the_index_answers_anew_wherever_the_cursor_is(sit: Sit) -> None:
    async with sit(120, 40) as person:
        index = await begins_before_the_index(person)
        await person.sees(REASON, "Not read yet")
        assert "✗" not in person.line(f"… {person.chain.op}")
        await person.presses("tab", "G")
        assert isinstance(person.chain.hops.step, Unresolved)
        person.opens(Session(index))
        await person.sees("1 CPU", "SoftMaxKernel.cpp")


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        ("M", "operators missing a backend kernel"),
        ("c", "SoftMax.cpp"),
        ("I", "SoftMax.cpp"),
        ("A", "has no .git"),
        ("d", "softmax_cpu_out"),
        ("T", "storage_"),
        ("E", "engine.cpp"),
        ("s softmax_cpu_out", "impl_func"),
    ],
)
async def test_a_list_that_waits_for_the_index_fills_once_there_is_one(
    sit: Sit, keys: str, found: str
) -> None:
    async with sit(120, 40) as person:
        index = await begins_before_the_index(person)
        await person.sees("Not read yet")
        key, _, text = keys.partition(" ")
        await person.types(text, into=key)
        await person.sees("still being")
        person.opens(Session(index))
        await person.sees(found)
        await person.sees_no("still being")


async def test_nothing_is_said_to_be_missing_before_there_is_an_index(sit: Sit) -> None:
    async with sit(120, 40) as person:
        index = await begins_before_the_index(person)
        await person.sees("Not read yet")
        await person.presses("2")
        await person.sees("not available yet")
        await person.types("softmax_cpu_out", into="colon")
        await person.sees("only operators are known")
        person.opens(Session(index))
        await person.sees("SoftMaxKernel.cpp", "impl_func")


async def test_indexing_can_be_stopped_and_taken_up_again(sit: Sit, tmp_path: Path) -> None:
    async with sit(cache=tmp_path / "cache") as person:
        person.browser.action_cancel()
        await person.until(
            lambda: "stopped" in person.screen() or _is_indexed(person.session), "a stop"
        )
        await person.presses("ctrl+r")
        await person.until(lambda: _is_indexed(person.session), "the index")
        await person.asks_for("softmax")
        await person.sees("1 CPU", "SoftMaxKernel.cpp")


def _is_indexed(session: object) -> bool:
    return type(getattr(session, "index", None)).__name__ == "Index"


async def test_the_wheel_says_what_it_lacks_and_what_adds_it(
    sit: Sit, wheel_cache: str, nowhere: Path
) -> None:
    async with sit(80, 24, tree=None, cache=Path(wheel_cache)) as person:
        await person.sees("kernels, stubs and the autograd engine", "torchnav clone", "wheel")
        await person.asks_for("softmax.int")
        await person.sees("the installed wheel holds no")
        await person.presses("1")
        await person.is_at(person.place())
        await person.until(lambda: "native_functions.yaml" in person.place(), "the schema")
        await person.presses("y", "l")
        await person.until(lambda: "github.com" in person.app.clipboard, "a link")
        assert "/aten/src/ATen/native/native_functions.yaml#L" in person.app.clipboard
        await person.presses("E")
        await person.sees("phases of a backward pass", "engine.h")
        await person.presses("escape", "x")
        await person.sees_no("kernels, stubs and the autograd engine")


async def one_line_for(sit: Sit, tree: Path, cache: Path, *words: str) -> None:
    """These words are on the screen, no traceback is, and keys still work."""
    async with sit(100, 24, tree=tree, cache=cache) as person:
        await person.sees(*words)
        assert "Traceback" not in person.screen()
        await person.presses("question_mark", "escape")
        await person.sees(*words)


async def test_a_folder_that_is_no_tree(sit: Sit, tmp_path: Path) -> None:
    await one_line_for(sit, tmp_path, tmp_path / "cache", "is not a PyTorch source tree")


async def test_a_folder_that_does_not_exist(sit: Sit, tmp_path: Path) -> None:
    await one_line_for(sit, tmp_path / "none", tmp_path / "cache", "no source tree at")


async def test_a_tree_without_operators(sit: Sit, tree_copy: Path, tmp_path: Path) -> None:
    (tree_copy / YAML).write_text("")
    await one_line_for(sit, tree_copy, tmp_path / "cache", "native_functions.yaml")


async def test_an_index_file_of_garbage_is_built_anew(
    sit: Sit, tmp_path: Path, small_tree: tuple[str, ...]
) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(small_tree[3], cache)
    for file in cache.rglob("*.db"):
        file.write_bytes(os.urandom(4096))
    async with sit(cache=cache) as person:
        await person.asks_for("softmax")
        await person.sees("softmax_cpu_out")


async def test_a_file_that_is_gone_is_one_line(sit: Sit, tree_copy: Path, tmp_path: Path) -> None:
    async with sit(tree=tree_copy, cache=tmp_path / "cache") as person:
        await person.asks_for("mul.Tensor")
        await person.until(lambda: _is_indexed(person.session), "the index")
        await person.sees("mul_out")
        (tree_copy / "aten/src/ATen/native/BinaryOps.cpp").unlink()
        await person.presses("g", "k")
        await person.sees("cannot read aten/src/ATen/native/BinaryOps.cpp")


async def test_markup_and_escapes_in_source_are_only_text(
    sit: Sit, tree_copy: Path, tmp_path: Path
) -> None:
    path = tree_copy / "aten/src/ATen/native/BinaryOps.cpp"
    text = path.read_text()
    path.write_text(text.replace("mul_stub(device_type(), *this)", "[red]\x1b[2J[/]([x]{y})", 1))
    async with sit(tree=tree_copy, cache=tmp_path / "cache") as person:
        await person.until(lambda: _is_indexed(person.session), "the index")
        await person.asks_for("mul.Tensor")
        await person.presses("g", "k")
        await person.sees("[red]␛[2J[/]([x]{y})")


async def test_a_filter_typed_while_a_newer_index_arrives_gets_its_chain(sit: Sit) -> None:
    """The newer index finds the new text before the input has said that it changed."""
    async with sit(120, 40) as person:
        await person.asks_for("softmax")
        session = person.session
        assert session is not None
        person.browser.operators.filter.value = "mul.Tensor"
        person.browser.on_index_progress_opened()
        await person.until(lambda: person.chain.is_ready, "the chain of mul.Tensor")
        assert person.chain.op == "mul.Tensor"


async def test_a_newer_index_leaves_a_reader_who_moved_on_where_they_are(
    sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answer takes a while, in which keys move the cursor."""
    async with sit(120, 40) as person:
        await person.asks_for("softmax")
        session, before, moved = person.session, person.chain.answer, Event()
        assert session is not None
        chain = session.index.chain
        monkeypatch.setattr(session.index, "chain", lambda op: moved.wait(60) and chain(op))
        person.opens(Session(session.index))
        await person.until(lambda: person.session is not session, "the newer index")
        await person.presses("g", "k")
        kernel = person.chain.hops.hop
        moved.set()
        await person.until(lambda: person.chain.answer is not before, "the newer answer")
        assert kernel is not None
        assert person.chain.hops.hop == kernel


async def test_a_place_chosen_right_after_a_chain_came_is_what_is_shown(sit: Sit) -> None:
    """Not the place of the first hop, which the chain leads to where nothing was chosen."""
    async with sit(120, 40) as person:
        await person.filters("relu")
        await person.until(lambda: person.chain.is_ready and person.chain.op == "relu", "relu")
        answer, chosen = person.chain.answer, Visit("relu", "torch/nn/functional.py", 1)
        assert answer is not None
        person.chain.show(answer, Visit("relu"))
        person.workspace.jump(chosen)
        await person.is_at("torch/nn/functional.py:1")
        await person.pauses(0.3)
        assert person.place() == "torch/nn/functional.py:1"
