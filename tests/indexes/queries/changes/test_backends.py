"""The tests and checks of a back end's kernel."""

from __future__ import annotations

from pathlib import Path

from indexes.queries.changes import kernels
from indexes.queries.changes.backends import running
from indexes.queries.changes.backends import test_files as files_of
from indexes.queries.changes.model import Change
from indexes.queries.gaps.tree import Tree
from tests.indexing import opened


def test_a_file_that_runs_the_classes_of_another_imports_them_by_name(
    tree_copy: Path, cache: Path
) -> None:
    (tree_copy / "test/quantization").mkdir()
    own = "test/quantization/test_op.py"
    (tree_copy / own).write_text("class TestOp:\n    def test_x(self): ...\n")
    files = {
        "test_all.py": "import torch\nfrom quantization.test_op import TestOp  # noqa: F401\n",
        "test_helped.py": "from quantization.test_op import helper\n",
    }
    for name, text in files.items():
        (tree_copy / "test" / name).write_text(f"{text}class TestX:\n    def test_x(self): ...\n")
    with opened(tree_copy, cache) as index:
        found = [str(one) for one in running(Tree(index), own)]
    assert found == ["test/test_all.py:2"]


def test_of_files_that_name_nothing_of_it_the_plain_one_is_first(
    tree_copy: Path, cache: Path
) -> None:
    for name in ("test/export/test_sparse.py", "test/test_sparse.py", "test/test_sparse_ops.py"):
        path = tree_copy / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("class TestX:\n    def test_x(self): ...\n")
    with opened(tree_copy, cache) as index:
        found = files_of(Tree(index), "SparseCPU", ["sin"])
    assert found == ["test/test_sparse.py", "test/export/test_sparse.py"]
    (tree_copy / "test/export/test_sparse.py").write_text("def test_sin():\n    torch.sin(1)\n")
    with opened(tree_copy, cache) as index:
        assert files_of(Tree(index), "SparseCPU", ["sin"])[0] == "test/export/test_sparse.py"


def test_a_changed_entry_is_checked_by_the_torchgen_of_the_tree(
    tree_copy: Path, cache: Path
) -> None:
    (tree_copy / "torchgen").mkdir()
    (tree_copy / "torchgen/gen.py").write_text("def main(): ...\n")
    with opened(tree_copy, cache) as index:
        parts = kernels.plan(Tree(index), Change("kernel", "sigmoid", "", "MPS", "sigmoid"))
    (check,) = [step for step in parts.steps if step.action == "run"]
    assert check.command == ('python -m torchgen.gen -s aten/src/ATen -d "$(mktemp -d)" --dry-run')
