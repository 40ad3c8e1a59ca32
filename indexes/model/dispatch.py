"""The vocabulary of dispatch tables: an operator's slots, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from indexes.model.vocabulary import Confidence, Location, SourceInfo


@dataclass(frozen=True, slots=True)
class DispatchSlot:
    """What an operator runs for a runtime dispatch key, or registers under an alias key."""

    key: str
    kernel: str
    """Empty if there is none."""
    kind: str
    """Why it won, in the dispatcher's own words: ``kernel``, ``math kernel`` ..."""
    origin: str
    """A file of the tree, or a generator of torchgen and its output."""
    rule: str
    confidence: Confidence
    fallthrough: bool = False
    """The call passes on to the next key."""
    registration: Location | None = None
    """The line that registers it or makes torchgen register it."""
    definition: Location | None = None
    """Where its kernel is defined, if known."""
    evidence: tuple[Location, ...] = ()
    guard: str = ""


@dataclass(frozen=True, slots=True)
class DispatchTable:
    """The computed dispatch table of one operator."""

    source: SourceInfo
    op: str
    slots: tuple[DispatchSlot, ...]
    """One for each runtime key, in order of priority, lowest first."""
    registrations: tuple[DispatchSlot, ...]
    """All registrations for the operator, including alias keys."""
    precedence: Location | None = None
    """The source of precedence in this tree's dispatcher."""

    unseen: str = ""
    """What unavailable source may register too, with the command that adds it."""

    def groups(self) -> list[tuple[DispatchSlot, ...]]:
        """The occupied slots, with equal neighbours grouped."""
        filled = [slot for slot in self.slots if slot.kind != "missing"]
        return [tuple(group) for _, group in groupby(filled, key=_same)]

    def by_interest(self) -> tuple[list[Slots], list[Slots]]:
        """The groups with keys of most interest and kernels for a single key, those keys last in
        each; then all others, highest priority first."""
        groups = self.groups()[::-1]
        main = sorted((one for one in groups if _rank(one) <= len(_FIRST)), key=_rank)
        rest = [one for one in groups if one not in main]
        return [tuple(sorted(one, key=_interest, reverse=True)) for one in main], rest


Slots = tuple[DispatchSlot, ...]

_FIRST = ("CPU", "CUDA", "MPS", "XPU", "Meta", "AutogradCPU", "AutogradCUDA")


def _same(slot: DispatchSlot) -> tuple[object, ...]:
    return slot.kernel, slot.kind, slot.fallthrough, slot.registration


def _rank(slots: Slots) -> int:
    own = slots[-1].kind == "kernel" and not slots[-1].fallthrough and len(slots) == 1
    return min(*map(_interest, slots), len(_FIRST) + (not own))


def _interest(slot: DispatchSlot) -> int:
    """Sort key: smaller for the keys of most interest."""
    if slot.key in _FIRST:
        return _FIRST.index(slot.key)
    return len(_FIRST) + (not slot.key.startswith("Autograd"))


@dataclass(frozen=True, slots=True)
class KeyCause:
    """What adds a key to a set of the dispatcher, or removes it."""

    key: str
    """A functionality, ``AutogradFunctionality``; for a tensor's backend the runtime key."""
    change: Literal["tensor", "included", "excluded", "not excluded", "not included"]
    """The set that it is added to or removed from: the tensor's, or the thread's included or
    excluded keys."""
    words: str
    location: Location | None = None
    """The line that does it; None if the tree lacks the file."""


@dataclass(frozen=True, slots=True)
class PathStep:
    """A key on a call's path."""

    key: str
    call: int
    """1 for the call itself, 2 if a kernel calls the operator again with all keys."""
    action: Literal["runs", "falls through", "excluded", "raises"]
    cause: KeyCause | None
    """Why the key is in the set, or excluded."""
    slot: DispatchSlot | None = None
    """The operator's slot for the key; None if excluded."""
    then: str = ""
    """How its kernel continues."""
    then_location: Location | None = None
    """The line that says so."""
    certain: bool = True
    """False if the continuation depends on source that is not in the tree."""


@dataclass(frozen=True, slots=True)
class SwitchPath:
    """The keys that a call passes while a switch is on."""

    switch: str
    meaning: str
    """The switch, in Python."""
    changes: tuple[KeyCause, ...]
    """What the switch does to the key sets; may be empty."""
    steps: tuple[PathStep, ...]
    end: str
    """Why the path ends."""
    note: str = ""
    """What else the switch does, and why keys do not change."""
    note_location: Location | None = None
    unknown: str = ""
    """Why this tree cannot tell the path; empty if it can."""

    @property
    def kernels(self) -> tuple[str, ...]:
        """The keys whose kernels run, in order."""
        return tuple(step.key for step in self.steps if step.action == "runs")


@dataclass(frozen=True, slots=True)
class SwitchPaths:
    """Several paths of one operator."""

    source: SourceInfo
    op: str
    backend: str
    """``CPU``: the tensors' device."""
    paths: tuple[SwitchPath, ...]
    priority: tuple[str, ...] = ()
    """Every runtime key of the tree, highest priority first."""

    @property
    def order(self) -> tuple[str, ...]:
        """The keys of all paths, highest priority first."""
        return tuple(dict.fromkeys(key for key in self.priority if key in self._met))

    @property
    def _met(self) -> frozenset[str]:
        return frozenset(step.key for path in self.paths for step in path.steps)


KeyUseKind = Literal["includes", "excludes", "tensor", "removes", "set", "returns", "asks", "names"]
KeyKind = Literal["runtime", "per backend", "alias", "functionality"]


@dataclass(frozen=True, slots=True)
class KeyUse:
    """A line of C++ that names a dispatch key, or a set with it."""

    what: KeyUseKind
    """A guard or setter of the thread's included or excluded set, a tensor's own set, what takes it
    out of a set, a named set of keys, what returns it, a membership test, anything else."""
    text: str
    location: Location
    function: str
    """The function around it; empty at file scope."""


@dataclass(frozen=True, slots=True)
class KeyRegistration:
    """A kernel that is registered for a key."""

    op: str
    slot: DispatchSlot


@dataclass(frozen=True, slots=True)
class KeyCard:
    """A dispatch key: its purpose, its users, its registrations."""

    source: SourceInfo
    name: str
    kind: KeyKind
    location: Location
    meaning: str
    """The key that a synonym stands for, or the functionality and backend of a key per backend."""
    comment: str
    """Its comment in DispatchKey.h; may be empty."""
    comment_location: Location | None
    notes: tuple[Location, ...]
    """The places of notes in the comment: ``Note [Functionalization Pass In Core]``."""
    rank: int
    """1 for the highest priority; 0 for an alias."""
    keys: tuple[str, ...]
    """The runtime keys of an alias or functionality, highest priority first."""
    fallback: DispatchSlot | None
    uses: tuple[KeyUse, ...]
    registrations: tuple[KeyRegistration, ...]
    unseen: str = ""
    """What unavailable source may register too, with the command that adds it."""

    def origins(self) -> dict[str, int]:
        """The number of kernels by each file or generator, most first."""
        found: dict[str, int] = {}
        for one in self.registrations:
            found[one.slot.origin] = found.get(one.slot.origin, 0) + 1
        return dict(sorted(found.items(), key=lambda one: -one[1]))
