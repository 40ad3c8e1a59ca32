"""``torchnav contribute`` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from navigator.text.contribution import Row, Section, _markdown_row
from tests.conftest import Run
from tests.tree_marks import TREE


def test_text_names_places_costs_tests_and_what_is_missing(torchnav: Run) -> None:
    done = torchnav("contribute", "add.Tensor", "--tree", str(TREE))
    assert (done.returncode, done.stderr) == (0, "")
    for expected in (
        "Places",
        "Rebuild",
        "Tests",
        "-k '_add_cpu and not test_references'",
        "torchnav clone --history",
    ):
        assert expected in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if " " in line.strip()[:60])


def test_a_test_file_of_one_call_costs_no_plan(tree_copy: Path, torchnav: Run) -> None:
    (tree_copy / "test/test_odd.py").write_text("x = ops(op_db)")
    done = torchnav("contribute", "add.Tensor", "--tree", str(tree_copy))
    assert (done.returncode, done.stderr) == (0, "")
    assert "test/test_ops.py" in done.stdout


def test_markdown_is_a_checklist(torchnav: Run, tmp_path: Path) -> None:
    out = tmp_path / "plan.md"
    done = torchnav("contribute", "add.Tensor", "--tree", str(TREE), "--markdown", str(out))
    assert (done.returncode, done.stdout) == (0, "")
    text = out.read_text()
    assert text.startswith("# Contribute to operator `add.Tensor`\n")
    assert "- [ ] schema add.Tensor (`aten/src/ATen/native/native_functions.yaml:" in text
    again = torchnav("contribute", "add.Tensor", "--tree", str(TREE), "--markdown", "-")
    assert again.stdout == text


def test_json(torchnav: Run) -> None:
    done = torchnav("contribute", "relu", "--json", "--history", "0", "--tree", str(TREE))
    assert json.loads(done.stdout)["subject"]["name"] == "relu"


def test_one_change_of_an_operator(torchnav: Run) -> None:
    asked = ("contribute", "relu", "--for", "mps", "--tree", str(TREE))
    done = torchnav(*asked, "--json")
    assert json.loads(done.stdout)["change"]["id"] == "kernel/MPS/relu"
    assert torchnav(*asked).stdout.startswith("kernel/MPS/relu: ")
    assert torchnav(*asked, "--markdown", "-").stdout.startswith("# ")
    again = torchnav("contribute", "kernel/MPS/relu", "--json", "--tree", str(TREE))
    assert json.loads(again.stdout)["steps"] == json.loads(done.stdout)["steps"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["contribute"], 2, "--new-op"),
        (["contribute", "relu", "--for", "nonsense"], 2, "batch-rule"),
        (["contribute", "kernel/MPS/no_such"], 1, "no gap"),
        (["contribute", "relu", "--new-op", "x() -> ()"], 2, "--new-op"),
        (["contribute", "no_such_name_here"], 1, "no_such_name_here"),
        (["contribute", "relu", "--history", "-1"], 2, "--history"),
        (["contribute", "relu", "--markdown", "/no/such/folder/x.md"], 2, "cannot write"),
    ],
)
def test_wrong_questions(torchnav: Run, arguments: list[str], code: int, says: str) -> None:
    done = torchnav(*arguments, "--tree", str(TREE))
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_text_of_the_tree_never_becomes_markup() -> None:
    row = Row("<b>*x*</b> [a](b)\x1b[31m", None, "`d`", "echo `x`")
    lines = list(_markdown_row(row, True))
    assert lines == [
        "- \\<b\\>\\*x\\*\\</b\\> \\[a\\](b)\\\\x1b\\[31m",
        "  \\`d\\`",
        "  `echo 'x'`",
    ]
    assert Section("a", (row,)).rows == (row,)


def test_a_new_operator_is_validated_by_torchgen(torchnav: Run) -> None:
    done = torchnav("contribute", "--new-op", "abs2(Tensor self) -> Tensor", "--tree", str(TREE))
    assert (done.returncode, done.stderr) == (0, "")
    assert "good: torchgen: this tree has no torchgen; that of the installed torch" in done.stdout
    assert "- func: abs2(Tensor self) -> Tensor" in done.stdout
    titles = [line for line in done.stdout.splitlines() if line[:1].isupper()]
    assert titles[:4] == ["Checks", "What to write", "Draft", "To add"]
    first = done.stdout.split("What to write")[1].splitlines()[2]
    assert first.startswith("  native_functions.yaml  aten/src/ATen/native/native_functions.yaml:")


def test_what_is_wrong_with_a_schema_is_said(torchnav: Run) -> None:
    done = torchnav(
        "contribute", "--new-op", "abs2(Tnsor self) -> Tensor", "--json", "--tree", str(TREE)
    )
    answer = json.loads(done.stdout)
    assert done.returncode == 1
    assert [one["what"] for one in answer["checks"] if not one["good"]] == ["type"]
    assert "Tnsor" in answer["checks"][1]["text"]
    assert answer["good"] is False


def test_a_plan_as_markdown(torchnav: Run) -> None:
    done = torchnav(
        "contribute",
        "--new-op",
        "abs2(Tensor self) -> Tensor",
        "--markdown",
        "-",
        "--tree",
        str(TREE),
    )
    assert "## To add" in done.stdout
    assert done.stdout.count("~~~") % 2 == 0
