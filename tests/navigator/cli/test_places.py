"""Answers as places alone, and names from stdin."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from indexes.serialize.answers import Json
from navigator.cli.main import main
from navigator.text.places_only import places
from tests.tree_marks import TREE


@pytest.fixture
def given(cache: Path) -> list[str]:
    return ["--tree", str(TREE), "--cache", str(cache)]


@pytest.mark.parametrize(
    "command",
    [
        ["op", "add.Tensor"],
        ["find", "add"],
        ["at", "add.Tensor"],
        ["uses", "add_stub"],
        ["callers", "add_stub"],
        ["table", "add.Tensor"],
        ["gaps"],
        ["contribute", "add.Tensor"],
        ["explain", "pointwise"],
        ["tensorimpl"],
    ],
)
def test_every_place_is_a_line_of_a_file(
    command: list[str],
    given: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(TREE)
    assert main([*given, *command, "--vimgrep"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert len(lines) == len(set(lines))
    for one in lines:
        path, line, column, _ = one.split(":", 3)
        assert (TREE / path).is_file()
        assert int(line) >= 1
        assert column == "1"


def test_paths_outside_of_the_folder_are_whole(
    given: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*given, "callers", "add_stub", "--vimgrep"]) == 0
    paths = {line.partition(":")[0] for line in capsys.readouterr().out.splitlines()}
    assert all(Path(path).is_absolute() and Path(path).is_file() for path in paths)


def test_without_a_commit_links_are_places(
    given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*given, "callers", "add_stub", "--link"]) == 0
    assert capsys.readouterr().out.startswith("aten/src/ATen/native/")


def test_what_is_not_found_is_no_place(
    given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*given, "op", "no_such_name", "--vimgrep"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "no_such_name" in told.err


def test_a_place_without_words_has_those_around_it() -> None:
    answer: Json = {
        "name": "add",
        "kind": "operator",
        "source": {"path": "not/a/place", "line": 3},
        "found": [{"path": "a.cpp", "line": 7}, {"path": "b.cpp", "line": None, "why": "so"}],
    }
    assert [*places(answer)] == [("a.cpp", 7, "operator add"), ("b.cpp", 1, "so")]


@pytest.mark.parametrize("command", ["op", "find", "at"])
def test_names_from_stdin_are_answered_in_order(
    command: str,
    given: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("add.Tensor\n\nno_such_name\nmul.Tensor\n"))
    assert main([*given, command, "-", "--json"]) in (1, 2)
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert ["error" in one for one in answers] == [False, True, False]
