"""What a tree looked like when its index was brought up to date: one pass of stats tells
whether that still holds, with no listing of folders, no git and no database.

The file stands beside the index. It names every file and folder whose change may change an
answer, with time, size, inode and time of change of each. What was written within two seconds
before it was looked at may be written again with the same time; it never counts as seen.
"""

from __future__ import annotations

import os
import time
from struct import pack, unpack_from
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_HEAD = b"torchnav seen 1"
RACY_NS = 2_000_000_000
"""A file written so shortly before it was read may have changed with the same time."""
_VALUES = "4q"
_SIZE = 4 * 8
"""Bytes of what is kept for each path."""
_ABSENT = (0, 0, 0, 0)
_RACY = (-1, -1, -1, -1)
_INODES = (1 << 63) - 1
"""Some file systems number with all of 64 bits."""


def seen_file(index: str) -> str:
    """Where it is kept for an index file."""
    return f"{index}.seen"


class Seen:
    """Paths, the first ``files`` of them indexed files, with what stat said of each."""

    def __init__(self, name: str, edited: str, files: int, text: bytes, values: bytes) -> None:
        self.name = name
        """Another one for each state of the tree: what answers are kept under."""
        self.edited = edited
        """Whether git calls indexed files edited: ``yes``, ``no``, ``unknown``."""
        self.files = files
        self.text = text
        """The paths as they are kept, between zeros."""
        self.looked_ns = 0
        """When the paths were begun to be looked at; 0 before that."""
        self._looks = False
        self._values = values
        self._now = values
        self._moved: list[int] = []

    @property
    def paths(self) -> list[str]:
        """The paths, the index file last. Who finds that nothing moved never asks for them."""
        return os.fsdecode(self.text).split("\0")

    @classmethod
    def take(
        cls, index: str, files: Iterable[str], beside: Iterable[str], edited: str, started_ns: int
    ) -> Seen:
        """Looks at the paths now, and at the index file. ``started_ns`` is when they were
        begun to be read."""
        indexed = list(files)
        paths = [*indexed, *beside]
        values = _look(paths, started_ns - RACY_NS) + _look([index])
        text = os.fsencode("\0".join([*paths, index]))
        return cls(_state(started_ns), edited, len(indexed), text, values)

    def again(self, edited: str) -> Seen:
        """The same paths as ``moved`` found them, before anything was read, and the index file
        as it is now."""
        values = bytearray(self._values)
        for at in self.moved():
            start = at * _SIZE
            found = self._now[start : start + _SIZE]
            written: int = unpack_from("q", found)[0]
            racy = written > self.looked_ns - RACY_NS
            values[start : start + _SIZE] = pack(_VALUES, *_RACY) if racy else found
        values[-_SIZE:] = _look([self.index])
        return Seen(_state(self.looked_ns), edited, self.files, self.text, bytes(values))

    @property
    def index(self) -> str:
        """The index file."""
        return os.fsdecode(self.text[self.text.rfind(b"\0") + 1 :])

    @classmethod
    def load(cls, index: str) -> Seen | None:
        """What was kept for an index; None where there is nothing usable."""
        try:
            with open(seen_file(index), "rb") as file:
                head, name, edited, counts = (file.readline()[:-1] for _ in range(4))
                files, count, length = map(int, counts.split())
                text, values = file.read(length), file.read()
        except (OSError, ValueError):
            return None
        if head != _HEAD or text.count(b"\0") != count - 1 or len(values) != _SIZE * count:
            return None
        return cls(name.decode(), edited.decode(), files, text, values)

    def save(self, index: str) -> None:
        """Keeps it for an index, at once or not at all. Raises OSError."""
        counts = f"{self.files} {len(self._values) // _SIZE} {len(self.text)}"
        said = (self.name.encode(), self.edited.encode(), counts.encode())
        head = b"\n".join((_HEAD, *said, self.text))
        aside = f"{seen_file(index)}.{os.getpid()}"
        with open(aside, "wb") as file:
            file.write(head + self._values)
        os.replace(aside, seen_file(index))

    def moved(self) -> list[int]:
        """The numbers of the paths that are not as they were; none says that all holds. The
        paths are looked at once."""
        if not self._looks:
            self._looks = True
            self.looked_ns = self.looked_ns or time.time_ns()
            was = self._values
            self._now = _look(self.paths)
            self._moved = list(_differing(self._now, was)) if self._now != was else []
        return self._moved


def _differing(now: bytes, was: bytes) -> Iterator[int]:
    """The numbers of the paths of which not the same is said; compared many at once, since few
    differ."""
    many = 64 * _SIZE
    for start in range(0, len(was), many):
        if now[start : start + many] == was[start : start + many]:
            continue
        for at in range(start, min(start + many, len(was)), _SIZE):
            if now[at : at + _SIZE] != was[at : at + _SIZE]:
                yield at // _SIZE


def _state(started_ns: int) -> str:
    return f"{started_ns:x}-{os.getpid():x}"


def _look(paths: list[str], racy_from: int | None = None) -> bytes:
    values: list[int] = []
    stat = os.stat
    for path in paths:
        try:
            found = stat(path)
        except (OSError, ValueError):
            values += _ABSENT
            continue
        written = found.st_mtime_ns
        if racy_from is not None and written > racy_from:
            values += _RACY
        else:
            values += (written, found.st_size, found.st_ino & _INODES, found.st_ctime_ns)
    return pack(f"{len(values)}q", *values)
