"""``torchnav explain``: fields, lines of entries and macros."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from navigator.cli.main import main
from tests.tree_marks import TREE


@pytest.mark.parametrize(
    ("word", "path"),
    [
        ("AT_FORALL_SCALAR_TYPES_WITH_COMPLEX", "c10/core/ScalarType.h"),
        ("pointwise", "aten/src/ATen/native/tags.yaml"),
    ],
)
def test_what_the_tree_says(
    cache: Path, capsys: pytest.CaptureFixture[str], word: str, path: str
) -> None:
    given = ["--tree", str(TREE), "--cache", str(cache), "explain", word]
    assert main([*given, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["field"] == word
    assert answer["passages"][0]["path"] == path


def test_what_it_does_not_say(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--tree", str(TREE), "--cache", str(cache), "explain"]
    assert main([*given, "NO_SUCH_MACRO"]) == 1
    assert "no macro NO_SUCH_MACRO is defined in this tree" in capsys.readouterr().err


def test_a_line_that_no_number_holds_is_no_place(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = f"native_functions.yaml:{'9' * 5000}"
    assert main(["--tree", str(TREE), "--cache", str(cache), "explain", place]) == 1
    assert "this tree does not explain native_functions.yaml:999" in capsys.readouterr().err
