"""The dispatch key set of a tensor, bit by bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import torch

from indexes.model.errors import SourceError
from indexes.model.vocabulary import Location
from indexes.readers.cxx.dispatch_keys import read_dispatch_keys
from indexes.source.source import Source


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
