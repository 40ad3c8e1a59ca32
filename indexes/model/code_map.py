"""The vocabulary of the map: contents of folders, and the path of one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from indexes.model.vocabulary import Location, SourceInfo


@dataclass(frozen=True, slots=True)
class Words:
    """The tree's own description of a folder or file."""

    text: str
    location: Location


@dataclass(frozen=True, slots=True)
class MapEntry:
    """A folder, or a file."""

    kind: Literal["folder", "file"]
    path: str
    counts: Mapping[str, int]
    """The numbers of things in it: ``files``, ``kernels`` ..., without zeros."""
    references: int
    """The number of calls into it from other files, and of files that include it."""
    words: Words | None
    door: str
    """Its file with most references from others; for a file itself."""


@dataclass(frozen=True, slots=True)
class FolderMap:
    """A folder, one level deep."""

    source: SourceInfo
    path: str
    """Empty for the root of the tree."""
    counts: Mapping[str, int]
    words: tuple[Words, ...]
    """Its descriptions in CONTRIBUTING.md, its README.md and its package."""
    entries: tuple[MapEntry, ...]
    """Folders first, largest first, then files, most referenced first."""
    doors: tuple[MapEntry, ...]
    """The files in it, at any depth, with most references from others."""


@dataclass(frozen=True, slots=True)
class CallStep:
    """A place that a call passes."""

    stage: Literal["Python", "schema", "dispatcher", "kernel", "route", "computes"]
    name: str
    location: Location | None
    why: str

    @property
    def folder(self) -> str:
        """The folder of its file; empty if the tree shows no line."""
        return self.location.path.rpartition("/")[0] if self.location else ""


@dataclass(frozen=True, slots=True)
class CallMap:
    """The path of one call through the folders of the tree."""

    source: SourceInfo
    op: str
    device: str
    steps: tuple[CallStep, ...]
    unknown: str = ""
    """What this tree cannot tell about the path; may be empty."""
