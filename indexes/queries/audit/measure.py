"""A property of torchnav with counts and a bar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Measure:
    """One property, and how far it holds."""

    name: str
    bar: str
    """What must hold, in words."""
    total: int
    counts: Mapping[str, int]
    met: bool | None
    """None if this source has nothing to measure."""
    short: tuple[str, ...] = ()
    """The shortfalls, a line each."""


@dataclass(slots=True)
class Measured:
    """Running counts of what holds and what does not."""

    name: str
    least: float
    right: int = 0
    by_rule: int = 0
    """Those that are right by libraries' documentation, not by an edge."""
    short: list[str] = field(default_factory=list)

    def add(self, right: bool, what: str) -> None:
        self.right += right
        if not right:
            self.short.append(what)

    def measure(self) -> Measure:
        total = self.right + len(self.short)
        by_rule = {"of them by rule": self.by_rule} if self.by_rule else {}
        counts = {"right": self.right, **by_rule, "not": len(self.short)}
        met = self.right >= self.least * total if total else None
        short = tuple(f"{n}x {what}" for what, n in Counter(self.short).most_common())
        return Measure(self.name, f"at least {self.least:.0%}", total, counts, met, short)


def counted(
    name: str, bar: str, counts: Mapping[str, int], short: Collection[str], share: float = 0
) -> Measure:
    """The measure, of which at most this share may fall short."""
    total = sum(counts.values())
    met = len(short) <= share * total if total else None
    return Measure(name, bar, total, counts, met, tuple(short))
