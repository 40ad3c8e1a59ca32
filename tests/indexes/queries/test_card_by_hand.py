"""The gradient of an operator whose autograd kernel is written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.indexing import append, opened
from tests.tree_marks import YAML

_KERNEL = """namespace torch::autograd {{
Tensor& bring_(Tensor& self) {{ {} return self; }}
TORCH_LIBRARY_IMPL(aten, Autograd, m) {{ m.impl("bring_", TORCH_FN(bring_)); }}
}}
"""


@pytest.mark.parametrize(
    ("body", "text"), [("rebase_history(self, node);", "bring_"), ("", "not differentiable")]
)
def test_a_kernel_that_makes_a_node_differentiates(
    tree_copy: Path, cache: Path, body: str, text: str
) -> None:
    entry = "\n- func: bring_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: bring_cpu\n"
    append(tree_copy, {YAML: entry})
    folder = tree_copy / "torch/csrc/autograd"
    (folder / "Manual.cpp").write_text(_KERNEL.format(body))
    (folder / "History.h").write_text(
        "namespace torch::autograd { inline void rebase_history(Tensor& x, Node* n) {} }\n"
    )
    with opened(tree_copy, cache) as index:
        (line,) = (one for one in index.card("bring_").lines if one.label == "grad")
    assert line.text == text
