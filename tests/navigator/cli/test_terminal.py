"""What an answer gets on a terminal besides its text: colour, links to places, a pager."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest

from navigator.cli.terminal import Terminal
from navigator.sources import configured_links

TREE = Path(__file__).parents[2] / "tree"
KERNEL = "aten/src/ATen/native/cpu/BinaryOpsKernel.cpp"
ESCAPES = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;;.*?\x1b\\")
OnTerminal = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("home")
    theirs = re.compile(r".*COLOR.*|.*PAGER|LESS|COLUMNS|LINES")
    plain = {name: value for name, value in os.environ.items() if not theirs.fullmatch(name)}
    own = {"TORCHNAV_CACHE": str(folder / "cache"), "XDG_CONFIG_HOME": str(folder / "config")}
    return {**plain, **own, "TERM": "xterm-256color"}


@pytest.fixture
def on_terminal(environment: dict[str, str]) -> OnTerminal:
    """Runs torchnav in a terminal of 80 columns; its exit code and what it wrote there."""

    def run(*words: str, rows: int = 500, keys: bytes = b"", **more: str) -> tuple[int, str]:
        arguments = [sys.executable, "-m", "navigator", *words, "--tree", str(TREE)]
        child, terminal = pty.fork()
        if not child:
            os.execve(sys.executable, arguments, {**environment, **more})
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
        written = b""
        while piece := _read(terminal):
            written += piece
            if keys and written.rstrip(b"\x1b[K\x1b[m").endswith((b":", b"(END)")):
                os.write(terminal, keys)
        os.close(terminal)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return status, written.decode().replace("\r\n", "\n")

    return run


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the program has ended
        return b""


def in_pipe(environment: dict[str, str], *words: str, **more: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "navigator", *words, "--tree", str(TREE)],
        env={**environment, **more},
        capture_output=True,
        text=True,
        check=False,
    ).stdout


def test_a_terminal_gets_the_text_of_a_pipe_with_colours_and_links(
    on_terminal: OnTerminal, environment: dict[str, str]
) -> None:
    plain = in_pipe(environment, "op", "mul.Tensor")
    status, written = on_terminal("op", "mul.Tensor")
    assert status == 0
    assert "\x1b" not in plain
    assert "\x1b[36m" in written
    assert ESCAPES.sub("", written).endswith(plain)
    assert re.search(rf"\x1b\]8;;file://[^/]*{TREE / KERNEL}\x1b\\", written)


@pytest.mark.parametrize(
    ("options", "variables", "coloured", "linked"),
    [
        ([], {"NO_COLOR": "1"}, False, True),
        ([], {"NO_COLOR": ""}, True, True),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False, False),
        (["--color=always"], {"NO_COLOR": "1"}, True, True),
        ([], {"TERM": "dumb"}, False, False),
        (["--json"], {}, False, False),
        (["--vimgrep"], {"FORCE_COLOR": "1"}, False, False),
    ],
)
def test_who_decides(
    on_terminal: OnTerminal,
    options: list[str],
    variables: dict[str, str],
    coloured: bool,
    linked: bool,
) -> None:
    status, written = on_terminal("op", "mul.Tensor", *options, **variables)
    assert status == 0
    assert ("\x1b[36m" in written, "\x1b]8;" in written) == (coloured, linked)


@pytest.mark.parametrize("words", [["--color", "always", "op"], ["op", "--color", "always"]])
def test_colours_in_a_pipe_are_asked_for(environment: dict[str, str], words: list[str]) -> None:
    assert "\x1b[36m" in in_pipe(environment, *words, "mul.Tensor")
    assert "\x1b[36m" in in_pipe(environment, "op", "mul.Tensor", FORCE_COLOR="1")
    assert "\x1b]8;" not in in_pipe(environment, *words, "mul.Tensor")


def test_the_config_names_the_editor_that_links_open(
    on_terminal: OnTerminal, environment: dict[str, str]
) -> None:
    config = Path(environment["XDG_CONFIG_HOME"]) / "torchnav" / "config.toml"
    config.parent.mkdir(parents=True)
    try:
        config.write_text('links = "vscode://file/{path}:{line}"\n')
        assert f"\x1b]8;;vscode://file{TREE / KERNEL}:" in on_terminal("op", "mul.Tensor")[1]
        config.write_text('links = "off"\n')
        assert "\x1b]8;" not in on_terminal("op", "mul.Tensor")[1]
        assert configured_links(config, "x") == ""
    finally:
        config.unlink()


@pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed")
class TestPager:
    def test_a_long_answer_waits_and_may_be_left_early(self, on_terminal: OnTerminal) -> None:
        status, written = on_terminal("op", "mul.Tensor", "--full", rows=10, keys=b"q")
        shown = ESCAPES.sub("", written)
        assert status == 0
        assert "mul.Tensor(Tensor self" in shown
        assert "source: PyTorch" not in shown
        assert "Traceback" not in shown

    @pytest.mark.parametrize(
        ("options", "variables"),
        [(["--no-pager"], {}), ([], {"TORCHNAV_PAGER": "cat"}), ([], {"PAGER": ""})],
    )
    def test_it_can_be_left_out(
        self, on_terminal: OnTerminal, options: list[str], variables: dict[str, str]
    ) -> None:
        status, written = on_terminal("op", "mul.Tensor", "--full", *options, rows=10, **variables)
        assert status == 0
        assert "source: PyTorch" in written

    def test_a_pager_of_ones_own(self, on_terminal: OnTerminal) -> None:
        pager = f"{sys.executable} -c 'import sys; print(len(sys.stdin.readlines()), 1111)'"
        status, written = on_terminal("op", "mul.Tensor", rows=10, TORCHNAV_PAGER=pager, PAGER="x")
        assert status == 0
        assert re.search(r"(?:^|\x1b\[K)\d\d 1111$", written, re.M)  # behind what was erased

    def test_a_short_answer_is_not_paged(self, on_terminal: OnTerminal) -> None:
        written = on_terminal("op", "mul.Tensor", rows=400, TORCHNAV_PAGER="false")[1]
        assert "source: PyTorch" in written

    def test_what_is_not_found_stays_exit_code_1(self, on_terminal: OnTerminal) -> None:
        assert on_terminal("op", "no_such_operator", rows=3)[0] == 1


def test_escapes_of_a_tree_never_become_those_of_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    terminal = Terminal(color="always")
    terminal.write(["a \x1b]8;;http://x\x1b\\b.cpp:3\x1b[31m c/d.cpp:4 \x9b0m"])
    written = capsys.readouterr().out
    assert "\x1b[36mc/d.cpp:4\x1b[0m" in written
    assert not set(ESCAPES.sub("", written)) & {"\x1b", "\x9b"}
    assert "http://x\x1b" not in written
