"""Reads members of this process's C++ objects at the offsets given by the running torch's headers,
after a self-test of these offsets on sample tensors."""

from __future__ import annotations

import ctypes
import platform
import struct
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch

from indexes.linking.memory_layout import Layouts, Slot
from indexes.model.errors import SourceError
from indexes.model.regex import regex
from indexes.source.source import Source
from navigator.objects.headers import Headers

_SIGNED = {1: "b", 2: "h", 4: "i", 8: "q"}
_FLOATS = {"float": "f", "double": "d"}
_HOLDS_POINTER = regex(
    r"(?:mutable\s+|const\s+)*(?:std::(?:shared|weak)_ptr|std::unique_ptr)\s*<.*"
)
_OPTIONAL = regex(r"(?:mutable\s+|const\s+)*std::optional\s*<(.*)>")
_ATOMIC = regex(r"(?:mutable\s+|const\s+)*std::atomic\s*<(.*)>")
_OPAQUE = regex(r"(?:mutable\s+|const\s+)*std::(?:string|vector|mutex|function|unordered_map)\b.*")
_VTABLE = regex(r"_ZTVN?(\d\w+)")
_LENGTH = regex(r"\d+")
_WORD = 8


@dataclass(frozen=True, slots=True)
class Pointer:
    """An address in this process; 0 is null."""

    address: int

    def __str__(self) -> str:
        return f"0x{self.address:x}" if self.address else "null"


Raw = int | float | bool | Pointer | str | tuple["Raw", ...] | None
"""A value in memory; a tuple for a class with several members, ``nullopt`` as text, None for
anything but a plain value."""
_STRONG = (1 << 32) - 1
"""The bits of ``combined_refcount_`` that count strong references."""


class Memory:
    """The objects of this process, by the layouts of the running torch."""

    def __init__(self, headers: Headers) -> None:
        self.headers = headers
        self.layouts: Layouts = headers.layouts

    def slots(self, class_name: str) -> dict[str, Slot]:
        """The members of a class with their offsets, by name."""
        return {slot.member.name: slot for slot in self.layouts.of(class_name).slots}

    def read(self, address: int, slot: Slot) -> Raw:
        """The value of a member of the object at an address, in the API's form."""
        raw = self._value(address + slot.offset, slot.member.type, slot)
        if slot.member.name == "combined_refcount_" and isinstance(raw, int):
            return raw & _STRONG
        if slot.member.name == "version_counter_" and isinstance(raw, Pointer) and raw.address:
            return self.member(raw.address, "VersionCounter", "version_")
        if slot.member.name == "sizes_and_strides_":
            return self._sizes_and_strides(address + slot.offset)
        return raw

    def pointer(self, address: int, class_name: str, name: str) -> int:
        """The address in a member; 0 for null or an unknown offset."""
        slot = self.slots(class_name).get(name)
        return self._integer(address + slot.offset, _WORD) if slot else 0

    def _sizes_and_strides(self, at: int) -> Raw:
        """``(sizes, strides)``: up to five dimensions are stored inline."""
        slots = self.slots("SizesAndStrides")
        if not {"size_", "inlineStorage_", "outOfLineStorage_"} <= slots.keys():
            return None
        count = self._integer(at + slots["size_"].offset, _WORD)
        room = slots["inlineStorage_"].size // (2 * _WORD)
        begin = at + slots["inlineStorage_"].offset
        step = room
        if count > room:
            begin, step = self._integer(at + slots["outOfLineStorage_"].offset, _WORD), count
        numbers = self._integers(begin, step + count)
        return tuple(numbers[:count]), tuple(numbers[step:])

    def member(self, address: int, class_name: str, name: str) -> Raw:
        """A member's value by name; None if its offset is unknown."""
        slot = self.slots(class_name).get(name)
        return self.read(address, slot) if slot else None

    def _value(self, at: int, type_: str, slot: Slot | None = None) -> Raw:
        if slot is not None and slot.bit is not None:
            value = self._integer(at, slot.size) >> slot.bit & ((1 << (slot.member.bits or 1)) - 1)
            return bool(value) if slot.member.bits == 1 else value
        atomic, optional = _ATOMIC.fullmatch(type_), _OPTIONAL.fullmatch(type_)
        if atomic is not None:
            return self._value(at, atomic[1])
        if optional is not None:
            return self._optional(at, optional[1])
        shape = self.layouts.shape(type_)
        if shape is None or _OPAQUE.fullmatch(type_) or "[" in type_:
            return None
        plain = self.layouts.plain_type(type_)
        if plain == "*" or _HOLDS_POINTER.fullmatch(type_):
            return Pointer(self._integer(at, _WORD))
        if self.layouts.declared(plain.partition("<")[0]) is None:
            return self._scalar(at, plain, shape.size)
        return self._object(at, plain.partition("<")[0])

    def _scalar(self, at: int, plain: str, size: int) -> Raw:
        if plain in _FLOATS:
            number: float = struct.unpack(f"={_FLOATS[plain]}", ctypes.string_at(at, size))[0]
            return number
        value = self._integer(at, size, signed="uint" not in plain and plain != "size_t")
        return bool(value) if plain == "bool" else value

    def _optional(self, at: int, type_: str) -> Raw:
        held = self.layouts.shape(type_)
        if held is None:
            return None
        return self._value(at, type_) if self._integer(at + held.size, 1) else "nullopt"

    def _object(self, at: int, class_name: str) -> Raw:
        """The value of a class with a single member, else those of all members."""
        values = tuple(self.read(at, slot) for slot in self.layouts.of(class_name).slots)
        return values[0] if len(values) == 1 else values

    def _integers(self, address: int, count: int) -> tuple[int, ...]:
        return struct.unpack(f"={count}q", ctypes.string_at(address, 8 * count))

    def _integer(self, at: int, size: int, *, signed: bool = False) -> int:
        kind = _SIGNED[size] if signed else _SIGNED[size].upper()
        value: int = struct.unpack(f"={kind}", ctypes.string_at(at, size))[0]
        return value


@cache
def running_memory() -> Memory | str:
    """The memory of this process, or why it can't be read if the self-test fails."""
    if sys.maxsize <= 2**32 or platform.system() != "Linux":
        return f"the layout of objects on {platform.system()} is not known"
    if torch.__file__ is None:
        return "torch was not imported from files"
    try:
        memory = Memory(Headers(Source(str(Path(torch.__file__).parents[1]), "wheel")))
        return _failure(memory) or memory
    except SourceError as error:
        return f"the headers of the running torch cannot be read: {error}"


def _failure(memory: Memory) -> str:
    """Why the offsets are wrong; empty if they reproduce the API's values for four tensors."""
    for tensor in _samples():
        want = {
            "numel_": tensor.numel(),
            "storage_offset_": tensor.storage_offset(),
            "key_set_": torch._C._dispatch_keys(tensor).raw_repr(),
            "storage_": tensor.untyped_storage()._cdata,
        }
        layout = memory.slots("TensorImpl")
        for name, value in want.items():
            if name not in layout:
                return f"{name} of TensorImpl: {memory.layouts.of('TensorImpl').reason}"
            found = memory.read(tensor._cdata, layout[name])
            if (found.address if isinstance(found, Pointer) else found) != value:
                return f"{name} is not where the headers put it (self-test)"
    return ""


def _samples() -> tuple[torch.Tensor, ...]:
    base = torch.arange(24.0).reshape(2, 3, 4)
    return base, base[1:, :, 2], torch.ones(3, requires_grad=True), torch.empty(5, device="meta")


class _Symbol(ctypes.Structure):
    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


def dynamic_class(address: int) -> str:
    """The class of an object, ``c10::TensorImpl``, from its vtable's symbol, or empty."""
    (table,) = struct.unpack("=Q", ctypes.string_at(address, _WORD))
    symbol = _Symbol()
    if not ctypes.CDLL(None).dladdr(ctypes.c_void_p(table), ctypes.byref(symbol)):
        return ""
    match = _VTABLE.fullmatch((symbol.name or b"").decode("ascii", "replace"))
    return "::".join(_parts(match[1])) if match else ""


def _parts(mangled: str) -> list[str]:
    """``3c1010TensorImplE`` as ``c10``, ``TensorImpl``, without template arguments."""
    parts = []
    while (length := _LENGTH.match(mangled)) is not None:
        end = length.end() + int(length[0])
        parts.append(mangled[length.end() : end])
        mangled = mangled[end:]
    return parts
