"""The plan of a change on screen: steps are ticked, kept and run."""

from __future__ import annotations

import contextlib
import json
import signal
from pathlib import Path
from typing import cast

import pytest
from textual.widget import Widget

from navigator.progress import Progress
from navigator.tui.lists.plan import PlanPane, is_change
from navigator.tui.shell import run_shown
from tests.navigator.tui.conftest import Person, Sit

CHANGE = "batch-rule/cumsum"


async def _plans(person: Person) -> PlanPane:
    """From the gaps to the plan of one."""
    await person.asks_for("relu")
    await person.presses("M")
    await person.sees("public names without a docstring")
    await person.types("batch-rule cumsum")
    await person.sees("operators that vmap runs in a loop")
    await person.presses("enter", "enter")
    await person.sees(f"plan: {CHANGE}", "Steps: 0 of")
    return person.pane(PlanPane)


async def test_a_tick_is_kept_until_the_next_day(sit: Sit, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    async with sit(cache=cache) as person:
        pane = await _plans(person)
        assert pane.places.current is not None
        await person.presses("space")
        await person.sees("[x] 1.", "Steps: 1 of")
        kept = [*cache.glob("changes/*/*.json")]
        assert len(kept) == 1
        assert len(json.loads(kept[0].read_text())["ticked"]) == 1
        await person.presses("escape")
    async with sit(cache=cache) as person:
        await person.asks_for("relu")
        person.app.action_list("contribute", CHANGE)
        await person.sees("[x] 1.", "Steps: 1 of")
        await person.presses("space")
        await person.sees("[ ] 1.", "Steps: 0 of")


async def test_a_step_is_opened_in_the_editor(sit: Sit, editor: Path) -> None:
    async with sit() as person:
        pane = await _plans(person)
        row = pane.places.current
        assert row is not None
        assert row.location is not None
        path = row.location.path
        await person.until(lambda: person.app.screen.query("SourceView"), "the source")
        await person.presses("e")
        await person.until(lambda: editor.exists() and path in editor.read_text(), path)


async def test_a_command_is_shown_run_and_remembered(
    sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def run(_owner: object, command: str, _folder: Path) -> int:
        ran.append(command)
        return 1

    monkeypatch.setattr("navigator.tui.lists.plan.run_shown", run)
    async with sit(120, 50) as person:
        pane = await _plans(person)
        await person.presses("exclamation_mark")
        await person.sees("this row has no command")
        while (row := pane.places.current) is None or not row.command:
            await person.presses("down")
        await person.presses("exclamation_mark")
        await person.sees("status 1")
        row = pane.places.current
        assert row is not None
        assert ran == [f"{row.command}"]


async def test_the_plan_is_copied_and_fits_small_screens(sit: Sit) -> None:
    async with sit(80, 24) as person:
        await _plans(person)
        await person.presses("m")
        await person.until(lambda: person.app.clipboard.startswith("# "), "Markdown")
        assert "- [ ] " in person.app.clipboard


def test_only_ids_of_gaps_are_changes() -> None:
    assert is_change("kernel/MPS/gcd")
    assert not is_change("aten/src/ATen/native/Add.cpp:3")
    assert not is_change("add.Tensor")


def test_what_is_no_file_of_ours_is_nothing_done(tmp_path: Path) -> None:
    first = Progress.load(tmp_path, "tree", "kernel/MPS/../../gcd")
    first.tick(["a", "b"])
    first.tick(["b"])
    first.end("pytest", 0)
    assert first.path.parent == tmp_path / "changes" / "tree"
    again = Progress.load(tmp_path, "tree", "kernel/MPS/../../gcd")
    assert (again.ticked, again.ended) == ({"a"}, {"pytest": 0})
    first.path.write_text('{"ticked": 3}')
    assert Progress.load(tmp_path, "tree", "kernel/MPS/../../gcd").ticked == set()


class _Terminal:
    """Stands for an application whose terminal can be handed over."""

    def __init__(self) -> None:
        self.app = self

    def suspend(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()


def test_a_command_runs_when_enter_is_pressed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = cast(Widget, _Terminal())
    monkeypatch.setattr("builtins.input", lambda _words: "")
    assert run_shown(terminal, "touch here; exit 3", tmp_path) == 3
    assert (tmp_path / "here").exists()
    assert "$ touch here; exit 3" in capsys.readouterr().out


def test_ctrl_c_goes_back_and_runs_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(_words: str) -> str:
        signal.raise_signal(signal.SIGINT)
        return ""

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr("builtins.input", interrupted)
    assert run_shown(cast(Widget, _Terminal()), "touch here", tmp_path) is None
    assert not (tmp_path / "here").exists()
    assert signal.getsignal(signal.SIGINT) is before
