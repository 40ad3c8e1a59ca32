"""On a real terminal: starts, hands over to an editor, comes back, leaves no trace."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

import pytest

from tests.tree_marks import TREE

Start = Callable[..., "Terminal"]

PROGRAM = """\
import os, sys
from navigator.tui.app import run
from navigator.tui.app import TorchnavApp

def fail(self, name):
    raise ZeroDivisionError("on purpose")

if "MISTAKE" in os.environ:
    setattr(TorchnavApp, os.environ["MISTAKE"], fail)
status = run(*sys.argv[1:])
heavy = {"torch", "git", "yaml", "pygments.lexers", "navigator.capture"} & set(sys.modules)
print("left with", status, "and", sorted(heavy))
"""


class Terminal:
    """A pseudo terminal with a program on it."""

    def __init__(
        self, program: str, arguments: list[str], environ: dict[str, str], size: tuple[int, int]
    ):
        self._main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            stdin=side,
            stdout=side,
            stderr=side,
            env=environ,
            start_new_session=True,
        )
        os.close(side)
        self.output = b""

    def types(self, keys: str) -> None:
        os.write(self._main, keys.encode())

    def shows(self, words: str, patience: float = 30.0) -> None:
        """Wait until the program has written these words (from now on)."""
        end = monotonic() + patience
        while words.encode() not in self.output:
            assert monotonic() < end, f"no {words!r} in {self.output[-2000:]!r}"
            if select.select([self._main], [], [], 0.05)[0]:
                try:
                    self.output += os.read(self._main, 65536)
                except OSError:  # the other side is closed
                    assert words.encode() in self.output, self.output[-2000:]

    def forget(self) -> None:
        """Only what comes from now on counts."""
        self.output = b""

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._main)


@pytest.fixture
def start(small_tree: tuple[str, ...], tmp_path: Path) -> Iterator[Start]:
    """Start torchnav's screen: ``start("softmax", VISUAL="vi")``."""
    running: list[Terminal] = []

    def open_terminal(
        op: str = "", size: tuple[int, int] = (80, 24), program: str = PROGRAM, **environ: str
    ) -> Terminal:
        own = {"TERM": "xterm-256color", "XDG_CONFIG_HOME": str(tmp_path / "config")}
        own["XDG_STATE_HOME"] = str(tmp_path / "state")
        inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        folder = str(TREE.parents[1])
        arguments = [str(TREE), small_tree[3], op]
        everything = {**inherited, **own, **environ, "PYTHONPATH": folder}
        running.append(Terminal(program, arguments, everything, size))
        return running[-1]

    yield open_terminal
    for terminal in running:
        terminal.close()


def test_it_starts_answers_and_leaves_the_terminal_as_it_was(start: Start) -> None:
    terminal = start()
    terminal.shows("filter operators")
    terminal.types("softmax")
    terminal.shows("vec_host_softmax_lastdim")
    terminal.types("\x11")  # ctrl+q
    terminal.shows("\x1b[?1049l")
    terminal.shows("left with 0 and []")
    assert terminal.process.wait(20) == 0


def test_keys_typed_before_it_has_started_are_not_lost(start: Start) -> None:
    terminal = start()
    terminal.types("softmax\n")
    terminal.shows("SoftMaxKernel.cpp")
    terminal.types("q")
    terminal.shows("left with 0")


def test_an_editor_gets_the_terminal_and_gives_it_back(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "calls.txt"
    editor = tmp_path / "ed"
    editor.write_text(f'#!/bin/sh\necho "$@" > {log}; echo I have the terminal; read answer\n')
    editor.chmod(0o755)
    terminal = start("mul.Tensor", VISUAL=str(editor))
    terminal.shows("mul_out")
    terminal.types("gk")
    terminal.shows("TORCH_IMPL_FUNC")
    terminal.types("e")
    terminal.shows("I have the terminal")
    terminal.forget()
    terminal.types("done\n")
    terminal.shows("TORCH_IMPL_FUNC")
    line, path = log.read_text().split()
    assert path == f"{TREE}/aten/src/ATen/native/BinaryOps.cpp"
    text = Path(path).read_text().split("\n")[int(line.removeprefix("+")) - 1]
    assert text.startswith("TORCH_IMPL_FUNC(mul_out)")
    terminal.types("q")
    terminal.shows("left with 0")


def test_an_editor_that_fails_is_one_line(start: Start) -> None:
    terminal = start("mul.Tensor", VISUAL="false")
    terminal.shows("mul_out")
    terminal.types("gk")
    terminal.shows("TORCH_IMPL_FUNC")
    terminal.types("e")
    terminal.shows("ended with status 1")
    terminal.types("q")
    terminal.shows("left with 0")


def test_without_a_terminal_it_says_so() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        cwd=TREE.parents[1],
    )
    assert "left with 2" in done.stdout
    assert done.stderr.strip().startswith("torchnav: this needs a terminal")
    assert "\n" not in done.stderr.strip()


def test_a_mistake_of_ours_is_one_line_and_the_details_are_kept(
    start: Start, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    terminal = start("mul.Tensor", TORCHNAV_CACHE=str(cache), MISTAKE="action_list")
    terminal.shows("mul_out")
    terminal.forget()
    terminal.types("T")
    terminal.shows("torchnav stopped: ZeroDivisionError: on purpose; see ")
    terminal.shows("left with 1")
    assert b"Traceback" not in terminal.output
    assert "ZeroDivisionError: on purpose" in (cache / "crash.txt").read_text()
