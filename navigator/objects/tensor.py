"""``navigator.inspect(t)``: a tensor's contents, with the lines that declare them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import torch

from indexes.model.errors import SourceError
from indexes.model.vocabulary import Location, SourceInfo
from indexes.readers.cxx.dispatch_keys import read_dispatch_keys
from indexes.serialize.answers import envelope, shape, to_object
from indexes.source.source import Source
from navigator.objects.headers import Headers
from navigator.objects.members import API, REFUSALS, MemberValue, Reader, first_line
from navigator.objects.memory import Memory, dynamic_class, running_memory
from navigator.objects.storage import Format, Sharer, Strip, formats, sharers, strip
from navigator.text.html import linked_text
from navigator.text.objects import inspection_lines


@dataclass(frozen=True, slots=True)
class KeyBit:
    """A set bit of a key set."""

    bit: int
    name: str
    """The functionality, ``Dense``, or the backend, ``CPUBit``."""
    is_backend: bool
    location: Location | None
    """The key in DispatchKey.h."""


@dataclass(frozen=True, slots=True)
class KeySet:
    """The meaning of a tensor's ``key_set_``."""

    raw: int
    bits: tuple[KeyBit, ...]
    keys: tuple[str, ...]
    """The runtime keys from combining backend and functionality bits, highest priority first; the
    thread's included and excluded keys are not considered."""


def key_set(tensor: torch.Tensor, source: Source) -> KeySet:
    """A tensor's key set, with the lines of the tree that declare its keys."""
    keys = torch._C._dispatch_keys(tensor)
    raw = keys.raw_repr()
    lines = _lines(source)
    bits = tuple(_bit(bit, lines) for bit in range(64) if raw >> bit & 1)
    return KeySet(raw, bits, tuple(reversed(_names(keys))))


def _bit(bit: int, lines: Mapping[str, Location]) -> KeyBit:
    backend = _backends().get(bit, "")
    name = f"{backend}Bit" if backend else _functionality(bit)
    return KeyBit(bit, name, bool(backend), lines.get(backend or name))


def _names(keys: torch._C.DispatchKeySet) -> list[str]:
    """The names in ``DispatchKeySet(CPU, AutogradCPU)``, lowest priority first."""
    inside = str(keys).partition("(")[2].rpartition(")")[0]
    return [name for name in inside.split(", ") if name]


def _functionality(bit: int) -> str:
    make = getattr(torch._C.DispatchKeySet, "from_raw_repr", None)  # not in torch 2.7
    named = _names(make(1 << bit)) if make else []
    return named[0] if named else _by_bits().get((bit,), f"bit {bit}")


@cache
def _backends() -> Mapping[int, str]:
    """The backend of each bit: the lower of the two bits of ``CPU``."""
    return {bits[0]: name for bits, name in _by_bits().items() if len(bits) == 2 and _dense(bits)}


def _dense(bits: tuple[int, ...]) -> bool:
    return bits[1] == _bits_of(torch._C.DispatchKey.CPU)[1]


@cache
def _by_bits() -> Mapping[tuple[int, ...], str]:
    """The first name for each combination of bits; markers of ranges come last."""
    members = torch._C.DispatchKey.__members__.items()
    marks = ("StartOf", "EndOf")
    ordered = sorted(members, key=lambda one: one[0].startswith(marks))
    found: dict[tuple[int, ...], str] = {}
    for name, key in ordered:
        found.setdefault(_bits_of(key), name)
    return found


def _bits_of(key: torch._C.DispatchKey) -> tuple[int, ...]:
    raw = torch._C.DispatchKeySet(key).raw_repr()
    return tuple(bit for bit in range(64) if raw >> bit & 1)


def _lines(source: Source) -> dict[str, Location]:
    path = source.locate("DispatchKey.h")
    try:
        keys, _ = read_dispatch_keys(source.read(path), path) if path else (None, ())
    except SourceError:
        keys = None
    if keys is None:
        return {}
    functionalities = {key.functionality: key.location for key in reversed(keys.runtime)}
    return {**functionalities, **{key.name: key.location for key in keys.runtime}}


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Part:
    """A C++ object of the tensor: TensorImpl, AutogradMeta or StorageImpl."""

    class_name: str
    """Its dynamic class, if known: ``SparseTensorImpl``."""
    address: int
    """Its address; 0 if there is no such object or it is unknown."""
    members: tuple[MemberValue, ...]
    missing: str = ""
    """Why there is no such object; values that the program sees are still given."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """A tensor, member by member, at the time of inspection."""

    summary: str
    """Its Python class, shape, type, device and layout."""
    torch_version: str
    source: SourceInfo
    """The tree whose declarations are shown."""
    parts: tuple[Part, ...]
    keys: KeySet
    strip: Strip | None
    """The elements that it covers; None if ``notes`` explain why not."""
    formats: tuple[Format, ...]
    sharers: tuple[Sharer, ...]
    notes: tuple[str, ...]
    """What is unknown, and why."""

    def __str__(self) -> str:
        return "\n".join(inspection_lines(self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks."""
        return linked_text(str(self), self.source)

    def as_json(self) -> str:
        """One line of JSON, as described in docs/json.md."""
        return json.dumps(envelope(self.source, **to_object(self, _KEYS)))


_KEYS = "summary torch=torch_version keys strip formats sharers parts notes"
shape(Part, "class=class_name address missing members")
shape(MemberValue, "owner name type comment path line value read_by memory note reason")
shape(KeySet, "raw keys bits")
shape(KeyBit, "bit name is_backend path line")
shape(Strip, "elements item_bytes reached first last formula per_cell covered")
shape(Format, "name holds why")
shape(Sharer, "address shape offset is_base same_version")


def inspect(tensor: torch.Tensor, tree: str | None = None) -> Inspection:
    """Every data member of a tensor as declared in the source, with its live value.

    Overrides of the program do not run, and nothing is changed. Values come from torch's API or,
    without one, from memory, at offsets from the running torch's headers that passed a self-test.

    Parameters:
        tree: A checkout of PyTorch whose declarations are shown; default: those of the running
            torch.

    Raises:
        TypeError: It is not a tensor.
        SourceError: There is no such tree.
    """
    if not issubclass(type(tensor), torch.Tensor):
        raise TypeError(f"inspect takes a tensor, not {type(tensor).__name__}")
    with warnings.catch_warnings(), torch._C.DisableTorchFunction(), torch.no_grad():
        warnings.simplefilter("ignore")
        return _Inspector(tensor, _headers(tree)).all()


@cache
def _headers(tree: str | None) -> Headers:
    running = running_memory()
    if tree is None and isinstance(running, Memory):
        return running.headers
    return Headers(Source.find(tree))


class _Inspector:
    def __init__(self, tensor: torch.Tensor, headers: Headers) -> None:
        self._tensor = tensor
        self._headers = headers
        self._memory = running_memory()
        self._reader = Reader(tensor, headers, self._memory)
        self._notes: list[str] = []

    def all(self) -> Inspection:
        tensor = self._tensor
        impl = self._impl()
        autograd, storage = self._autograd(), self._storage()
        return Inspection(
            _summary(tensor),
            torch.__version__,
            self._headers.source.info,
            (impl, *self._extra(), autograd, storage),
            key_set(tensor, self._headers.source),
            self._attempt("the storage", lambda: strip(tensor), None),
            self._attempt("memory formats", lambda: formats(tensor), ()),
            self._attempt("who shares the storage", lambda: sharers(tensor, self._version), ()),
            tuple(self._notes),
        )

    def _impl(self) -> Part:
        address = self._tensor._cdata
        return self._part("TensorImpl", address, self._class_at(address, "TensorImpl"))

    def _extra(self) -> tuple[Part, ...]:
        """Members of optional objects that this tensor has."""
        if isinstance(self._memory, str):
            return ()
        address = self._memory.pointer(self._tensor._cdata, "TensorImpl", "extra_meta_")
        return (self._part("ExtraMeta", address, "ExtraMeta"),) if address else ()

    def _autograd(self) -> Part:
        if isinstance(self._memory, str):
            return self._part("AutogradMeta", 0, "AutogradMeta")
        address = self._memory.pointer(self._tensor._cdata, "TensorImpl", "autograd_meta_")
        if not address:
            return self._part("AutogradMeta", 0, "AutogradMeta", "autograd_meta_ is null")
        return self._part("AutogradMeta", address, self._class_at(address, "AutogradMeta"))

    def _storage(self) -> Part:
        try:
            address = self._tensor.untyped_storage()._cdata
        except REFUSALS as error:  # sparse, jagged and wrapper tensors raise various errors
            return self._part("StorageImpl", 0, "StorageImpl", f"no storage: {first_line(error)}")
        return self._part("StorageImpl", address, "StorageImpl")

    def _part(self, kind: str, address: int, class_name: str, missing: str = "") -> Part:
        members = self._reader.members(class_name, address, API.get(kind, {}), missing)
        return Part(class_name, address, tuple(members), missing)

    def _class_at(self, address: int, otherwise: str) -> str:
        """The class of an object without its scope; the base class if no header declares it."""
        if isinstance(self._memory, str):
            return otherwise
        full = dynamic_class(address)
        name = full.rpartition("::")[2]
        if name and self._headers.declared(name) is not None:
            return name
        what = f"no header here declares {full}" if name else "its class has no symbol"
        self._notes.append(f"members that a class derived from {otherwise} has: {what}")
        return otherwise

    def _version(self, tensor: torch.Tensor) -> int | None:
        """The identity of a tensor's version counter; None if it has none or it is unknown."""
        if isinstance(self._memory, str):
            return None
        return self._memory.pointer(tensor._cdata, "TensorImpl", "version_counter_") or None

    def _attempt(self, what: str, tell: Callable[[], T], otherwise: T) -> T:
        """The result of a query, or a note if torch raises."""
        try:
            return tell()
        except REFUSALS as error:
            self._notes.append(f"{what}: {first_line(error)}")
            return otherwise


def _summary(tensor: torch.Tensor) -> str:
    try:
        shape = str(tuple(tensor.shape))
    except REFUSALS as error:  # strided nested tensors have no shape
        shape = first_line(error)
    kind = type(tensor)
    name = (
        kind.__qualname__
        if kind.__module__ == "torch"
        else f"{kind.__module__}.{kind.__qualname__}"
    )
    return f"{name} {shape} {tensor.dtype} on {tensor.device}, {tensor.layout}"
