"""Which operators are parts of another."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.queries.contribution.by_name import is_part
from indexes.queries.contribution.helpers import MAX_USERS
from indexes.queries.contribution.plan import Contributions
from tests.indexing import append, opened
from tests.tree_marks import YAML


@pytest.mark.parametrize(
    ("called", "name", "expected"),
    [
        ("_cumsum_helper", "cumsum", True),
        ("tanh_backward", "tanh", True),
        ("embedding_dense_backward", "embedding_backward", True),
        ("max_pool2d_with_indices_backward.grad_input", "max_pool2d_backward", True),
        ("embedding_dense", "embedding_backward", False),
        ("norm_backward", "embedding_backward", False),
        ("embedding_backward", "embedding_dense_backward", False),
    ],
)
def test_a_part_has_the_name_of_the_whole(called: str, name: str, expected: bool) -> None:
    assert is_part(called, name) is expected


_SHARED = """
- func: passing(Tensor self) -> Tensor
  dispatch:
    CUDA: passing_cuda

"""
_NATIVE = "aten/src/ATen/native"


def test_what_many_operators_run_and_what_falls_through_is_seldom_changed(
    tree_copy: Path, cache: Path
) -> None:
    space = "namespace at::native {{\n{}\n}}\n".format
    loop = "__global__ void loop_kernel() {}\nvoid launch_all() { loop_kernel<<<1, 1>>>(); }"
    kernel = space("Tensor passing_cuda(const Tensor& self) { launch_all(); return self; }")
    users = {
        f"{_NATIVE}/cuda/User{at}.cu": space(f"void use_{at}() {{ launch_all(); }}")
        for at in range(MAX_USERS)
    }
    named = "TORCH_LIBRARY_IMPL(aten, Named, m) {\n"
    named += '  m.impl("passing", CppFunction::makeFallthrough());\n}\n'
    own = {f"{_NATIVE}/cuda/Launch.cu": space(loop), f"{_NATIVE}/cuda/Passing.cu": kernel}
    append(tree_copy, {YAML: _SHARED, "aten/src/ATen/Named.cpp": named, **own, **users})
    with opened(tree_copy, cache) as index:
        steps = Contributions(index).of("passing").steps
    change = {step.location.path: step.change for step in steps}
    assert change["aten/src/ATen/Named.cpp"] == "seldom"
    assert change[f"{_NATIVE}/cuda/Launch.cu"] == "seldom"
    assert change[f"{_NATIVE}/cuda/Passing.cu"] == "will"
