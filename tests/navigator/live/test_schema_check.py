"""Drafts of a new operator read by torchgen, whatever the tree's torchgen does."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from indexes.model.errors import SourceError
from indexes.queries.index import Index
from navigator.live import schema_check
from navigator.live.python_process import ask
from navigator.live.schema_check import plan_operator

SCRIPT = Path(schema_check.__file__).with_name("torchgen_check.py")
GOOD = "- func: scale(Tensor self, Scalar by) -> Tensor\n"
WRONG = "- func: scale(Tensor self, Sclar by) -> Tensor\n"


def _asked(root: Path, *texts: str, timeout: float = 60) -> dict[str, object]:
    words = json.dumps({"root": str(root), "texts": texts, "tags": None})
    said = ask(sys.executable, str(SCRIPT), words=words, timeout=timeout)
    assert isinstance(said, dict)
    return said


def _torchgen(root: Path, code: str) -> Path:
    folder = root / "torchgen"
    (folder / "api").mkdir(parents=True)
    for name in ("__init__", "api/__init__", "api/types"):
        (folder / f"{name}.py").write_text("")
    (folder / "gen.py").write_text(code)
    return root


def test_each_draft_is_taken_or_refused_with_the_reason(tmp_path: Path) -> None:
    said = _asked(tmp_path, GOOD, WRONG)
    assert said["torchgen"] == ""
    refused = said["refused"]
    assert isinstance(refused, list)
    assert refused[0] == ""
    assert "Sclar" in refused[1]


def test_the_torchgen_of_the_tree_is_asked(tmp_path: Path) -> None:
    root = _torchgen(tmp_path, "def parse_native_yaml(path):\n    assert 'by' in open(path).read()")
    said = _asked(root, GOOD, "- func: other() -> ()")
    assert said["torchgen"] == "torchgen"
    assert said["refused"] == ["", "AssertionError"]


@pytest.mark.parametrize("takes", ["native_yaml_path", "native_functions"])
def test_entries_are_grouped_by_a_path_or_by_what_is_read_from_it(
    tmp_path: Path, takes: str
) -> None:
    kind = "str" if takes == "native_yaml_path" else "list"
    code = "def parse_native_yaml(path):\n    return []\n"
    code += f"def get_grouped_native_functions({takes}):\n    assert type({takes}) is {kind}"
    assert _asked(_torchgen(tmp_path, code), GOOD)["refused"] == [""]


def test_older_trees_have_it_in_tools(tmp_path: Path) -> None:
    folder = tmp_path / "tools" / "codegen"
    (folder / "api").mkdir(parents=True)
    (folder / "api" / "types.py").write_text("")
    (folder / "gen.py").write_text("def parse_native_yaml(path):\n    return []")
    assert _asked(tmp_path, GOOD) == {"refused": [""], "absent": "", "torchgen": "tools.codegen"}


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import torch", "torch must not be imported"),
        ("raise SystemExit(3)", "status 3"),
        ("import time\ntime.sleep(60)", "timed out"),
    ],
)
def test_a_torchgen_that_does_not_work_says_so(tmp_path: Path, code: str, says: str) -> None:
    root = _torchgen(tmp_path, code)
    try:
        said = str(_asked(root, GOOD, timeout=3)["absent"])
    except SourceError as error:
        said = str(error)
    assert says in said


def test_what_it_prints_is_no_answer(tmp_path: Path) -> None:
    code = "import os\nprint('{}')\nos.write(1, b'{}')\ndef parse_native_yaml(path): print('[]')"
    assert _asked(_torchgen(tmp_path, code), GOOD)["refused"] == [""]


def test_it_writes_no_file(tmp_path: Path) -> None:
    code = f"open({str(tmp_path / 'made')!r}, 'w').write('x' * 100_000)\n"
    said = _asked(_torchgen(tmp_path, code), GOOD)
    assert "OSError" in str(said["absent"])
    assert not (tmp_path / "made").exists() or not (tmp_path / "made").stat().st_size


def test_the_first_draft_that_is_taken_is_shown(tree_index: Index) -> None:
    plan = plan_operator(tree_index, "abs2(Tensor self) -> Tensor")
    assert plan.good
    assert "- func: abs2.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)" in plan.draft
    assert [one.what for one in plan.checks][:2] == ["schema", "torchgen"]


def test_a_fuller_draft_that_is_refused_is_told(
    tree_index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = plan_operator(tree_index, "abs2(Tensor self) -> Tensor")
    said = {"refused": ["too full", *[""] * (len(before.drafts) - 1)], "absent": "", "torchgen": ""}
    monkeypatch.setattr(schema_check, "ask", lambda *_, **__: said)
    plan = plan_operator(tree_index, "abs2(Tensor self) -> Tensor")
    assert plan.drafts[0] == before.drafts[1]
    assert "too full" in plan.checks[1].text


@pytest.mark.parametrize(("package", "good"), [("torchgen", False), ("", True)])
def test_only_the_trees_own_torchgen_decides(
    tree_index: Index, monkeypatch: pytest.MonkeyPatch, package: str, good: bool
) -> None:
    said = {"refused": ["no"] * 4, "absent": "", "torchgen": package}
    monkeypatch.setattr(schema_check, "ask", lambda *_, **__: said)
    plan = plan_operator(tree_index, "abs2(Tensor self) -> Tensor")
    assert plan.good == good
    assert plan.checks[1].text.endswith(": no")


def test_without_torchgen_the_plan_says_so(
    tree_index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> object:
        raise SourceError("no Python")

    monkeypatch.setattr(schema_check, "ask", fails)
    plan = plan_operator(tree_index, "abs2(Tensor self) -> Tensor")
    assert plan.good
    assert "did not run (no Python)" in plan.checks[1].text
