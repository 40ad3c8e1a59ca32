"""What is computed of dispatch beside what a running torch says, and why the two differ: dispatch
tables, and the keys in play while a switch is on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from indexes.model.dispatch import DispatchSlot, DispatchTable, SwitchPath
from indexes.model.regex import regex
from indexes.readers.cxx.dispatch_keys import DispatchKeys

_GENERATED = regex(r"torchgen: (\w+)\*?\.cpp")
PROBE = "empty.memory_format"
"""Of a backend that is built in, the kernel that makes tensors."""


@dataclass(frozen=True, slots=True)
class LiveSlot:
    """A slot of the table of the running dispatcher."""

    kind: str
    fallthrough: bool
    path: str
    """The file that registered it, as the build named it."""
    line: int


LiveTable = Mapping[str, LiveSlot]
"""The slots that hold something, by runtime key."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One key for which the two tables do not say the same."""

    op: str
    key: str
    ours: DispatchSlot
    theirs: LiveSlot | None
    reason: str
    """Why that can be; empty when nothing explains it."""


@dataclass(frozen=True, slots=True)
class Installed:
    """What a comparison needs to know of the build of torch that runs."""

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
    """The keys for which the tables differ, each with the reason if there is one."""
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
    """Whether a file that a build registered from is the one that an origin names."""
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
    """What a running torch says while a switch is on; keys with the highest priority first."""

    tensor: tuple[str, ...]
    included: tuple[str, ...]
    excluded: tuple[str, ...]
    first: tuple[str, ...]
    """The keys that a call of the operator chooses from: without those excluded."""


@dataclass(frozen=True, slots=True)
class LiveSwitch:
    """A switch of a running torch beside the path from source."""

    switch: str
    tensor: tuple[str, ...]
    included: tuple[str, ...]
    excluded: tuple[str, ...]
    kernels: tuple[str, ...]
    """The first key whose kernel runs there: what is in the set and no fallthrough."""
    agrees: bool | None
    """None where the path cannot be told, or torch cannot be asked."""
    why: str = ""
    """Why torch cannot be asked, or what differs."""


def compare_path(path: SwitchPath, sets: LiveSets | str, table: LiveTable) -> LiveSwitch:
    """One switch of a running torch; ``sets`` is why it could not be asked, or the sets."""
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
    paths: Sequence[SwitchPath], said: Mapping[str, LiveSets | str], table: LiveTable
) -> tuple[LiveSwitch, ...]:
    """Every switch of a running torch beside its path."""
    return tuple(compare_path(path, said.get(path.switch, "not asked"), table) for path in paths)
