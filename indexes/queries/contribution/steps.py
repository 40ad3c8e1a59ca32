"""The places of a contribution, and which of them are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, Protocol, TypeVar

from indexes.model.regex import regex
from indexes.model.vocabulary import Location


class _HasPlace(Protocol):
    @property
    def location(self) -> Location: ...


_Placed = TypeVar("_Placed", bound=_HasPlace)


@dataclass(frozen=True, slots=True)
class Step:
    """A place that the change may touch, or where it is documented or tested."""

    role: str
    symbol: str
    location: Location
    rule: str
    """Why it belongs to it."""
    change: Literal["will", "may", "seldom"] = "may"
    """Whether a change most likely edits its file, or may, or hardly ever does."""


def each_place(steps: Iterable[_Placed]) -> list[_Placed]:
    """The first step at each place, in order."""
    first: dict[tuple[str, int], _Placed] = {}
    for step in steps:
        first.setdefault(step.location[:2], step)
    return list(first.values())


def first_of_files(steps: Sequence[Step], most: int) -> list[Step]:
    """At most ``most`` places; further ones of a file and role are left out first, then those in
    files named for another role, then what changes seldom edit."""
    seen: Counter[tuple[str, str]] = Counter()
    files: set[str] = set()
    rank = {}
    for at, step in enumerate(steps):
        path, key = step.location.path, (step.location.path, step.role)
        rank[at] = (seen[key], path in files, step.change == "seldom", at)
        seen[key] += 1
        files.add(path)
    kept = sorted(sorted(rank, key=rank.__getitem__)[:most])
    return [steps[at] for at in kept]


MAX_SHOWN = 30
"""Files that are not folded."""
APART = regex(r"/(?:quantized|sparse|mkldnn|nested|mps|vulkan|metal|xnnpack|cudnn|miopen)/")
"""Folders of kernels for other tensors."""


def folded(steps: Iterable[Step], most: int) -> list[Step]:
    """The places, of which no more than ``most`` files are to be shown: of many those are folded
    first that are for other tensors, then the last in the order of work."""
    steps = list(steps)
    shown = [step.location.path for step in steps if step.change != "seldom"]
    files = dict.fromkeys(sorted(shown, key=lambda path: APART.search(path) is not None))
    left = {*islice(files, most, None)}
    return [replace(one, change="seldom") if one.location.path in left else one for one in steps]


def by_interest(steps: Sequence[Step]) -> list[Step]:
    """One place of each role first, those that compute before those that list."""
    order = {role: at for at, role in enumerate(_TELLING)}
    seen: dict[str, int] = {}
    keys = {}
    for step in steps:
        seen[step.role] = seen.get(step.role, 0) + 1
        keys[step] = (seen[step.role], order.get(step.role, len(order)))
    return sorted(steps, key=lambda step: keys[step])


_TELLING = (
    "kernel",
    "device_kernel",
    "formula_function",
    "schema",
    "derivative",
    "meta",
    "decomposition",
)
