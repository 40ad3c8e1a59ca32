"""What torchgen refuses in the YAML files is said, with its line, and no answer is claimed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from indexes.build.yaml_files import read_yaml_files
from indexes.source.source import Source
from tests.conftest import Run
from tests.indexing import opened
from tests.tree_marks import NATIVE, YAML

DERIVATIVES = "tools/autograd/derivatives.yaml"


def problems_of(tree: Path) -> list[tuple[str, int, str]]:
    found = read_yaml_files(Source.find(str(tree))).problems
    return [(one.path, one.line, one.message) for one in found]


def change(tree: Path, name: str, before: str, after: str, count: int = -1) -> int:
    """Replaces text of a file; returns the line of the first replacement."""
    text = (tree / name).read_text()
    (tree / name).write_text(text.replace(before, after, count))
    return text[: text.index(before)].count("\n") + 1


def test_nothing_is_refused_in_what_is_right(tree_copy: Path) -> None:
    assert problems_of(tree_copy) == []


def test_nothing_is_refused_in_the_installed_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TORCHNAV_CHECKOUT", raising=False)
    assert read_yaml_files(Source.find(None)).problems == ()


@pytest.mark.checkout
def test_nothing_is_refused_in_a_checkout(checkout: Path) -> None:
    assert problems_of(checkout) == []


@pytest.mark.parametrize(
    ("name", "before", "after", "message"),
    [
        (YAML, "  structured_delegate: mul.out", "  structured_deleg: mul.out", "no field"),
        (YAML, "  variants: function, method", "  variants: function, methods", "no variant"),
        (YAML, "  device_check: NoCheck", "  device_check: Never", "no device check"),
        (YAML, "  device_check: NoCheck", "  device_guard: maybe", "not True or False"),
        (YAML, "tags: [core", "tags: [cor", "no tag"),
        (YAML, "    CPU", "    CPUU", "no dispatch key"),
        (DERIVATIVES, "  self: ", "  slef: ", "no argument"),
        (DERIVATIVES, "    AutogradNestedTensor:", "    AutogradNestd:", "no formulas of the key"),
        (NATIVE + "tags.yaml", "- tag: core", "- tg: core", "without tag"),
    ],
)
def test_what_torchgen_refuses_is_a_problem_with_its_line(
    name: str, before: str, after: str, message: str, tree_copy: Path, packaged: Path
) -> None:
    copy_torchgen(packaged, tree_copy)
    line = change(tree_copy, name, before, after, 1)
    found = [one for one in problems_of(tree_copy) if one[:2] == (name, line)]
    assert len(found) == 1
    assert message in found[0][2]


def copy_torchgen(packaged: Path, tree: Path) -> None:
    """Gives a tree the lists that decide what is accepted."""
    (tree / "torchgen").mkdir()
    shutil.copy(packaged.parent / "model.py", tree / "torchgen/model.py")


def test_a_field_that_only_torchgen_knows_is_not_understood(
    tree_copy: Path, packaged: Path
) -> None:
    copy_torchgen(packaged, tree_copy)
    change(tree_copy, "torchgen/model.py", 'e.pop("func"', 'e.pop("newer"), e.pop("func"')
    line = change(tree_copy, YAML, "  structured_delegate: mul.out", "  newer: mul.out", 1)
    assert problems_of(tree_copy) == [(YAML, line, "the field 'newer' is not known to torchnav")]


def test_a_renamed_field_is_said_wherever_the_operator_is_answered(
    tree_copy: Path, torchnav: Run
) -> None:
    change(tree_copy, YAML, "structured_delegate:", "structured_deleg:")
    tree = ("--tree", str(tree_copy))
    text = (tree_copy / YAML).read_text()
    line = text[: text.index("structured_deleg: mul.out")].count("\n") + 1
    done = torchnav("op", "mul.Tensor", "--json", *tree)
    answer = json.loads(done.stdout)
    assert answer["op"]["kind"] == "unknown"
    assert answer["problems"] == [
        {"path": YAML, "line": line, "message": "torchgen has no field 'structured_deleg'"}
    ]
    assert any("'structured_deleg'" in one["reason"] for one in answer["unresolved"])
    assert "more problems like these: torchnav doctor" in done.stderr
    shown = torchnav("op", "mul.Tensor", *tree).stdout
    assert f"! {YAML}:{line}: torchgen" in shown
    assert " unknown" in shown
    table = json.loads(torchnav("table", "mul.Tensor", "--json", *tree).stdout)
    assert "'structured_deleg'" in table["unseen"]
    checks = json.loads(torchnav("doctor", "--json", *tree).stdout)["checks"]
    assert any(c["name"] == "YAML" and f"{YAML}:{line}:" in c["found"] for c in checks)


def test_an_operator_that_is_not_concerned_has_no_further_key(
    tree_copy: Path, torchnav: Run
) -> None:
    change(tree_copy, YAML, "structured_delegate: mul.out", "structured_deleg: mul.out")
    answer = json.loads(torchnav("op", "relu", "--json", "--tree", str(tree_copy)).stdout)
    assert "problems" not in answer


def test_no_composite_kernel_is_claimed_for_an_entry_that_is_not_understood(
    tree_copy: Path, cache: Path
) -> None:
    entry = "\n- func: blend(Tensor self) -> Tensor\n  structured_deleg: blend.out\n"
    (tree_copy / YAML).write_text((tree_copy / YAML).read_text() + entry)
    with opened(tree_copy, cache) as index:
        chain = index.chain("blend")
        assert chain.op.kind == "unknown"
        assert index.card("blend").kind == "unknown, gradient unknown"
        assert not chain.op.keys
        assert not [hop for hop in chain.hops if hop.role == "kernel"]
        assert [one.message for one in chain.problems] == [
            "torchgen has no field 'structured_deleg'"
        ]


def test_a_tree_that_is_other_version_says_so_in_one_line(tree_copy: Path, torchnav: Run) -> None:
    text = (tree_copy / YAML).read_text()
    (tree_copy / YAML).write_text(text.replace("\n- func:", "\n  newer: 1\n- func:"))
    tree = ("--tree", str(tree_copy))
    done = torchnav("op", "relu", *tree)
    assert done.stderr.count("\n") == 1
    assert "does not know this version of PyTorch" in done.stderr
    for command in ("doctor", "index"):
        assert "does not know this version of PyTorch" in torchnav(command, *tree).stdout
