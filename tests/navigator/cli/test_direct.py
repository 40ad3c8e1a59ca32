"""Command lines that are read without click give what click gives, and no others are read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from navigator.cli import main as cli
from navigator.cli.asking import Settings
from navigator.cli.direct import direct
from tests.tree_marks import NATIVE

QUESTIONS = [
    ["op", "mul.out", "--json"],
    ["op", "--json", "mul", "--overload=out", "--key", "CPU"],
    ["op", "mul", "--all", "--full"],
    ["op", "no_such_operator", "--json"],
    ["op", "mul", "--overload", "none"],
    ["find", "mul", "--limit", "3"],
    ["find", "no_such_name"],
    ["uses", "mul_stub", "--json"],
    ["at", f"{NATIVE}BinaryOps.cpp:30", "--json"],
    ["at", "nowhere"],
    ["index"],
]


@pytest.mark.parametrize("question", QUESTIONS, ids=" ".join)
def test_it_answers_as_click_does(
    small_tree: tuple[str, ...], question: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    run = direct([*small_tree, *question], Settings())
    assert run is not None
    own = run(), capsys.readouterr()
    assert own == (cli.main([*question, *small_tree]), capsys.readouterr())


def test_an_index_is_built_anew(
    small_tree: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    run = direct([*small_tree, "index", "--force"], Settings())
    assert run is not None
    assert run() == 0
    assert capsys.readouterr().out.startswith("built: ")


@pytest.mark.parametrize(
    "line",
    ["", "op", "op a b", "op --json", "op a --wrong", "--json op a", "op a --key", "op a --json=1",
     "find a --limit 0", "find a --limit x", "find a --limit=", "find a --all", "at a:1 --limit 3",
     "table a", "op -- a", "op a -h", "--tree", "op a --tree=", "index a",
     "index --verify", "index --json", "--limit 3 find a"],
)  # fmt: skip
def test_what_is_not_plainly_right_is_left_to_click(line: str) -> None:
    assert direct(line.split(), Settings()) is None


def test_a_cache_that_is_a_file_is_left_to_click(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert direct(["op", "a", "--cache", str(tmp_path / "file")], Settings()) is None


_FIRST = """
import sys
from navigator.start import main
status = main({arguments!r})
print(status, *sorted({{name.partition(".")[0] for name in sys.modules}}), file=sys.stderr)
"""


@pytest.mark.parametrize("question", [QUESTIONS[n] for n in (0, 5, 8, 10)], ids=" ".join)
def test_click_is_not_loaded(small_tree: tuple[str, ...], question: list[str]) -> None:
    line = [*question, *small_tree]
    run = [sys.executable, "-c", _FIRST.format(arguments=line)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    status, *loaded = done.stderr.splitlines()[-1].split()
    assert status == "0"
    assert not {"click", "inspect", "dataclasses", "json"} & set(loaded)
