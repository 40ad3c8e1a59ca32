"""The vocabulary of the map: what lives in a folder of the tree, and the way of one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from indexes.model.vocabulary import Location, SourceInfo


@dataclass(frozen=True, slots=True)
class Words:
    """What the tree itself says of a folder or a file, as written there."""

    text: str
    location: Location


@dataclass(frozen=True, slots=True)
class MapEntry:
    """A folder, or a file."""

    kind: Literal["folder", "file"]
    path: str
    counts: Mapping[str, int]
    """How many of each thing the index has below it: ``files``, ``kernels`` ..., what there is
    none of left out."""
    references: int
    """How many calls lead into it from other files, and how many files include it."""
    words: Words | None
    door: str
    """Its file with most references from others; of a file itself."""


@dataclass(frozen=True, slots=True)
class FolderMap:
    """A folder, one level deep."""

    source: SourceInfo
    path: str
    """Empty for the root of the tree."""
    counts: Mapping[str, int]
    words: tuple[Words, ...]
    """What CONTRIBUTING.md, its README.md and its package say of it."""
    entries: tuple[MapEntry, ...]
    """Folders first, those with more files first, then files, the most referenced first."""
    doors: tuple[MapEntry, ...]
    """The files below it, at any depth, that others refer to most."""


@dataclass(frozen=True, slots=True)
class CallStep:
    """A place that a call passes."""

    stage: Literal["Python", "schema", "dispatcher", "kernel", "route", "computes"]
    name: str
    location: Location | None
    why: str

    @property
    def folder(self) -> str:
        """The folder of its file; empty where the tree shows no line."""
        return self.location.path.rpartition("/")[0] if self.location else ""


@dataclass(frozen=True, slots=True)
class CallMap:
    """The way of one call through the folders of the tree."""

    source: SourceInfo
    op: str
    device: str
    steps: tuple[CallStep, ...]
    unknown: str = ""
    """What of the way cannot be told from this tree; empty when all is."""
