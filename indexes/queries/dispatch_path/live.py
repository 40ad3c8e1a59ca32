"""A dispatch path beside that of a running torch: its key sets, its table, its order of keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from indexes.model.dispatch import SwitchPath
from indexes.queries.dispatch_compare import LiveTable


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
    first = _first_call(path)
    ours = tuple(step for step in first if step in sets.first)
    foreign = [key for key in first if key not in sets.first]
    if foreign:
        return LiveSwitch(*what, False, f"not in its sets: {' '.join(foreign)}")
    missed = [key for key in kernels[: len(ours)] if key not in ours]
    return LiveSwitch(*what, not missed, f"runs there too: {' '.join(missed)}" if missed else "")


def _first_call(path: SwitchPath) -> Sequence[str]:
    return [s.key for s in path.steps if s.call == 1 and s.action in ("runs", "raises")]


def compare_paths(
    paths: Sequence[SwitchPath], said: Mapping[str, LiveSets | str], table: LiveTable
) -> tuple[LiveSwitch, ...]:
    """Every switch of a running torch beside its path."""
    return tuple(compare_path(path, said.get(path.switch, "not asked"), table) for path in paths)
