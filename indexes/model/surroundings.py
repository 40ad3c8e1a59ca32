"""The vocabulary of what stands around an operator, as a card says it in a line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from indexes.model.vocabulary import Location

InductorStatus = Literal["lowered", "decomposed", "fallback", "none"]
"""What Inductor does with an operator: its own lowering makes loops of it; a decomposition
replaces it before that; it calls ATen's kernel; nothing is registered, so that it calls ATen's
kernel too, and says so once."""


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A name, and where it is defined."""

    name: str
    location: Location


@dataclass(frozen=True, slots=True)
class Inductor:
    """What torch.compile's backend does with an operator."""

    status: InductorStatus
    location: Location | None = None
    """The lowering, the decomposition, or the line that asks for the fallback."""
    table: str = ""
    """In which table it is entered: ``torch._inductor.decomposition.decompositions``."""
    note: str = ""
    """Under which condition, or through which other overload."""


@dataclass(frozen=True, slots=True)
class CoreAten:
    """Whether an operator is of the core ATen set that export leaves in graphs."""

    member: bool
    text: str
    """In words: ``yes``, ``no, decomposes``."""
    location: Location | None = None
    """The tag, or the decomposition that export uses."""


@dataclass(frozen=True, slots=True)
class Decomposed:
    """A decomposition, and the tables by name that hold it."""

    name: str
    location: Location
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AutocastPolicy:
    """What autocast does to an operator's inputs on a device."""

    device: str
    policy: str
    location: Location


@dataclass(frozen=True, slots=True)
class Counted:
    """Several places of a kind: how many, and the first."""

    count: int = 0
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class TestCount:
    """The tests that are named for an operator and call it, those made from OpInfos apart."""

    files: int = 0
    tests: int = 0
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around an operator, best first in each."""

    python: tuple[NamedPlace, ...]
    """Public functions, those of torch.nn.functional, then modules of torch.nn."""
    inductor: Inductor
    core: CoreAten
    decompositions: tuple[Decomposed, ...] = ()
    meta: tuple[NamedPlace, ...] = ()
    """Meta and fake kernels in Python."""
    autocast: tuple[AutocastPolicy, ...] = ()
    batch_rule: NamedPlace | None = None
    docs: Counted = Counted()
    opinfo: tuple[NamedPlace, ...] = ()
    tests: TestCount = TestCount()
