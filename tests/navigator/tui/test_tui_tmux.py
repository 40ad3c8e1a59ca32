"""In a real terminal: tmux, a shell with job control, and the program as people start it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.tree_marks import TREE

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="needs tmux")
PATIENCE = 60.0


class Tmux:
    """A server of its own with one window of 80x24, in which a shell runs."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self._tmux = ["tmux", "-S", str(folder / "socket"), "-f", "/dev/null"]
        self._environ = environ
        self._run("new-session", "-d", "-s", "walk", "-x", "80", "-y", "24", "bash --norc")

    def _run(self, *arguments: str) -> str:
        command = [*self._tmux, *arguments]
        done = subprocess.run(
            command, env=self._environ, capture_output=True, text=True, check=False
        )
        return done.stdout

    def presses(self, *keys: str) -> None:
        self._run("send-keys", "-t", "walk", *keys)

    def types(self, text: str) -> None:
        self._run("send-keys", "-t", "walk", "-l", text)

    def screen(self, *options: str) -> str:
        return self._run("capture-pane", "-p", "-t", "walk", *options)

    def sees(self, *words: str) -> None:
        """Wait until all of these words are on the screen."""
        end = monotonic() + PATIENCE
        while not all(word in self.screen() for word in words):
            assert monotonic() < end, f"waited in vain for {words}:\n{self.screen()}"
            sleep(0.1)

    def sees_no(self, word: str) -> None:
        """Wait until a word has gone."""
        end = monotonic() + PATIENCE
        while word in self.screen():
            assert monotonic() < end, f"{word} stays:\n{self.screen()}"
            sleep(0.1)

    def close(self) -> None:
        self._run("kill-server")


@pytest.fixture
def tmux(small_tree: tuple[str, ...], tmp_path: Path) -> Iterator[Tmux]:
    environ = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    environ |= {"HOME": str(tmp_path), "PYTHONPATH": str(TREE.parents[1])}
    environ |= {"TERM": "xterm-256color", "TORCHNAV_CACHE": small_tree[3], "LC_ALL": "C.UTF-8"}
    server = Tmux(tmp_path, environ)
    yield server
    server.close()


def test_a_walk_from_a_shell_and_back(tmux: Tmux) -> None:
    start = f"{sys.executable} -m navigator --tree {TREE}"
    tmux.types(f"clear; {start}")
    tmux.presses("Enter")
    tmux.sees("Type any name", "abs")
    tmux.types("softmax")
    tmux.sees("softmax.int", "1 CPU")
    tmux.presses("Enter")
    tmux.presses("2")
    tmux.sees("cunn_SoftMaxForward")
    tmux.presses("C-z")
    tmux.sees("Stopped")
    tmux.types("clear; fg")
    tmux.presses("Enter")
    tmux.sees("softmax.int", "cunn_SoftMaxForward", "? Help")
    tmux.presses("q")
    tmux.sees_no("? Help")
    tmux.types(f"clear; {start}; echo left with $?")
    tmux.presses("Enter")
    tmux.sees("softmax.int", "1 CPU", "? Help")  # where it was left
    tmux.presses("C-c")
    tmux.sees("ctrl+c again quits")
    tmux.presses("C-c")
    tmux.sees("left with 130")


def test_without_colour_the_cursor_is_seen(tmux: Tmux) -> None:
    tmux.types(f"NO_COLOR=1 {sys.executable} -m navigator --tree {TREE}")
    tmux.presses("Enter")
    tmux.sees("Type any name")
    tmux.types("relu")
    tmux.sees("1 CPU")
    lines = [one for one in tmux.screen("-e").split("\n") if "│" in one]
    here, below = (grey(one, "relu") for one in lines[1:3])  # below the box, which has the focus
    assert here > below + 4
    tmux.presses("Enter")
    tmux.sees("c Contribute", "relu(Tensor self)")
    lines = tmux.screen("-e").split("\n")
    here, below = (
        next(grey(one, text) for one in lines if text in one)
        for text in ("relu(Tensor", "CPU      ")
    )
    assert here > below + 4


def grey(line: str, text: str) -> int:
    """The background of a text in a line, of the 24 greys that are numbered from 232."""
    return int(re.findall(r"48;5;(\d+)m", line.partition(text)[0])[-1])


def test_a_dumb_terminal_gets_words(tmux: Tmux) -> None:
    tmux.types(f"TERM=dumb {sys.executable} -m navigator --tree {TREE}; echo left with $?")
    tmux.presses("Enter")
    tmux.sees("TERM=dumb cannot show the screen", "left with 2")
