"""The dispatch table of the small tree, from its YAML files and its TORCH_LIBRARY blocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.dispatch_model import DispatchSlot
from indexes.errors import NotFound
from indexes.query import Index
from tests.indexing import opened

AUTOCAST = "aten/src/ATen/autocast_mode.cpp"
BATCHING = "aten/src/ATen/functorch/BatchRulesDecompositions.cpp"


def slots(index: Index, op: str) -> dict[str, DispatchSlot]:
    return {slot.key: slot for slot in index.table(op).slots}


def line_of(index: Index, path: str, text: str) -> int:
    return index.read(path).split(text)[0].count("\n") + 1


def test_own_registration_alias_and_fallback(tree_index: Index) -> None:
    found = slots(tree_index, "mm")
    assert (found["CPU"].kind, found["CPU"].confidence) == ("kernel", "exact")
    assert found["CPU"].definition is not None
    autocast = found["AutocastCPU"]
    assert (autocast.kind, autocast.origin) == ("kernel", AUTOCAST)
    assert "lower_precision_fp" in autocast.kernel
    assert autocast.registration is not None
    assert autocast.registration.line == line_of(tree_index, AUTOCAST, "KERNEL_CPU(mm,")
    assert [e.path for e in autocast.evidence] == ["aten/src/ATen/autocast_mode.h"]
    assert found["AutogradCPU"].kind == "autograd kernel"
    assert found["AutogradCPU"].registration is not None
    assert found["AutogradCPU"].registration.path == "tools/autograd/derivatives.yaml"


def test_an_operator_without_autocast_gets_the_fallback(tree_index: Index) -> None:
    found = slots(tree_index, "abs")["AutocastCPU"]
    assert (found.kind, found.fallthrough) == ("backend fallback", True)
    assert found.registration is not None
    assert found.registration.path == AUTOCAST


def test_a_composite_operator_and_its_batching_decomposition(tree_index: Index) -> None:
    found = slots(tree_index, "dropout")
    assert (found["CUDA"].kind, found["CUDA"].kernel) == ("math kernel", "dropout")
    batched = found["FuncTorchBatched"]
    assert (batched.kind, batched.origin) == ("batched kernel", BATCHING)
    assert batched.definition == found["CUDA"].definition, "the composite kernel itself"


def test_a_macro_that_holds_a_whole_block(tree_index: Index) -> None:
    batched = slots(tree_index, "relu")["FuncTorchBatched"]
    assert (batched.kind, batched.kernel) == ("kernel", "BASIC_UNARY_BATCH_RULE(ATEN_FN(relu))")
    path = "aten/src/ATen/functorch/BatchRulesModules.cpp"
    assert batched.registration is not None
    assert batched.registration.path == batched.origin == path
    assert batched.registration.line == line_of(tree_index, path, "NAMED_RULE(relu, relu)")
    assert f"{path}:{line_of(tree_index, path, '#define NAMED_RULE')}" in batched.rule


def test_every_slot_says_why_and_every_place_is_in_the_tree(tree_index: Index) -> None:
    for op in tree_index.dispatch.operators():
        for slot in tree_index.table(op).slots:
            assert slot.rule
            assert (slot.kind == "missing") == (not slot.kernel), (op, slot)
            for place in (slot.registration, slot.definition, *slot.evidence):
                if place:
                    assert 0 < place.line <= tree_index.read(place.path).count("\n") + 1


def test_all_registrations_of_an_operator_are_listed(tree_index: Index) -> None:
    table = tree_index.table("aten::mm")
    keys = [one.key for one in table.registrations]
    assert {"CPU", "Autograd", "Tracer", "AutocastCPU"} <= set(keys)


def test_nothing_is_registered_for_an_unknown_name(tree_index: Index) -> None:
    with pytest.raises(NotFound):
        tree_index.table("no_such_operator")


def test_a_wheel_says_which_registrations_it_does_not_hold(
    tree_index: Index, wheel_index: Index
) -> None:
    assert "torchnav clone" in wheel_index.table("add.Tensor").unseen
    reasons = {one.role: one.reason for one in wheel_index.chain("add.Tensor").unresolved}
    assert "batch rules" in reasons["batch_rule"]
    assert tree_index.table("add.Tensor").unseen == ""
    assert not any(u.role == "batch_rule" for u in tree_index.chain("add.Tensor").unresolved)


def test_where_python_goes_by_no_list_a_meta_row_is_not_certain(
    tree_index: Index, tree_copy: Path, cache: Path
) -> None:
    """Up to 1.13 each decorator registers for itself as it is run."""
    assert slots(tree_index, "relu")["Meta"].confidence == "ambiguous"
    with open(tree_copy / "torch/_meta_registrations.py", "a") as file:
        file.write("\n\ndef activate_meta():\n    left = {'aten::clone'}\n")
    with opened(tree_copy, cache) as later:
        assert slots(later, "relu")["Meta"].confidence == "exact"
