"""Streams that are closed or full, arguments that are no text, an index that can't be written."""

from __future__ import annotations

import errno
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from navigator.cli.main import COMMANDS, main
from tests.conftest import Run

TREE = Path(__file__).parents[2] / "tree"
OP = [sys.executable, "-m", "navigator", "op", "add.Tensor", "--tree", str(TREE)]
Shell = Callable[[str], "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """Runs ``op`` with what a shell adds to it, on an index that is built once."""
    cache = tmp_path_factory.mktemp("cache")

    def run(streams: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", f'"$@" {streams}', "bash", *OP],
            env={**os.environ, "TORCHNAV_CACHE": str(cache)},
            capture_output=True,
            text=True,
            check=False,
        )

    assert run("").returncode == 0
    return run


@pytest.mark.parametrize("streams", [">/dev/full", ">&-", "--json >/dev/full", "--json >&-"])
def test_an_answer_that_can_t_be_written_is_one_line(shell: Shell, streams: str) -> None:
    done = shell(streams)
    assert done.returncode == 1
    assert done.stderr.startswith("torchnav: cannot write the answer: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("streams", ["2>&-", "2>/dev/full", "<&-", "<&- 2>&-"])
def test_the_answer_comes_without_the_other_streams(shell: Shell, streams: str) -> None:
    whole = shell("")
    assert (shell(streams).stdout, whole.returncode) == (whole.stdout, 0)


def test_nothing_at_all_can_be_written(shell: Shell) -> None:
    assert shell(">&- 2>&-").returncode == 1


def test_a_reader_that_has_enough_is_no_mistake(shell: Shell) -> None:
    done = shell("--full | head -n 1; exit ${PIPESTATUS[0]}")
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)


@pytest.mark.parametrize(
    "words",
    [["op", b"a\xff"], ["find", b"\xff"], ["at", b"a\xff.cpp:1"], ["open", b"\xff"], [b"\xff"]],
)
def test_arguments_that_are_no_text_are_refused(words: list[str | bytes]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "navigator", *words], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert b"is not UTF-8" in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_takes_what_is_no_text(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Checked once, where arguments are taken."""
    assert main([command, "a\udcff"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "is not UTF-8" in err


@pytest.mark.parametrize("command", ["index", "op relu"])
def test_a_full_disk_is_one_line(tmp_path: Path, command: str) -> None:
    def little() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run(
        [sys.executable, "-m", "navigator", *command.split(), "--tree", str(TREE), "--json"],
        env={**os.environ, "TORCHNAV_CACHE": str(tmp_path / "cache")},
        preexec_fn=little,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert (json.loads(done.stdout)["error"]["exit_code"], done.stderr.count("\n")) == (3, 1)
    assert not list(tmp_path.glob("cache/indexes/*.db"))


UNREACHABLE = "/" + "x" * 300
"""Asking what is there is an error, as it is of a folder that another user keeps closed."""


@pytest.mark.parametrize(
    "command",
    [
        "op relu",
        "doctor",
        "trace --no-screen program.py",
        "open UNREACHABLE",
        "diff UNREACHABLE",
        "index --import UNREACHABLE",
    ],
)
def test_folders_that_cannot_be_looked_into(command: str, tmp_path: Path) -> None:
    """Such are a home folder of another user, and what a tree or a trace of theirs names."""
    (tmp_path / "program.py").write_text("import torch\n")
    own = str(tmp_path / "cache") if "UNREACHABLE" in command else UNREACHABLE
    done = subprocess.run(
        [sys.executable, "-m", "navigator", *command.replace("UNREACHABLE", UNREACHABLE).split()],
        env={
            **os.environ,
            "TORCHNAV_CACHE": own,
            "XDG_CONFIG_HOME": UNREACHABLE,
            "TORCHNAV_CHECKOUT": str(TREE),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert (done.returncode == 0) == (command == "doctor")
    assert done.stderr.count("\n") == (command != "doctor")


def test_a_home_that_nobody_has(torchnav: Run) -> None:
    done = torchnav("doctor", TORCHNAV_CACHE="~nobody_at_all/cache", TORCHNAV_CHECKOUT=str(TREE))
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("error", [MemoryError(), OSError(errno.EMFILE, "Too many open files")])
def test_what_the_system_has_too_little_of_is_one_line(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("indexes.queries.index.Index.open", refuse)
    assert main(["op", "add.Tensor", "--tree", str(TREE)]) == 1
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert said.err.startswith("torchnav: ")
