"""Tensors of all kinds, member by member, against what torch itself says of them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch._subclasses import FakeTensorMode

import navigator
from navigator.objects.members import MemberValue, evaluate
from navigator.objects.memory import Memory, running_memory
from navigator.objects.tensor import Inspection, inspect


def _fake() -> torch.Tensor:
    with FakeTensorMode():
        return torch.ones(2, 3)


def _inference() -> torch.Tensor:
    with torch.inference_mode():
        return torch.ones(2)


def _nested(layout: torch.layout) -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=layout)


def _quantized() -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8)


def _csr() -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.eye(3).to_sparse_csr()


KINDS: dict[str, Callable[[], torch.Tensor]] = {
    "plain": lambda: torch.ones(2, 3),
    "slice": lambda: torch.arange(24.0).reshape(2, 3, 4)[:, 1:],
    "transposed": lambda: torch.ones(2, 3).t(),
    "expanded": lambda: torch.ones(3, 1).expand(3, 4),
    "leaf": lambda: torch.ones(3, requires_grad=True),
    "non-leaf": lambda: torch.ones(3, requires_grad=True) * 2,
    "channels_last": lambda: torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "six dimensions": lambda: torch.ones(1, 2, 1, 2, 1, 2),
    "coo": lambda: torch.eye(3).to_sparse(),
    "csr": _csr,
    "conj": lambda: torch.ones(2, dtype=torch.complex64).conj(),
    "meta": lambda: torch.empty(2, 3, device="meta"),
    "quantized": _quantized,
    "nested": lambda: _nested(torch.strided),
    "jagged": lambda: _nested(torch.jagged),
    "fake": _fake,
    "inference": _inference,
}


def members(found: Inspection) -> dict[str, MemberValue]:
    return {f"{one.owner}.{one.name}": one for part in found.parts for one in part.members}


@pytest.mark.parametrize("kind", KINDS)
def test_every_member_has_a_value_or_a_reason(kind: str) -> None:
    found = inspect(KINDS[kind]())

    assert len(members(found)) > 50
    for one in members(found).values():
        assert bool(one.value) != bool(one.reason), one
        assert one.location.line


@pytest.mark.filterwarnings("ignore:The .grad attribute")
@pytest.mark.parametrize("kind", KINDS)
def test_what_the_program_sees_is_the_value(kind: str) -> None:
    tensor = KINDS[kind]()
    for one in members(inspect(tensor)).values():
        if one.read_by.startswith("t.") and "count" not in one.name:
            seen = str(evaluate(one.read_by, tensor)).splitlines()
            assert one.value == (seen or ["''"])[0] or one.value.startswith("a tensor"), one
        # A member may hold something else only where this is said.
        if one.memory.isdigit() and one.value.isdigit() and one.memory != one.value:
            assert "the program sees" in one.note, one


def test_members_that_torch_does_not_tell_come_from_memory() -> None:
    held = members(inspect(torch.ones(2, 3).t()))

    assert held["TensorImpl.is_non_overlapping_and_dense_"].value == "True"
    assert held["TensorImpl.is_wrapped_number_"].value == "False"
    assert held["TensorImpl.is_wrapped_number_"].read_by.startswith("memory at +")


def test_a_member_that_differs_from_the_api_says_so() -> None:
    leaf, other = KINDS["leaf"](), KINDS["non-leaf"]()

    assert not members(inspect(leaf))["AutogradMeta.requires_grad_"].note
    told = members(inspect(other))["AutogradMeta.requires_grad_"]
    assert (told.value, told.memory) == ("True", "False")
    assert "the member holds False, the program sees True" in told.note
    numel = members(inspect(KINDS["nested"]()))["TensorImpl.numel_"]
    assert (numel.value, numel.memory) == ("5", "0")


def test_a_refusal_of_torch_is_told_beside_what_memory_holds() -> None:
    one = members(inspect(_csr()))["TensorImpl.sizes_and_strides_"]

    assert one.value.startswith("((3, 3), (")
    assert "do not have strides" in one.note


def test_the_class_of_the_object_brings_its_own_members() -> None:
    sparse, view = inspect(torch.eye(3).to_sparse()), inspect(torch.ones(2, 3).t())

    assert sparse.parts[0].class_name == "SparseTensorImpl"
    assert members(sparse)["SparseTensorImpl.sparse_dim_"].value == "2"
    assert view.parts[1].class_name == "DifferentiableViewMeta"
    assert members(view)["DifferentiableViewMeta.creation_meta_"].value == "CreationMeta.DEFAULT"


def test_the_key_set_is_told_bit_by_bit() -> None:
    keys = inspect(torch.eye(2).to_sparse()).keys

    assert keys.raw == torch._C._dispatch_keys(torch.eye(2).to_sparse()).raw_repr()
    assert sum(1 << bit.bit for bit in keys.bits) == keys.raw
    named = [(bit.name, bit.is_backend) for bit in keys.bits]
    assert named[0] == ("CPUBit", True)
    assert ("Sparse", False) in named
    assert "SparseCPU" in keys.keys
    assert keys.keys.index("AutogradCPU") < keys.keys.index("SparseCPU")


def test_no_override_of_the_program_runs() -> None:
    class Loud(torch.Tensor):  # type: ignore[misc]
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            raise AssertionError(func)

    assert "Loud" in inspect(torch.Tensor._make_subclass(Loud, torch.ones(2))).summary


def test_nothing_is_changed_by_looking() -> None:
    tensor = torch.ones(3, requires_grad=True) * 2
    before = (tensor._version, tensor._use_count(), tensor.untyped_storage()._cdata)
    inspect(tensor)

    assert (tensor._version, tensor._use_count(), tensor.untyped_storage()._cdata) == before


def test_only_tensors_are_taken() -> None:
    with pytest.raises(TypeError, match="takes a tensor, not int"):
        inspect(3)


def test_the_declarations_of_another_tree_are_shown(tree: Path) -> None:
    found = inspect(torch.ones(2), str(tree))
    names = {one.name for one in found.parts[0].members}

    assert found.source.kind == "checkout"
    assert "key_set_" in names
    assert all(one.value or one.reason for one in found.parts[0].members)


def test_the_answer_is_the_same_in_json() -> None:
    found = navigator.inspect(torch.ones(2, 3))
    data = json.loads(found.as_json())

    assert data["schema_version"] == 1
    assert data["strip"]["reached"] == 6
    by_name = {one["name"]: one for one in data["parts"][0]["members"]}
    assert by_name["numel_"]["value"] == "6"
    assert by_name["numel_"]["path"].endswith("TensorImpl.h")


def test_the_places_are_those_of_the_running_torch() -> None:
    assert isinstance(running_memory(), Memory)
