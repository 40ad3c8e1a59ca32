"""Which of several lines with one message comes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.indexing import opened, write

ENTRY = {"aten/src/ATen/native/native_functions.yaml": "- func: mul(Tensor self) -> Tensor\n"}
LINEAR_ALGEBRA = "aten/src/ATen/native/LinearAlgebra.cpp"


def test_a_line_that_no_operator_reaches_comes_after_others(tree_copy: Path, cache: Path) -> None:
    check = 'TORCH_CHECK(false, "self must be a matrix");'
    write(tree_copy, {"c10/traced.cpp": f"void traced() {{\n  {check}\n}}\n"})
    with opened(tree_copy, cache) as index:
        first, second, *_ = index.resolve("RuntimeError: self must be a matrix").hits
    assert (first.location.path, second.location.path) == (LINEAR_ALGEBRA, "c10/traced.cpp")


@pytest.mark.parametrize("kernel", ["mul", "beside"])
def test_what_operators_or_exported_functions_reach_comes_first(
    tmp_path: Path, kernel: str
) -> None:
    python = '__all__ = [{}]\ndef pool():\n    raise RuntimeError("bad sizes here")\n'
    check = 'TORCH_CHECK(false, "bad sizes here");'
    hidden, exported = "torch/nn/hooks.py", "torch/nn/parts/deep/functional.py"
    cxx = "aten/src/ATen/native/Mul.cpp"
    files = {**ENTRY, hidden: python.format(""), exported: python.format("'pool'")}
    files[cxx] = f"namespace at::native {{\nTensor {kernel}(const Tensor& self) {{ {check} }}\n}}\n"
    with opened(write(tmp_path / "pytorch", files), tmp_path / "cache") as index:
        found = index.resolve("RuntimeError: bad sizes here").hits
    lines = [one.location.path for one in found if one.kind == "error"]
    assert lines == ([cxx, exported, hidden] if kernel == "mul" else [hidden, cxx, exported])
