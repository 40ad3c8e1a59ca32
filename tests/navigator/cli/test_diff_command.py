"""``torchnav diff`` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.repositories import commit, repository
from tests.tree_marks import YAML


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = repository(tmp_path_factory.mktemp("command") / "pytorch")
    file = root / YAML
    text = file.read_text()
    file.write_text(text.replace("- func: abs(Tensor self)", "- func: abs(Tensor self, int `|x)"))
    commit(root, "An argument without default")
    return root


def test_text_markdown_and_json_tell_the_same(repo: Path, torchnav: Run) -> None:
    arguments = ("--tree", str(repo), "diff", "v1", "--only", "schema", "--only", "operator")
    text, markdown = torchnav(*arguments), torchnav(*arguments, "--markdown")
    answer = json.loads(torchnav(*arguments, "--json").stdout)
    assert (text.returncode, markdown.returncode) == (0, 0)
    assert set(answer) == {"schema_version", "before", "after", "changes", "notes"}
    (change,) = answer["changes"]
    assert set(change) == {
        "facet",
        "what",
        "ops",
        "subject",
        "before",
        "after",
        "backward",
        "forward",
        "rules",
    }
    assert (change["facet"], change["ops"]) == ("operator", ["abs"])
    assert "- abs  BREAKING" in text.stdout
    assert "## Breaking for callers (1)" in markdown.stdout


def test_exit_codes(repo: Path, torchnav: Run) -> None:
    assert torchnav("--tree", str(repo), "diff", "v1", "--op", "nothing_like_it").returncode == 1
    assert torchnav("--tree", str(repo), "diff").returncode == 2
    assert torchnav("--tree", str(repo), "diff", "v1", "--only", "shape").returncode == 2
    unknown = torchnav("--tree", str(repo), "diff", "v7")
    assert unknown.returncode == 3
    assert len(unknown.stderr.strip().splitlines()) == 1
    assert "fetch --tags" in unknown.stderr


def test_a_wheel_says_what_is_not_compared(repo: Path, torchnav: Run, wheel_cache: str) -> None:
    arguments = ("diff", str(repo), "wheel", "--json", "--op", "mul", "--only", "kernel")
    found = torchnav(*arguments, TORCHNAV_CACHE=wheel_cache)
    answer = json.loads(found.stdout)
    assert answer["changes"] == []
    assert "is a wheel" in answer["notes"][0]
    assert answer["after"]["kind"] == "wheel"
