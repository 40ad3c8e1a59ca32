"""How difficult a gap is, by evidence: how much there is to change, and what it needs."""

from __future__ import annotations

from collections.abc import Sequence

from indexes.queries.gaps.model import Difficulty, Gap, Kind
from indexes.queries.gaps.requirements import BUILD

_NEEDED = {BUILD: "a build", "cuda": "an NVIDIA GPU", "mac": "a Mac", "rocm": "an AMD GPU"}


def grade(gap: Gap, kind: Kind, needs: Sequence[str]) -> Difficulty:
    """That of the kind or of the gap itself; easy is only what is small, and what needs no device
    that few people have."""
    level = gap.difficulty if kind.graded else kind.difficulty
    is_large = bool(kind.few) and gap.size > kind.few
    is_apart = any(one != BUILD for one in needs)
    return "medium" if level == "easy" and (is_large or is_apart) else level


def effort(gap: Gap, kind: Kind, needs: Sequence[str]) -> str:
    """The same in words: ``3 places, needs a build and a Mac``."""
    what, _, where = kind.unit.partition(" ")
    one = what.removesuffix("s") if gap.size == 1 else what
    amount = [f"{gap.size:,} {one} {where}".rstrip()] if gap.size and kind.unit else []
    needed = " and ".join(_NEEDED.get(one, one) for one in needs)
    return ", ".join([*amount, *([f"needs {needed}"] if needed else [])])
