"""The state of a tree when its index was last brought up to date.

One stat of each path tells whether that still holds, without listing folders, git or the database.
The file is beside the index; without it only time is lost.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from indexes.model.files import MARK, Root, placed
from indexes.source.files import read_file

if TYPE_CHECKING:
    from indexes.source.source import Source

Stat = list[int]
"""Modification time, size, inode, and change time of a path."""

RACY_NS = 2_000_000_000
"""A file written this shortly before it was read may have been written again with the same time."""
_ABSENT = [0, 0, 0, 0]
_RACY = [-1, -1, -1, -1]
"""Matches no path, so that it is examined again."""


def snapshot_file(index: str) -> str:
    """The snapshot's file for an index file."""
    return f"{index}.snapshot"


@dataclass(frozen=True)
class TreeSnapshot:
    """The state of a tree and its index."""

    code: str
    """The digest of the code that made the index."""
    edited: bool | None
    """Whether git called indexed files edited; None if unknown."""
    top: str
    """The folder of the tree."""
    index: Stat
    """The index file itself."""
    files: dict[str, Stat]
    """The indexed files, by their paths in the tree."""
    watched: dict[str, Stat]
    """Absolute paths of what else can change an answer: folders, git's files, absent files."""
    roots: list[list[str]] = field(default_factory=list)
    """Name and folder of each extension."""

    @classmethod
    def load(cls, index: str) -> TreeSnapshot | None:
        """The snapshot of an index; None without a usable one."""
        try:
            text = read_file(snapshot_file(index)).decode("utf-8", "surrogateescape")
            made = cls(**json.loads(text))
        except (OSError, ValueError, TypeError):
            return None
        return made if isinstance(made.files, dict) and isinstance(made.watched, dict) else None  # type: ignore[redundant-expr]

    def save(self, index: str) -> None:
        """Writes it whole or not at all; a read-only cache only costs time."""
        from indexes.source.aside import written_aside

        place = Path(snapshot_file(index))
        # dumps, and not dump, which writes each number by a call of its own
        text = json.dumps({f.name: getattr(self, f.name) for f in fields(self)})
        with contextlib.suppress(OSError), written_aside(place) as aside:
            aside.write_text(text, encoding="utf-8", errors="surrogateescape")
            aside.replace(place)

    def is_of(self, index: str, code: str) -> bool:
        """Whether the index file is still the same, made by this code."""
        return self.code == code and _stat(index) == self.index

    @cached_property
    def _now(self) -> dict[str, Stat]:
        roots = [Root(*one) for one in self.roots]
        beside = {path: placed(path, self.top, roots) for path in self.files if path[:1] == MARK}
        own = {path: (self.top, path) for path in self.files}
        return {path: _stat("/".join(place)) for path, place in {**own, **beside}.items()}

    def changed_paths(self) -> frozenset[str]:
        """The changed indexed files, by path in the tree."""
        return frozenset(path for path, stat in self._now.items() if stat != self.files[path])

    @cached_property
    def files_alone(self) -> bool:
        """Whether only indexed files can have changed: no folder, nothing of git's."""
        return all(_stat(path) == stat for path, stat in self.watched.items())

    @property
    def unchanged(self) -> bool:
        """Whether nothing changed."""
        return not self.changed_paths() and self.files_alone

    def again(self, index: str, code: str, edited: bool | None, started_ns: int) -> TreeSnapshot:
        """The same tree after its changed files are indexed, with stats from before reading."""
        files = {path: _unless_racy(stat, started_ns) for path, stat in self._now.items()}
        what = (code, edited, self.top, _stat(index), files, self.watched)
        return TreeSnapshot(*what, self.roots)


def take(
    source: Source,
    index: str,
    code: str,
    files: Iterable[str],
    beside: Iterable[str],
    started_ns: int,
    hash_of: Callable[[str], bytes],
) -> TreeSnapshot:
    """The present state of a tree. ``files``: the indexed ones, ``beside``: other paths of the
    tree, ``started_ns``: when reading began."""
    full = source.full_path
    seen = {path: _unless_racy(_stat(full(path)), started_ns) for path in files}
    others = [*map(full, beside), *source.watched()]
    watched = {path: _unless_racy(_stat(path), started_ns) for path in others}
    what = (code, source.edited_now(hash_of), source.top, _stat(index), seen, watched)
    return TreeSnapshot(*what, [list(one) for one in source.roots])


def _stat(path: str) -> Stat:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return _ABSENT
    return [found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns]


def _unless_racy(stat: Stat, started_ns: int) -> Stat:
    written, *_ = stat
    return _RACY if written > started_ns - RACY_NS else stat
