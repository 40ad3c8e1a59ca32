"""What bringing an index up to date tells: how far it is, and in the end what it did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a build is. ``total`` 0 means not known."""

    stage: str
    done: int
    total: int


@dataclass(slots=True)
class Report:
    """What a build did, in counts."""

    files: int = 0
    read: int = 0
    """Files whose content was read and parsed anew."""
    removed: int = 0
    cold: bool = False
    stale: str = ""
    """Why the index could not be brought up to date, when it was usable all the same."""


ProgressCallback = Callable[[Progress], None]
CancelCallback = Callable[[], bool]
