"""Which tests are listed for what is reached, besides those named after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.queries.impact.answers import Impacts
from tests.indexing import opened


@pytest.mark.parametrize(
    ("symbol", "path"),
    [
        ("NestedTensor_relu", "test/test_nestedtensor.py"),
        ("add_sparse", "test/test_sparse.py"),
        ("relu_mps", "test/test_mps.py"),
    ],
)
def test_the_tests_of_the_back_end_for_which_alone_something_changes(
    tree_copy: Path, cache: Path, symbol: str, path: str
) -> None:
    for name in ("nestedtensor", "nested_dict", "sparse", "mps", "vmap"):
        (tree_copy / f"test/test_{name}.py").write_text("class TestX:\n    def test_x(self): ...\n")
    with opened(tree_copy, cache) as index:
        found = Impacts(index).impact(symbol)
    near = [one.path for one in found.tests if "its path has" in one.reason]
    assert path in near[:2]
    assert "test/test_vmap.py" not in near


def test_opinfo_tests_are_those_of_the_device_that_changes(tree_copy: Path, cache: Path) -> None:
    with opened(tree_copy, cache) as index:
        impacts = Impacts(index)
        cpu, cuda = impacts.impact("add_sparse"), impacts.impact("add_out_sparse_cuda")
    assert any("_add_cpu" in one.command for one in cpu.tests)
    assert any("_add_cuda" in one.command for one in cuda.tests)
    assert not any("_add_cpu" in one.command for one in cuda.tests)


def test_the_opinfo_tests_of_gradients_come_first_for_a_formula(
    tree_copy: Path, cache: Path
) -> None:
    tests = (tree_copy / "test/test_ops.py").read_text()
    (tree_copy / "test/test_ops_gradients.py").write_text(tests)
    with opened(tree_copy, cache) as index:
        impacts = Impacts(index)
        entry = index.derivative("relu")
        assert entry
        answers = [impacts.impact(str(entry.location)), impacts.impact("relu")]
    first = [next(one.path for one in found.tests if "OpInfo" in one.reason) for found in answers]
    assert first == ["test/test_ops_gradients.py", "test/test_ops.py"]


@pytest.mark.parametrize(
    ("tests", "command"),
    [
        ("    def test_relu_inplace(self): ...\n", "pytest test/test_mps.py -k relu"),
        ("    @ops(op_db)\n    def test_x(self, op): ...\n", "pytest test/test_mps.py -k relu"),
        ("    def test_x(self): ...\n", "pytest test/test_mps.py"),
    ],
)
def test_the_file_of_a_back_end_runs_only_the_tests_of_the_operator(
    tree_copy: Path, cache: Path, tests: str, command: str
) -> None:
    (tree_copy / "test/test_mps.py").write_text(f"class TestX:\n{tests}")
    with opened(tree_copy, cache) as index:
        found = Impacts(index).impact("relu_mps")
    near = [one.command for one in found.tests if "its path has" in one.reason]
    assert [one for one in near if "test_mps" in one] == [command]
