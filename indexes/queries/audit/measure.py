"""A promise of torchnav with its count: what is in place, what is not, and the bar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Measure:
    """One promise, and how far it is kept."""

    name: str
    bar: str
    """What must hold, in words."""
    total: int
    counts: Mapping[str, int]
    met: bool | None
    """None when this source has nothing to measure it on."""
    short: tuple[str, ...] = ()
    """What falls short, a line each."""


@dataclass(slots=True)
class Measured:
    """Counts of what is in place and what is not, as they come."""

    name: str
    least: float
    right: int = 0
    by_rule: int = 0
    """Those that are right by what is documented of libraries, not by an edge to that library."""
    short: list[str] = field(default_factory=list)

    def add(self, right: bool, what: str) -> None:
        """Counts one."""
        self.right += right
        if not right:
            self.short.append(what)

    def measure(self) -> Measure:
        """The promise, and how far it is kept."""
        total = self.right + len(self.short)
        by_rule = {"of them by rule": self.by_rule} if self.by_rule else {}
        counts = {"right": self.right, **by_rule, "not": len(self.short)}
        met = self.right >= self.least * total if total else None
        short = tuple(f"{n}x {what}" for what, n in Counter(self.short).most_common())
        return Measure(self.name, f"at least {self.least:.0%}", total, counts, met, short)


def counted(
    name: str, bar: str, counts: Mapping[str, int], short: Collection[str], share: float = 0
) -> Measure:
    """A promise of which this share, at most, may fall short."""
    total = sum(counts.values())
    met = len(short) <= share * total if total else None
    return Measure(name, bar, total, counts, met, tuple(short))
