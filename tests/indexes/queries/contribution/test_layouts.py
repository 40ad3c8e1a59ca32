"""Kernels and tests of an operator's layouts."""

from __future__ import annotations

from pathlib import Path

from indexes.queries.contribution.plan import Contributions
from tests.indexing import append, opened
from tests.tree_marks import YAML

_NATIVE = "aten/src/ATen/native"
_ENTRIES = """
- func: pouring(Tensor self) -> Tensor
  dispatch:
    CPU: pouring
    SparseCPU: pouring_sparse

- func: poured(Tensor self) -> Tensor
  dispatch:
    CPU: poured
    SparseCPU: poured_sparse

- func: dripped(Tensor self) -> Tensor
  dispatch:
    CPU: dripped
    SparseCPU: dripped_sparse

- func: poured_view(Tensor(a) self) -> Tensor(a)
  dispatch:
    CPU: poured
    SparseCPU: poured_view_sparse
"""


def test_a_kernel_of_a_layout_leads_to_those_of_the_operators_that_it_calls(
    tree_copy: Path, cache: Path
) -> None:
    calls = "return at::poured(at::poured_view(self));"
    bodies = {"Pouring": ("pouring_sparse", calls)}
    bodies["Poured"] = ("poured_sparse", "return at::dripped(self);")
    bodies["Dripped"] = ("dripped_sparse", "return self;")
    bodies["View"] = ("poured_view_sparse", "return self;")
    cxx = {
        f"{_NATIVE}/sparse/{file}.cpp": (
            f"namespace at::native {{\nTensor {name}(const Tensor& self) {{ {body} }}\n}}\n"
        )
        for file, (name, body) in bodies.items()
    }
    test = "def test_it():\n    torch.pouring(1)\n"
    append(tree_copy, {YAML: _ENTRIES, **cxx, "test/test_sparse.py": test})
    with opened(tree_copy, cache) as index:
        plan = Contributions(index).of("pouring")
    called = [
        one.location.path for one in plan.steps if one.rule.startswith("the SparseCPU kernel of")
    ]
    assert called == [f"{_NATIVE}/sparse/{file}.cpp" for file in ("Poured", "Dripped")]
    assert "test/test_sparse.py" in {run.path for _, found in plan.tests for run in found.named}
