"""The vocabulary of dispatch tables: an operator's slots, each with the reason why it holds
what it holds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from indexes.model.vocabulary import Confidence, Location, SourceInfo


@dataclass(frozen=True, slots=True)
class DispatchSlot:
    """What an operator runs for one runtime dispatch key, or registers under an alias key."""

    key: str
    kernel: str
    """Empty when there is none."""
    kind: str
    """Why it won, in the dispatcher's own words: ``kernel``, ``math kernel`` ..."""
    origin: str
    """What registers it: a file of the tree, or a generator of torchgen and what it makes."""
    rule: str
    confidence: Confidence
    fallthrough: bool = False
    """The call passes on to the next key."""
    registration: Location | None = None
    """The line that registers it or makes torchgen do so."""
    definition: Location | None = None
    """Where its kernel is defined, as far as that is written out."""
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
    """All that is registered for the operator, alias keys too."""
    precedence: Location | None = None
    """Where this tree's dispatcher decides between them."""

    unseen: str = ""
    """What may be registered too, in source that is not at hand, with the command that adds it."""

    def groups(self) -> list[tuple[DispatchSlot, ...]]:
        """The slots that hold something; neighbours that run the same for the same reason
        stand together."""
        filled = [slot for slot in self.slots if slot.kind != "missing"]
        return [tuple(group) for _, group in groupby(filled, key=_same)]

    def by_interest(self) -> tuple[list[Slots], list[Slots]]:
        """The groups of the keys that people ask for first and of kernels made for one key, those
        keys last in each; then all other groups, the first to be asked on top."""
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
    """Small for the keys that people ask for most."""
    if slot.key in _FIRST:
        return _FIRST.index(slot.key)
    return len(_FIRST) + (not slot.key.startswith("Autograd"))


@dataclass(frozen=True, slots=True)
class KeyCause:
    """What puts a key into a set that the dispatcher chooses from, or takes it out."""

    key: str
    """A functionality, ``AutogradFunctionality``; of a tensor's backend the runtime key."""
    change: Literal["tensor", "included", "excluded", "not excluded", "not included"]
    """In the tensor's own set, in the thread's set of included or excluded keys, or out of it."""
    words: str
    location: Location | None = None
    """The line that does so; None where the tree does not hold the file."""


@dataclass(frozen=True, slots=True)
class PathStep:
    """A key that a call meets."""

    key: str
    call: int
    """1 for the call itself, 2 where a kernel calls the operator again, with all keys anew."""
    action: Literal["runs", "falls through", "excluded", "raises"]
    cause: KeyCause | None
    """Why the key is in the set, or excluded from it."""
    slot: DispatchSlot | None = None
    """What the operator's table holds for the key; None where it is excluded."""
    then: str = ""
    """How its kernel goes on."""
    then_location: Location | None = None
    """The line that says so."""
    certain: bool = True
    """False where what follows rests on source that is not in the tree."""


@dataclass(frozen=True, slots=True)
class SwitchPath:
    """The keys that a call of an operator passes while a switch is on."""

    switch: str
    meaning: str
    """What is on, as Python writes it."""
    changes: tuple[KeyCause, ...]
    """What the switch does to the key sets; none for one that leaves them alone."""
    steps: tuple[PathStep, ...]
    end: str
    """Why the last step is the last."""
    note: str = ""
    """What the switch does besides, and why keys are as without it."""
    note_location: Location | None = None
    unknown: str = ""
    """Why the path cannot be told from this tree; empty when it is told."""

    @property
    def kernels(self) -> tuple[str, ...]:
        """The keys whose kernels run, in order."""
        return tuple(step.key for step in self.steps if step.action == "runs")


@dataclass(frozen=True, slots=True)
class SwitchPaths:
    """The paths of one operator side by side."""

    source: SourceInfo
    op: str
    backend: str
    """``CPU``: where its tensors are."""
    paths: tuple[SwitchPath, ...]
    priority: tuple[str, ...] = ()
    """Every runtime key of the tree, that of the highest priority first."""

    @property
    def order(self) -> tuple[str, ...]:
        """The keys of all paths, that of the highest priority first."""
        return tuple(dict.fromkeys(key for key in self.priority if key in self._met))

    @property
    def _met(self) -> frozenset[str]:
        return frozenset(step.key for path in self.paths for step in path.steps)


KeyUseKind = Literal["includes", "excludes", "tensor", "set", "returns", "asks", "names"]
KeyKind = Literal["runtime", "per backend", "alias", "functionality"]


@dataclass(frozen=True, slots=True)
class KeyUse:
    """A line of C++ that names a dispatch key, or a set with it."""

    what: KeyUseKind
    """A guard or setter of the thread's included or excluded set, a tensor's own set, a named set
    of keys, a function that returns it, a question whether it is in a set, anything else."""
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
    """A dispatch key: what it is for, who sets it, what is registered for it."""

    source: SourceInfo
    name: str
    kind: KeyKind
    location: Location
    meaning: str
    """What a synonym is resolved from, or the functionality and backend of a key per backend."""
    comment: str
    """Its comment in DispatchKey.h, as written; empty where it has none."""
    comment_location: Location | None
    notes: tuple[Location, ...]
    """Where the notes stand that the comment names: ``Note [Functionalization Pass In Core]``."""
    rank: int
    """1 for the key that runs first; 0 for an alias."""
    keys: tuple[str, ...]
    """The runtime keys that an alias or a functionality stands for, first to run first."""
    fallback: DispatchSlot | None
    uses: tuple[KeyUse, ...]
    registrations: tuple[KeyRegistration, ...]
    unseen: str = ""
    """What may be registered too, in source that is not at hand, with the command that adds it."""

    def origins(self) -> dict[str, int]:
        """How many kernels each file or generator registers, the most first."""
        found: dict[str, int] = {}
        for one in self.registrations:
            found[one.slot.origin] = found.get(one.slot.origin, 0) + 1
        return dict(sorted(found.items(), key=lambda one: -one[1]))
