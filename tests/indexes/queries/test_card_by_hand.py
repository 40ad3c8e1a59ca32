"""Operators whose autograd kernel is written by hand: gradient, chain, mark in the list."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.queries.chains.chain import for_key
from tests.indexing import append, opened
from tests.tree_marks import YAML

_KERNEL = """namespace torch::autograd {{
Tensor& bring_(Tensor& self) {{ {} return self; }}
TORCH_LIBRARY_IMPL(aten, Autograd, m) {{ m.impl("bring_", TORCH_FN(bring_)); }}
}}
"""


_ENTRIES = """
- func: bring_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CompositeExplicitAutograd: bring_
- func: bring_twice_(Tensor(a!) self) -> Tensor(a!)
- func: brought(Tensor(a) self) -> Tensor(a)
"""
_KERNELS = """namespace at::native {
Tensor& bring_(Tensor& self) { return self; }
Tensor& bring_twice_(Tensor& self) { return at::bring_(self); }
Tensor brought(const Tensor& self) { return at::bring_(self); }
}
"""


@pytest.mark.parametrize(
    ("body", "text"), [("rebase_history(self, node);", "bring_"), ("", "not differentiable")]
)
def test_a_kernel_that_makes_a_node_differentiates(
    tree_copy: Path, cache: Path, body: str, text: str
) -> None:
    append(tree_copy, {YAML: _ENTRIES})
    (tree_copy / "aten/src/ATen/native/Bring.cpp").write_text(_KERNELS)
    folder = tree_copy / "torch/csrc/autograd"
    (folder / "Manual.cpp").write_text(_KERNEL.format(body))
    (folder / "History.h").write_text(
        "namespace torch::autograd { inline void rebase_history(Tensor& x, Node* n) {} }\n"
    )
    with opened(tree_copy, cache) as index:
        (line,) = (one for one in index.card("bring_").lines if one.label == "grad")
        (outer,) = (one for one in index.card("brought").lines if one.label == "grad")
        listed = filter(None, map(index.summary, ("bring_", "bring_twice_")))
        assert {one.differentiable for one in listed} == {bool(body)}
        hops = for_key(index.chain("bring_"), "AutogradCPU").hops
    assert line.text == text
    assert outer.text.startswith("not") is (not body)
    assert (outer.note == "by bring_, written by hand") is bool(body)
    shown = [one for one in hops if one.role in ("kernel", "derivative")]
    assert [(one.location.path, one.keys) for one in shown if one.location] == [
        ("torch/csrc/autograd/Manual.cpp", ("Autograd",))
    ] * 2
