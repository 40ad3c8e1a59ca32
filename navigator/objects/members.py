"""Reads each member of a tensor with torch's API, and its value in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch

from indexes.model.answers import Member
from indexes.model.vocabulary import Location
from indexes.readers.cxx.declared_types import DeclaredClass
from navigator.objects.headers import Headers
from navigator.objects.memory import Memory, Pointer, Raw

_TENSOR = {
    "refcount_": "t._use_count()",
    "storage_": "hex(t.untyped_storage()._cdata)",
    "version_counter_": "t._version",
    "pyobj_slot_": "hex(id(t))",
    "sizes_and_strides_": "(tuple(t.shape), t.stride())",
    "storage_offset_": "t.storage_offset()",
    "numel_": "t.numel()",
    "data_type_": "t.dtype",
    "device_opt_": "t.device",
    "is_contiguous_": "t.is_contiguous()",
    "is_channels_last_contiguous_": "t.is_contiguous(memory_format=torch.channels_last)",
    "is_channels_last_3d_contiguous_": "t.is_contiguous(memory_format=torch.channels_last_3d)",
    "has_symbolic_sizes_strides_": "t._has_symbolic_sizes_strides",
    "key_set_": "hex(torch._C._dispatch_keys(t).raw_repr())",
    "sparse_dim_": "t.sparse_dim()",
    "dense_dim_": "t.dense_dim()",
    "coalesced_": "t.is_coalesced()",
    "quantizer_": "t.qscheme()",
    "nested_sizes_": "t._nested_tensor_size()",
    "nested_strides_": "t._nested_tensor_strides()",
    "storage_offsets_": "t._nested_tensor_storage_offsets()",
    "layout_": "t.layout",
}
_AUTOGRAD = {
    "name_": "t.name",
    "grad_": "t._grad",
    "grad_fn_": "t.grad_fn",
    "hooks_": "t._backward_hooks",
    "post_acc_grad_hooks_": "t._post_accumulate_grad_hooks",
    "requires_grad_": "t.requires_grad",
    "retains_grad_": "t.retains_grad",
    "is_view_": "t._is_view()",
    "output_nr_": "t.output_nr",
    "grad_dtype_": "t.grad_dtype",
    "backward_info_": "t._base is not None",
    "creation_meta_": "torch._C._autograd._get_creation_meta(t)",
}
_STORAGE = {
    "refcount_": "torch._C._storage_Use_Count(s._cdata)",
    "data_ptr_": "hex(s.data_ptr())",
    "size_bytes_": "s.nbytes()",
    "resizable_": "s.resizable()",
}
API: Mapping[str, Mapping[str, str]] = {
    "TensorImpl": _TENSOR,
    "AutogradMeta": _AUTOGRAD,
    "StorageImpl": _STORAGE,
}
"""The expression for a member, with ``t`` the tensor and ``s`` its untyped storage."""
REFUSALS = (RuntimeError, AttributeError, TypeError, ValueError)
"""Errors that torch raises for tensors that lack an attribute."""
_SEEN_OTHERWISE = {
    "requires_grad_": "it is set on leaves alone, t.requires_grad is true with a grad_fn too"
}
"""Why the API's value differs from the member, by member."""


@dataclass(frozen=True, slots=True)
class MemberValue:
    """A data member with its value, or the reason why there is none."""

    owner: str
    """The class that declares it: ``TensorImpl``, or one of its bases or derived classes."""
    name: str
    type: str
    comment: str
    location: Location
    value: str = ""
    """The value that the program sees; empty if ``reason`` explains why it is unknown."""
    read_by: str = ""
    """The Python expression, or ``memory at +152``."""
    memory: str = ""
    """The value in memory, if it could be read."""
    note: str = ""
    """How the two differ."""
    reason: str = ""


class Reader:
    """Reads the members of a tensor's C++ objects.

    Parameters:
        headers: Headers of the tree whose declarations are shown.
        memory: The objects of this process, or a text that says why they can't be read.
    """

    def __init__(self, tensor: torch.Tensor, headers: Headers, memory: Memory | str) -> None:
        self._tensor = tensor
        self._headers = headers
        self._memory = memory

    def members(
        self, class_name: str, address: int, api: Mapping[str, str], missing: str = ""
    ) -> Iterator[MemberValue]:
        """The members of the object at an address, base classes first.

        Parameters:
            address: The address; 0 if there is no such object or it is unknown.
            api: Expressions for members that torch's API can read.
            missing: Why there is no object.
        """
        for owner, member in self._declared(class_name):
            raw, at = self._raw(class_name, member.name, address)
            text = _MemberText(member.name, raw, at)
            expression = api.get(_api_name(member.name), "")
            if not (missing and "s." in expression):
                text.ask(expression, self._tensor)
            if not text.value and not text.reason:
                text.reason = missing or self._unreadable(member, at)
            place = (owner.name, member.name, member.type, member.comment, member.location)
            yield MemberValue(*place, *text.words())

    def _declared(self, class_name: str) -> Iterator[tuple[DeclaredClass, Member]]:
        declared = self._headers.declared(class_name)
        if declared is None:
            return
        for base in declared.bases:
            yield from self._declared(base.partition("<")[0])
        for group in declared.members:
            yield from ((declared, member) for member in group)

    def _raw(self, class_name: str, name: str, address: int) -> tuple[Raw, int | None]:
        if isinstance(self._memory, str) or not address:
            return None, None
        slot = self._memory.slots(class_name).get(name)
        return (self._memory.read(address, slot), slot.offset) if slot else (None, None)

    def _unreadable(self, member: Member, at: int | None) -> str:
        if isinstance(self._memory, str):
            return f"torch has no way to read it from Python, and {self._memory}"
        if at is None:
            return f"torch {torch.__version__}, which runs here, declares no such member"
        type_ = member.type.removeprefix("mutable ")
        return f"torch has no way to read it from Python, and a {type_} is not a plain value"


@dataclass
class _MemberText:
    """The texts about one member."""

    name: str
    raw: Raw
    at: int | None
    value: str = ""
    read_by: str = ""
    memory: str = ""
    note: str = ""
    reason: str = ""

    def words(self) -> tuple[str, str, str, str, str]:
        """The fields for a ``MemberValue``."""
        return self.value, self.read_by, self.memory, self.note, self.reason

    def ask(self, expression: str, tensor: torch.Tensor) -> None:
        """Takes the API's value, the value in memory, or both."""
        self.memory = "" if self.raw is None else _shown(self.raw)
        if not expression:
            if self.memory:
                self.value, self.read_by = self.memory, f"memory at +{self.at}"
            return
        try:
            value = evaluate(expression, tensor)
        except REFUSALS as error:
            self._refused(expression, first_line(error))
            return
        self.value, self.read_by = describe(value), expression
        if differ(self.raw, value):
            why = _SEEN_OTHERWISE.get(self.name, "the tensor's class answers this itself")
            self.note = f"the member holds {self.memory}, the program sees {self.value}: {why}"

    def _refused(self, expression: str, why: str) -> None:
        """Uses the value in memory if torch raises; else torch's message is the reason."""
        if self.memory:
            self.value, self.read_by = self.memory, f"memory at +{self.at}"
            self.note = f"{expression} raises {why}"
        else:
            self.reason = f"{expression}: {why}"


def _api_name(member: str) -> str:
    """Since 2.10, one member holds both reference counts."""
    return "refcount_" if member == "combined_refcount_" else member


def evaluate(expression: str, tensor: torch.Tensor) -> object:
    """The value of one of our expressions for a tensor; overrides of the program do not run."""
    with torch._C.DisableTorchFunction(), torch.no_grad():
        names = {"t": tensor, "torch": torch}
        if "s." in expression:
            names["s"] = tensor.untyped_storage()
        return eval(expression, names)  # only expressions of this module


def describe(value: object) -> str:
    """A value in one line."""
    if isinstance(value, torch.Tensor):
        return f"a tensor {tuple(value.shape)} {value.dtype}"
    text = str(value)
    line = text.splitlines()[0] if text else repr(value)
    return line if len(line) <= 200 else f"{line[:199]}…"


def _shown(raw: Raw) -> str:
    if isinstance(raw, tuple):
        return f"({', '.join('…' if one is None else _shown(one) for one in raw)})"
    return str(raw)


def differ(raw: Raw, value: object) -> bool:
    """Whether a member and the API's value are numbers, or tuples of numbers, that differ."""
    ours, theirs = _comparable(raw), _comparable(value)
    return ours is not None and type(ours) is type(theirs) and ours != theirs


def _comparable(value: object) -> int | tuple[object, ...] | None:
    if isinstance(value, Pointer):
        return value.address
    if isinstance(value, str):
        return int(value, 16) if value.startswith("0x") else None
    if isinstance(value, tuple):
        parts = tuple(map(_comparable, value))
        return None if None in parts else parts
    return int(value) if isinstance(value, int) else None


def first_line(error: BaseException) -> str:
    """An error in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:160]}" if lines else type(error).__name__
