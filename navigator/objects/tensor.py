"""``navigator.inspect(t)``: what a tensor of this program holds, beside the lines that declare
it."""

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


@dataclass(frozen=True, slots=True)
class KeyBit:
    """One bit that is set."""

    bit: int
    name: str
    """The functionality, ``Dense``, or the backend, ``CPUBit``."""
    is_backend: bool
    location: Location | None
    """The key in DispatchKey.h."""


@dataclass(frozen=True, slots=True)
class KeySet:
    """What ``key_set_`` of a tensor says to the dispatcher."""

    raw: int
    bits: tuple[KeyBit, ...]
    keys: tuple[str, ...]
    """The runtime keys that backend and functionality bits make together, the first to run
    first; what the thread includes and excludes comes on top."""


def key_set(tensor: torch.Tensor, source: Source) -> KeySet:
    """The key set of a tensor, with the lines of the tree that declare its keys."""
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
    """``DispatchKeySet(CPU, AutogradCPU)`` as names, in order of priority, lowest first."""
    inside = str(keys).partition("(")[2].rpartition(")")[0]
    return [name for name in inside.split(", ") if name]


def _functionality(bit: int) -> str:
    make = getattr(torch._C.DispatchKeySet, "from_raw_repr", None)  # not in torch 2.7
    named = _names(make(1 << bit)) if make else []
    return named[0] if named else _by_bits().get((bit,), f"bit {bit}")


@cache
def _backends() -> Mapping[int, str]:
    """The backend of each bit that means one: the lower of the two bits of ``CPU``."""
    return {bits[0]: name for bits, name in _by_bits().items() if len(bits) == 2 and _dense(bits)}


def _dense(bits: tuple[int, ...]) -> bool:
    return bits[1] == _bits_of(torch._C.DispatchKey.CPU)[1]


@cache
def _by_bits() -> Mapping[tuple[int, ...], str]:
    """The first name of each key by its bits; marks of where keys begin and end come last."""
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
    """One C++ object behind the tensor: its TensorImpl, AutogradMeta or StorageImpl."""

    class_name: str
    """Its dynamic class where that is known: ``SparseTensorImpl``."""
    address: int
    """0 where there is no such object, or it is not known."""
    members: tuple[MemberValue, ...]
    missing: str = ""
    """Why there is no such object; what the program sees without it is told all the same."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """A tensor, member by member, as it was when it was inspected."""

    summary: str
    """Its Python class, shape, type, device and layout."""
    torch_version: str
    source: SourceInfo
    """The tree whose declarations are shown."""
    parts: tuple[Part, ...]
    keys: KeySet
    strip: Strip | None
    """What it covers of its storage; None where ``notes`` say why not."""
    formats: tuple[Format, ...]
    sharers: tuple[Sharer, ...]
    notes: tuple[str, ...]
    """What could not be told, and why."""

    def __str__(self) -> str:
        from navigator.text.objects import inspection_lines

        return "\n".join(inspection_lines(self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks."""
        from navigator.text.html import linked_text

        return linked_text(str(self), self.source)

    def as_json(self) -> str:
        """All of it as one line of JSON, by the contract in docs/json.md."""
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
    """Every data member of a tensor as the source declares it, with its live value.

    The program's own overrides do not run, and nothing is changed. Values come from torch's API
    where it has one, else from memory, where the headers of the running torch say where a member
    stands and that was found right in this process.

    Parameters:
        tree: A checkout of PyTorch whose declarations are shown; those of the running torch
            without it.

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
        """What few tensors have, where this one has it."""
        if isinstance(self._memory, str):
            return ()
        address = self._memory.pointer(self._tensor._cdata, "TensorImpl", "extra_meta_")
        return (self._part("ExtraMeta", address, "ExtraMeta"),) if address else ()

    def _autograd(self) -> Part:
        if isinstance(self._memory, str):
            return self._part("AutogradMeta", 0, "AutogradMeta")
        address = self._memory.pointer(self._tensor._cdata, "TensorImpl", "autograd_meta_")
        if not address:
            return self._part(
                "AutogradMeta", 0, "AutogradMeta", "autograd_meta_ is null: there is none"
            )
        return self._part("AutogradMeta", address, self._class_at(address, "AutogradMeta"))

    def _storage(self) -> Part:
        try:
            address = self._tensor.untyped_storage()._cdata
        except REFUSALS as error:  # sparse, jagged, wrappers: each raises its own
            return self._part("StorageImpl", 0, "StorageImpl", f"no storage: {first_line(error)}")
        return self._part("StorageImpl", address, "StorageImpl")

    def _part(self, kind: str, address: int, class_name: str, missing: str = "") -> Part:
        members = self._reader.members(class_name, address, API.get(kind, {}), missing)
        return Part(class_name, address, tuple(members), missing)

    def _class_at(self, address: int, otherwise: str) -> str:
        """The class of an object without its scope; the plain one where nothing declares it."""
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
        """The identity of a tensor's version counter; None where it has none or cannot be told."""
        if isinstance(self._memory, str):
            return None
        return self._memory.pointer(tensor._cdata, "TensorImpl", "version_counter_") or None

    def _attempt(self, what: str, tell: Callable[[], T], otherwise: T) -> T:
        """What is asked; a note where torch refuses."""
        try:
            return tell()
        except REFUSALS as error:
            self._notes.append(f"{what}: {first_line(error)}")
            return otherwise


def _summary(tensor: torch.Tensor) -> str:
    try:
        shape = str(tuple(tensor.shape))
    except REFUSALS as error:  # strided nested tensors have none
        shape = first_line(error)
    kind = type(tensor)
    name = (
        kind.__qualname__
        if kind.__module__ == "torch"
        else f"{kind.__module__}.{kind.__qualname__}"
    )
    return f"{name} {shape} {tensor.dtype} on {tensor.device}, {tensor.layout}"
