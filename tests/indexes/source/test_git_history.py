"""History of lines and files, in repositories that are made here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from indexes.source.git_history import History, pull_request
from indexes.source.source import Source
from tests.repositories import commit, git

YAML = "aten/src/ATen/native/native_functions.yaml"
FILE = "aten/src/ATen/native/Add.cpp"


def _commit(root: Path, lines: list[str], message: str) -> str:
    (root / FILE).write_text("\n".join(lines) + "\n")
    return commit(root, message)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Three commits: the file, a change of line 2, a reformatting of line 2."""
    root = tmp_path / "repository"
    (root / YAML).parent.mkdir(parents=True)
    (root / YAML).write_text("- func: add(Tensor self) -> Tensor\n")
    git(tmp_path, "init", "-q", str(root))
    _commit(root, ["one", "two", "three"], "Begin (#1)")
    _commit(
        root, ["one", "two 2", "three"], "Correct two\n\nPull Request resolved: https://x/pull/22"
    )
    reformat = _commit(root, ["one", "  two 2", "three"], "Reformat (#333)")
    (root / ".git-blame-ignore-revs").write_text(f"# reformatting\n{reformat}\n")
    commit(root, "Ignore (#4)")
    return root


def _history(root: Path) -> History:
    return History(Source.find(str(root)))


def test_changes_of_a_line_are_those_that_touched_it(repository: Path) -> None:
    found = _history(repository).changes(FILE, 2, 2)
    assert [one.pull_request for one in found.changes] == [333, 22, 1]
    assert [one.author for one in found.changes] == ["A Tester"] * 3
    assert [one.at_cut for one in found.changes] == [False, False, True]
    untouched = _history(repository).changes(FILE, 3, 3)
    assert [one.subject for one in untouched.changes] == ["Begin (#1)"]


def test_changes_of_a_file_and_their_limit(repository: Path) -> None:
    found = _history(repository).changes(FILE, limit=2)
    assert [one.pull_request for one in found.changes] == [333, 22]
    assert found.note == ""


def test_lines_of_an_edited_file_are_found_where_they_were(repository: Path) -> None:
    (repository / FILE).write_text("new\nnewer\none\n  two 2\nthree\n")
    assert _history(repository).changes(FILE, 4, 4).changes[0].pull_request == 333
    blamed = _history(repository).blame(FILE, 2, 3).lines
    assert [one.change and one.change.pull_request for one in blamed] == [None, 1]


def test_blame_passes_over_ignored_revisions(repository: Path) -> None:
    lines = _history(repository).blame(FILE).lines
    assert [one.line for one in lines] == [1, 2, 3]
    second = lines[1].change
    assert second is not None
    assert second.subject == "Correct two"


def test_a_list_of_ignored_revisions_that_git_refuses_is_not_used(repository: Path) -> None:
    (repository / ".git-blame-ignore-revs").write_text("not a hash\n")
    second = _history(repository).blame(FILE, 2, 2).lines[0].change
    assert second is not None
    assert second.pull_request == 333


def test_a_shallow_clone_says_so_and_how_to_deepen(repository: Path, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", str(shallow))
    history = _history(shallow)
    found = history.changes(FILE, 1, 1)
    assert [one.at_cut for one in found.changes] == [True]
    assert "--unshallow" in found.note
    assert "--unshallow" in history.blame(FILE).note
    subprocess.run(history.deepening(), shell=True, check=True, capture_output=True)
    assert history.missing == ""
    assert [one.pull_request for one in history.changes(FILE, 2, 2).changes] == [333, 22, 1]


def test_a_clone_without_old_contents_gives_the_history_of_the_file(
    repository: Path, tmp_path: Path
) -> None:
    git(repository, "config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    url = f"file://{repository}"
    git(tmp_path, "clone", "-q", "--filter=blob:none", url, str(partial))
    found = _history(partial).changes(FILE, 2, 2)
    assert [one.pull_request for one in found.changes] == [333, 22, 1]
    assert found.note.startswith("of the whole file: the old contents")
    other = tmp_path / "other"
    shutil.copytree(partial, other)
    words = found.note.partition(f"git -C {partial} ")[2].partition(" fetches ")[0]
    git(other, *words.split())
    assert _history(other).changes(FILE, 2, 2).note == (
        "its first commit brings in whole files: older changes are not here"
    )
    assert _history(partial).blame(FILE).lines == ()
    git(
        partial,
        *found.note.rpartition(f"git -C {partial} ")[2].removesuffix(" all of them").split(),
    )
    assert _history(partial).changes(FILE, 2, 2).note == (
        "its first commit brings in whole files: older changes are not here"
    )


def test_without_git_it_says_what_is_missing(tree: Path, tree_copy: Path) -> None:
    history = _history(tree_copy)
    assert history.changes(YAML).changes == ()
    assert "torchnav clone --history" in history.changes(YAML).note
    assert history.blame(YAML).note == history.missing


def test_a_file_that_git_does_not_know(repository: Path) -> None:
    (repository / "new.cpp").write_text("x\n")
    assert _history(repository).blame("new.cpp").note.startswith("git has no answer: ")


@pytest.mark.parametrize(
    ("subject", "body", "number"),
    [
        ("Add a thing (#123)", "", 123),
        ('Revert "Add a thing (#123)" (#456)', "", 456),
        ("Fix #12", "", None),
        ("ghstack", "Summary\n\nPull Request resolved: https://github.com/p/p/pull/7\n", 7),
        ("Words about (#9) inside", "see pull/8", None),
    ],
)
def test_pull_request_numbers(subject: str, body: str, number: int | None) -> None:
    assert pull_request(subject, body) == number
