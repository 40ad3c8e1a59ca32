"""A checkout whose configuration names programs for git, before the commands that run a program of
the user's, the screens and the server for agents: none of the checkout's programs runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from navigator.tui.app import TorchnavApp
from navigator.tui.config import Config
from navigator.tui.session import Opener
from tests.navigator.cli.test_hostile_checkout import CPP, Trap, armed, trap  # noqa: F401  fixtures
from tests.navigator.trace.sitting import opened, opens, sit
from tests.navigator.tui.conftest import Person

TRACE = sorted((Path(__file__).parents[1] / "data/traces").glob("*.json.gz"))[0]
PROGRAM = """
import torch

x = torch.ones(2, requires_grad=True)
loss = (x + x).sum()
loss.backward()
"""
COMMANDS = (
    "inspect FOLDER/program.py:x",
    "graph FOLDER/program.py:loss",
    "why FOLDER/program.py",
    "trace --no-screen -o FOLDER/made/trace.json FOLDER/program.py",
    "why FOLDER/made/trace.json",
    "export trace FOLDER/made/trace.json",
    "export trace FOLDER/made/trace.json --html FOLDER/report.html",
    "ranks FOLDER/made",
    "completion bash",
)
SLOW = ("generated add.Tensor", "lab views")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, native: Path) -> Path:
    """A program, and the trace and the cache that commands make."""
    made = tmp_path_factory.mktemp("programs")
    (made / "cache").mkdir()
    (made / "cache/native").symlink_to(native)
    (made / "program.py").write_text(PROGRAM)
    return made


def _run(armed: Trap, folder: Path, words: str) -> subprocess.CompletedProcess[str]:  # noqa: F811
    given = {"TORCHNAV_CHECKOUT": str(armed.root), "TORCHNAV_CACHE": str(folder / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "navigator", *words.replace("FOLDER", str(folder)).split()],
        env={**os.environ, **given},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("commands", [COMMANDS, pytest.param(SLOW, marks=pytest.mark.slow)])
def test_no_command_that_runs_a_program_runs_another(
    armed: Trap,  # noqa: F811
    folder: Path,
    commands: tuple[str, ...],
) -> None:
    """In their order: the later ones read what ``trace`` wrote."""
    pytest.importorskip("torch")
    for words in commands:
        armed.arm()
        done = _run(armed, folder, words)
        assert done.returncode in (0, 1), (words, done.stderr)
        assert armed.sprung == set(), words
    assert commands is SLOW or (folder / "made/trace.json").stat().st_size


async def test_neither_does_a_screen(armed: Trap, cache: Path, folder: Path) -> None:  # noqa: F811
    """The browser with blame, history and what an edit affects; an opened trace."""
    app = TorchnavApp(Opener(str(armed.root), cache), Config())
    async with app.run_test(size=(120, 40)) as pilot:
        person = Person(pilot)
        await person.asks_for("add.Tensor")
        for key in ("enter", "b", "h", "escape", "D", "escape", "M", "escape", "ctrl+r"):
            await person.presses(key)
            await pilot.pause(0.2)
    async with sit(Opener(str(armed.root), cache), opened(TRACE)) as person:
        await opens(person)
        await person.presses("enter", "b", "h")
        await person.pauses(0.5)
    assert armed.sprung == set()


async def test_neither_does_the_server_for_agents(armed: Trap, cache: Path) -> None:  # noqa: F811
    mcp = pytest.importorskip("mcp")
    given = ["-m", "navigator", "mcp", "--tree", str(armed.root), "--cache", str(cache)]
    server = mcp.StdioServerParameters(command=sys.executable, args=given, env={**os.environ})
    async with mcp.Client(server) as client:
        for tool, asked in (
            ("locate", {"name": f"{CPP}:43"}),
            ("chain", {"op": "add.Tensor"}),
            ("dispatch", {"op": "add.Tensor"}),
            ("users", {"symbol": "add_stub", "direction": "up"}),
            ("tests", {"of": "add.Tensor"}),
            ("trace", {"file": str(TRACE)}),
        ):
            assert not (await client.call_tool(tool, asked)).is_error
    assert armed.sprung == set()
