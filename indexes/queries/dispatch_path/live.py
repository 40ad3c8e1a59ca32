"""Compares computed dispatch with a running torch, with reasons for differences: dispatch tables,
and the keys while a switch is on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from indexes.model.dispatch import DispatchSlot, DispatchTable, SwitchPath
from indexes.model.regex import regex
from indexes.readers.cxx.dispatch_keys import DispatchKeys

_GENERATED = regex(r"torchgen: (\w+)\*?\.cpp")
PROBE = "empty.memory_format"
"""The operator whose kernel creates tensors of every built backend."""


@dataclass(frozen=True, slots=True)
class LiveSlot:
    """A slot of the running dispatcher's table."""

    kind: str
    fallthrough: bool
    path: str
    """The registering file, as the build named it."""
    line: int


LiveTable = Mapping[str, LiveSlot]
"""The occupied slots, by runtime key."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A key for which the two tables differ."""

    op: str
    key: str
    ours: DispatchSlot
    theirs: LiveSlot | None
    reason: str
    """A possible reason; empty if nothing explains it."""


@dataclass(frozen=True, slots=True)
class Installed:
    """What a comparison needs to know about the running torch's build."""

    backends: frozenset[str]
    same_version: bool

    @classmethod
    def of(cls, probe: LiveTable, keys: DispatchKeys, same_version: bool) -> Installed:
        """From its table of ``PROBE``."""
        built = {b for b in keys.backends if b in probe and probe[b].kind == "kernel"}
        return cls(frozenset(built), same_version)


def compare(
    table: DispatchTable, live: LiveTable, keys: DispatchKeys, installed: Installed
) -> tuple[Difference, ...]:
    """The keys for which the tables differ, each with the reason if known."""
    backends = {k.name: k.backend for k in keys.runtime}
    found = []
    for slot in table.slots:
        theirs = live.get(slot.key)
        if not _agrees(slot, theirs):
            reason = _reason(slot, theirs, backends.get(slot.key), installed)
            found.append(Difference(table.op, slot.key, slot, theirs, reason))
    return tuple(found)


def _agrees(slot: DispatchSlot, live: LiveSlot | None) -> bool:
    if live is None:
        return slot.kind == "missing"
    same = (slot.kind, slot.fallthrough) == (live.kind, live.fallthrough)
    return same and same_origin(slot.origin, live.path)


def same_origin(origin: str, path: str) -> bool:
    """Whether a file named by a build is the one of an origin."""
    if not origin:
        return True  # an ambiguous composite kernel: the dispatcher's own, which raises
    generated = _GENERATED.match(origin)
    if generated is None:
        return path.endswith(origin)
    file = path.rpartition("/")[2]
    return re.fullmatch(rf"{generated[1]}(?:Everything)?(?:_\d+)?\.(?:cpp|cu)", file) is not None


def _reason(
    slot: DispatchSlot, live: LiveSlot | None, backend: str | None, installed: Installed
) -> str:
    if backend and backend not in installed.backends:
        return f"the installed torch is built without {backend}"
    if slot.confidence == "ambiguous":
        return slot.rule.rpartition("; ")[2]
    if slot.guard:
        return f"only built under {slot.guard}"
    if live and live.path.endswith(".py"):
        return f"registered from Python, by {live.path.rpartition('site-packages/')[2]}:{live.line}"
    if not installed.same_version:
        return "the installed torch is of another version than this tree"
    return ""


@dataclass(frozen=True, slots=True)
class LiveSets:
    """The key sets of a running torch while a switch is on, highest priority first."""

    tensor: tuple[str, ...]
    included: tuple[str, ...]
    excluded: tuple[str, ...]
    first: tuple[str, ...]
    """The keys that a call chooses from, without excluded ones."""


@dataclass(frozen=True, slots=True)
class LiveSwitch:
    """A switch of a running torch beside the path from source."""

    switch: str
    tensor: tuple[str, ...]
    included: tuple[str, ...]
    excluded: tuple[str, ...]
    kernels: tuple[str, ...]
    """The first key in the set that is no fallthrough."""
    agrees: bool | None
    """None if the path is unknown, or torch cannot be asked."""
    why: str = ""
    """Why torch cannot be asked, or what differs."""


def compare_path(path: SwitchPath, sets: LiveSets | str, table: LiveTable) -> LiveSwitch:
    """One switch of a running torch; ``sets``: the sets, or why there are none."""
    if isinstance(sets, str):
        return LiveSwitch(path.switch, (), (), (), (), None, sets)
    kernels = tuple(key for key in sets.first if key in table and not table[key].fallthrough)
    what = (path.switch, sets.tensor, sets.included, sets.excluded, kernels)
    if path.unknown:
        return LiveSwitch(*what, None, path.unknown)
    first = [s.key for s in path.steps if s.call == 1 and s.action in ("runs", "raises")]
    ours = tuple(step for step in first if step in sets.first)
    foreign = [key for key in first if key not in sets.first]
    if foreign:
        return LiveSwitch(*what, False, f"not in its sets: {' '.join(foreign)}")
    missed = [key for key in kernels[: len(ours)] if key not in ours]
    return LiveSwitch(*what, not missed, f"runs there too: {' '.join(missed)}" if missed else "")


def compare_paths(
    paths: Sequence[SwitchPath], answers: Mapping[str, LiveSets | str], table: LiveTable
) -> tuple[LiveSwitch, ...]:
    """Every switch of a running torch beside its path."""
    return tuple(compare_path(path, answers.get(path.switch, "not asked"), table) for path in paths)
