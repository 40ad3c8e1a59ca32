"""Operators by the lines that name them: ``callers``, ``uses`` and ``impact``."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.queries.impact.answers import Impacts
from indexes.queries.impact.dispatch import UNREAD
from indexes.queries.index import Index
from indexes.queries.written_operators import LIMIT
from tests.indexing import line_of, opened, write

OPS = "torch/csrc/distributed/c10d/Ops.cpp"
TESTS = "test/test_library.py"
KERNELS = "aten/src/ATen/native/quantized/cpu/qops.cpp"


def test_what_asks_the_dispatcher_is_a_caller(tree_index: Index) -> None:
    found = Impacts(tree_index).callers("c10d::send")
    callers = {step.symbol: step.evidence for step in found.steps if step.parent == 0}
    assert any(name.endswith("all_reduce") for name in callers)
    assert not any(at and "_operators.py" in at.path for at in callers.values())  # it registers
    assert f"c10d::send: {LIMIT}" in found.unresolved


@pytest.mark.parametrize("name", ["quantized::layer_norm", "torch.ops.quantized.layer_norm"])
def test_what_reads_it_from_torch_ops_is_a_caller(tree_index: Index, name: str) -> None:
    found = Impacts(tree_index).callers(name)
    (use,) = [step for step in found.steps if step.parent == 0]
    assert use.evidence is not None
    assert (use.kind, use.rule, use.confidence) == ("test", "calls it", "exact")
    assert use.symbol == "test.test_library.TestLibrary.test_norms"
    assert use.evidence.path == TESTS
    assert use.evidence.line == line_of(tree_index, TESTS, "toq.layer_norm")


def test_what_is_not_looked_for_is_said(tree_index: Index) -> None:
    found = Impacts(tree_index).callers("prims::fma")
    assert any("a name of torch._prims" in one for one in found.unresolved)


def test_registrations_are_uses(tree_index: Index) -> None:
    hits = [hit for hit in tree_index.uses("quantized::add") if hit.kind == "registration"]
    lines = [(hit.location.path, hit.location.line) for hit in hits]
    assert (KERNELS, line_of(tree_index, KERNELS, '"quantized::add")')) in lines
    assert any(hit.kind == "caller" for hit in tree_index.uses("quantized::add"))


def test_impact_reaches_the_tests_that_call_it(tree_index: Index) -> None:
    found = Impacts(tree_index).impact("quantized::add")
    assert any(TESTS in one.command and "test_norms" in one.command for one in found.tests)


def test_operators_of_aten_are_read_from_torch_ops_too(tree_index: Index) -> None:
    found = Impacts(tree_index).callers("add.Tensor")
    uses = {str(step.evidence): step for step in found.steps if step.parent == 0}
    refs = "torch/_refs/__init__.py"
    use = uses[f"{refs}:{line_of(tree_index, refs, '@register_decomposition(aten.add)')}"]
    assert use.confidence == "by rule"  # it does not say which overload
    assert f"add: {LIMIT}" in found.unresolved


def test_an_overload_is_no_use_of_another(tree_index: Index) -> None:
    table = "torch/export/decomp_utils.py"
    at = f"{table}:{line_of(tree_index, table, 'torch.ops.aten.layer_norm.default')}"
    found = Impacts(tree_index).callers("layer_norm")
    assert at in {str(step.evidence) for step in found.steps if step.parent == 0}
    found = Impacts(tree_index).callers("native_layer_norm")
    assert at not in {str(step.evidence) for step in found.steps}


def test_a_symbol_of_torchscript_is_a_use(tree_copy: Path, cache: Path) -> None:
    path = "torch/csrc/jit/passes/peephole.cpp"
    text = (
        "namespace torch::jit {\n"
        "// aten::cumsum\n"
        "bool sums(Node* node) {\n  return node->kind() == aten::cumsum;\n}\n}\n"
    )
    write(tree_copy, {path: text})
    with opened(tree_copy, cache) as index:
        found = Impacts(index).callers("cumsum")
    uses = [step for step in found.steps if step.evidence and step.evidence.path == path]
    assert {(use.symbol, str(use.evidence)) for use in uses} == {("torch::jit::sums", f"{path}:4")}
    assert all(use.rule.startswith("names its symbol") for use in uses)


def test_impact_says_that_it_does_not_read_them(tree_index: Index) -> None:
    assert UNREAD in Impacts(tree_index).impact("softmax_kernel_impl", tests=False).unresolved
