"""Commits that added operators, from a repository made for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.model.schema import parse_schema
from indexes.queries.contribution.precedents import precedents
from indexes.queries.impact.rebuild import NATIVE
from indexes.source.git_history import History
from indexes.source.source import Source
from tests.indexes.queries.contribution.yaml_entries import natives, unary
from tests.repositories import commit, git


def _commit(root: Path, subject: str, yaml: str, *others: str) -> None:
    (root / NATIVE).write_text(yaml)
    for path in others:
        (root / path).write_text(subject)
    commit(root, subject)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / NATIVE).parent.mkdir(parents=True)
    git(tmp_path, "init", "-q")
    _commit(tmp_path, "Begin", unary("abs"))
    _commit(tmp_path, "Add sin (#2)", unary("abs", "sin"), "sin.cpp", "docs.rst")
    _commit(tmp_path, "Rename abs", unary("abs", "sin") + "\n", "abs.cpp")
    pair = "- func: atan2(Tensor self, Tensor other) -> Tensor\n"
    _commit(tmp_path, "Add atan2 (#4)", unary("abs", "sin") + pair, "atan2.cpp")
    _commit(tmp_path, 'Revert "Remove cos"', unary("abs", "sin", "cos") + pair, "cos.cpp")
    return tmp_path


def test_the_likest_first_with_the_files_that_they_touched(repository: Path) -> None:
    entries = natives((repository / NATIVE).read_text())
    history = History(Source.find(str(repository)))
    found = precedents(history, parse_schema("cosh(Tensor self) -> Tensor"), entries)
    assert [(one.operators, one.change.pull_request) for one in found] == [
        (("sin",), 2),
        (("atan2",), 4),
    ]
    assert set(found[0].files) == {NATIVE, "sin.cpp", "docs.rst"}


def test_without_history_there_are_none(tree: Path) -> None:
    schema = parse_schema("cosh(Tensor self) -> Tensor")
    assert precedents(History(Source.find(str(tree))), schema, ()) == ()
