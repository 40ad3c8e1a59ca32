"""Answers that are kept: the same bytes from next to nothing, and never an old one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from indexes.build.builder import index_path
from indexes.source.source import Source
from navigator.cli import start
from navigator.cli.asking import Settings
from tests.tree_marks import NATIVE

LONG_AGO = 1_600_000_000
KERNEL = NATIVE + "BinaryOps.cpp"
QUESTIONS = [
    ["op", "mul.out", "--json"],
    ["op", "mul", "--key", "CPU"],
    ["find", "mul", "--json", "--limit=900"],
    ["at", f"{KERNEL}:30"],
    ["uses", "mul_stub", "--json"],
    ["index"],
]


@pytest.fixture
def tree(tree_copy: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree that was last edited long ago, named in the environment."""
    for folder, _, names in os.walk(tree_copy):
        for name in [*names, ""]:
            os.utime(Path(folder, name), (LONG_AGO, LONG_AGO))
    monkeypatch.setenv("TORCHNAV_CHECKOUT", str(tree_copy))
    monkeypatch.setenv("TORCHNAV_CACHE", str(cache))
    assert start.main(["index"]) == 0
    return tree_copy


@pytest.fixture(params=[True, False], ids=["a processor is free", "none is free"])
def ahead(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the tree is looked at while a question is answered."""
    free: bool = request.param
    monkeypatch.setattr("indexes.source.seen.has_free_processor", lambda: free)
    return free


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The command lines that were answered anew."""
    seen: list[list[str]] = []
    answer = start._run

    def noted(arguments: list[str], *rest: object) -> int:
        seen.append(list(arguments))
        return answer(arguments, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(start, "_run", noted)
    return seen


def _ask(question: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    return start.main(question), capsys.readouterr().out


@pytest.mark.parametrize("question", QUESTIONS, ids=" ".join)
def test_asked_again_gives_the_same_bytes(
    tree: Path, asked: list[list[str]], question: list[str], ahead: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    first = _ask(question, capsys)
    assert first[0] == 0
    assert first[1]
    assert _ask(question, capsys) == first
    assert asked == [question]


_LOADED = """
import sys
before = set(sys.modules)
from navigator.start import main
status = main({arguments!r})
print(status, *sorted(set(sys.modules) - before), file=sys.stderr)
"""


def test_a_kept_answer_loads_next_to_nothing(tree: Path) -> None:
    question = ["op", "mul.out", "--json"]
    assert start.main(question) == 0
    run = [sys.executable, "-c", _LOADED.format(arguments=question)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    status, *loaded = done.stderr.split()
    assert (status, done.stdout[:1]) == ("0", "{")
    slow = "click re json sqlite3 dataclasses typing pathlib collections functools hashlib"
    assert not set(slow.split()) & set(loaded)
    ours = {name for name in loaded if name.startswith(("navigator.", "indexes."))}
    assert ours == {
        "navigator.cli.start",
        "indexes.queries.kept",
        "indexes.source.roots",
        "indexes.source.seen",
    }


def test_after_an_edit_it_is_answered_anew(
    tree: Path, asked: list[list[str]], ahead: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    question = ["op", "mul.out", "--json"]
    before = _ask(question, capsys)
    (tree / KERNEL).write_text("// a line\n" + (tree / KERNEL).read_text())
    after = _ask(question, capsys)
    assert after != before
    assert asked == [question, question]


@pytest.mark.parametrize("moves", [True, False])
def test_an_answer_may_stumble_only_over_a_tree_that_has_moved(
    tree: Path, moves: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines of the index that was left may be past the end of a file that was cut."""
    monkeypatch.setattr("indexes.source.seen.has_free_processor", lambda: True)
    answer = start._run

    def stumbles(arguments: list[str], settings: Settings) -> int:
        status = answer(arguments, settings)
        if settings.hopes:
            raise IndexError
        return status

    monkeypatch.setattr(start, "_run", stumbles)
    if moves:
        (tree / KERNEL).write_text((tree / KERNEL).read_text() + "\nvoid quite_another() {}\n")
        assert start.main(["find", "quite_anoth"]) == 0
        assert "quite_another" in capsys.readouterr().out
    else:
        with pytest.raises(IndexError):
            start.main(["find", "mul"])


def test_nothing_is_said_before_the_tree_is_known_to_be_as_it_was(
    tree: Path, asked: list[list[str]], ahead: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (tree / KERNEL).read_text()
    (tree / KERNEL).write_text(text + "\nvoid quite_another() {}\n")
    capsys.readouterr()
    assert start.main(["find", "quite_anoth"]) == 0  # of the old index, it is not found
    said = capsys.readouterr()
    assert "quite_another" in said.out
    assert said.err == ""
    assert len(asked) == 1 + ahead


def test_an_index_of_another_version_is_built_again(
    tree: Path, ahead: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = _ask(["find", "mul_ker"], capsys)
    monkeypatch.setattr("indexes.store.index_file.STORE_VERSION", "another")
    monkeypatch.setattr("indexes.build.cold.STORE_VERSION", "another")
    assert _ask(["find", "mul_ker", "--limit=999"], capsys) == before


def test_what_a_refresh_answers_is_not_kept(
    tree: Path, asked: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / KERNEL).write_text("// other\n")
    os.utime(tree / KERNEL, (LONG_AGO + 9, LONG_AGO + 9))
    assert "1 read" in _ask(["index"], capsys)[1]
    assert "0 read" in _ask(["index"], capsys)[1]
    assert asked == [["index"], ["index"]]


def test_another_program_gives_its_own_answer(
    tree: Path, asked: list[list[str]], ahead: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert start.main(["find", "mul"]) == 0
    monkeypatch.setattr(start, "_program", lambda: "edited")
    assert start.main(["find", "mul"]) == 0
    assert asked == [["find", "mul"], ["find", "mul"]]


@pytest.mark.parametrize(
    "question",
    [["op", "no_such_operator"], ["op", "mul", "--wrong"], ["export", "kernels"],
     ["index", "--json"], ["table", "mul.out", "--live"], ["kernel", "-"], []],
    ids=" ".join,
)  # fmt: skip
def test_what_may_be_different_next_time_is_not_kept(
    tree: Path, cache: Path, question: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("navigator.cli.main.main", lambda *_: 1)
    monkeypatch.setattr(start, "_run", lambda *_: 1)
    start.main(question)
    folder = Path(f"{index_path(Source.find(str(tree)), cache)}.answers")
    assert not [file for file in folder.glob("*") if file.name != "state"] or question == []


def test_words_beside_an_answer_are_said_each_time(
    tree: Path, asked: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        capsys.readouterr()
        assert start.main(["find", "mul", "--limit", "2"]) == 0
        assert "--limit" in capsys.readouterr().err
    assert len(asked) == 1


def test_a_damaged_answer_is_answered_anew(
    tree: Path, cache: Path, asked: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    first = _ask(["op", "mul.out"], capsys)
    folder = Path(f"{index_path(Source.find(str(tree)), cache)}.answers")
    for file in folder.iterdir():
        file.write_bytes(b"nothing\nof\nuse")
    assert _ask(["op", "mul.out"], capsys) == first
    assert len(asked) == 2


_INTERRUPTED = """
import indexes.source.seen
def moved(seen):
    raise KeyboardInterrupt
indexes.source.seen.has_free_processor = lambda: True
indexes.source.seen.Seen.moved = moved
import sys
sys.argv = ["torchnav", "find", "mul"]
from navigator.start import run
run()
"""


def test_an_interrupt_while_the_tree_is_looked_at_is_quiet(tree: Path) -> None:
    run = [sys.executable, "-c", _INTERRUPTED]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize(("question", "status"), [(["op", "mul.out"], 0), (["op", "nothing"], 1)])
def test_the_process_ends_with_its_whole_output(
    tree: Path, question: list[str], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    run = [sys.executable, "-m", "navigator", *question]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (status, _ask(question, capsys)[1])
    assert "Traceback" not in done.stderr
