"""Lines of TORCH_LIBRARY blocks, and the functions they register, lead back to operators."""

from __future__ import annotations

from indexes.queries.index import Index
from tests.indexing import line_of

AUTOCAST = "aten/src/ATen/autocast_mode.cpp"


def test_a_macro_use_in_a_block(tree_index: Index) -> None:
    (place, *_) = tree_index.at(AUTOCAST, line_of(tree_index, AUTOCAST, "KERNEL_CPU(addmm,"))
    assert (place.kind, place.operators) == ("registration", ("addmm",))
    assert "autocast_mode.h" in place.detail


def test_a_list_macro_registers_several(tree_index: Index) -> None:
    line = line_of(tree_index, AUTOCAST, "AT_FORALL_FP32(_KERNEL_CUDA_FP32)")
    (place, *_) = tree_index.at(AUTOCAST, line)
    assert len(place.operators) > 1


def test_any_line_of_a_long_call(tree_index: Index) -> None:
    path = "torch/csrc/autograd/VariableTypeManual.cpp"
    text = tree_index.read(path)
    call = text.index("m.impl(")
    first = text[:call].count("\n") + 1
    last = text[: text.index(");", call)].count("\n") + 1
    assert last > first
    (place, *_) = tree_index.at(path, last)
    assert (place.kind, place.location.line) == ("registration", first)


def test_a_batch_rule_leads_to_its_operator(tree_index: Index) -> None:
    path = "aten/src/ATen/functorch/BatchRulesModules.cpp"
    functions = [
        (hit.location, op)
        for op in ("embedding",)
        for hit in tree_index.chain(op).hops
        if hit.role == "batch_rule" and hit.symbol.endswith("batch_rule")
    ]
    place = next(p for p, _ in functions if p and p.path == path)
    found = tree_index.at(place.path, place.line)
    assert any("embedding" in one.operators for one in found)
    hits = tree_index.uses("embedding_batch_rule")
    assert any(hit.kind == "registration" and hit.op == "embedding" for hit in hits)
