"""The files of a tree as they are now, found in the cheapest way that is sure."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from indexes.model.progress import Report
from indexes.source.seen import Seen

if TYPE_CHECKING:
    from indexes.source.source import Source
    from indexes.source.walk import SourceFile

_WORDS = {True: "yes", False: "no", None: "unknown"}


class Looked:
    """One look at a tree: whether anything moved since its index was brought up to date."""

    def __init__(self, source: Source, index: str, seen: Seen | None) -> None:
        self._source = source
        self._index = index
        self._root = source.top
        self._seen = seen
        self._moved = seen.moved() if seen else []
        self.started_ns = seen.looked_ns if seen else time.time_ns()
        """When it began: what is written later is not in it."""
        self._beside: list[str] = []

    @property
    def unchanged(self) -> bool:
        """Whether all is as it was."""
        return self._seen is not None and not self._moved

    @cached_property
    def files(self) -> dict[str, SourceFile]:
        """The files by path: only those that moved where the rest is known to be as it was,
        else all of them."""
        return self._in_place or {f.path: f for f in self._source.files(self._beside)}

    @property
    def is_whole(self) -> bool:
        """Whether ``files`` holds all files."""
        return not self._in_place

    @property
    def count(self) -> int:
        """How many files the tree has."""
        known = self._seen and (self.unchanged or not self.is_whole)
        return self._seen.files if self._seen and known else len(self.files)

    @cached_property
    def moved(self) -> frozenset[str]:
        """Paths of indexed files that are not as they were."""
        if self._seen is None:
            return frozenset()
        paths = self._seen.paths if self._moved else []
        moved = (paths[at] for at in self._moved if at < self._seen.files)
        return frozenset(path[len(self._root) + 1 :] for path in moved)

    @cached_property
    def _in_place(self) -> dict[str, SourceFile]:
        """The files that moved, if nothing else did: no folder, nothing of git's."""
        if self._seen is None or any(at >= self._seen.files for at in self._moved):
            return {}
        from indexes.source.walk import kind_of, single_file

        layout = self._source.layout
        found = [single_file(self._root, path, kind_of(path, layout)) for path in self.moved]
        files = {file.path: file for file in found if file}
        return files if len(files) == len(found) else {}

    # --------------------------------------------------------------------- for next time

    def remembered(self) -> Report:
        """Takes over what was known of an unchanged tree."""
        assert self._seen is not None
        self._source.know_edited(_value(self._seen.edited))
        return Report(files=self.count, state=self._seen.name)

    def remember(self, hash_of: Callable[[str], bytes]) -> str:
        """Keeps this look, whose files are in the index now; its name, or nothing where the
        cache cannot be written. ``hash_of`` gives the content hash of a file."""
        now = self._now(hash_of)
        try:
            now.save(self._index)
        except OSError:
            return ""
        return now.name

    def _now(self, hash_of: Callable[[str], bytes]) -> Seen:
        if self._in_place:
            assert self._seen is not None
            before = _value(self._seen.edited)
            edited = self._source.edited_since(before, list(self.moved))
            return self._seen.again(_WORDS[edited])
        edited = self._source.edited_now(hash_of)
        return Seen.take(
            self._index,
            self._whole(list(self.files)),
            [*self._whole(self._beside), *self._source.watched()],
            _WORDS[edited],
            self.started_ns,
        )

    def _whole(self, paths: Sequence[str]) -> list[str]:
        return [f"{self._root}/{path}" for path in paths]


def as_left(source: Source, index: str) -> None:
    """Takes over what was known of a tree when its index was last up to date."""
    if seen := Seen.load(index):
        source.know_edited(_value(seen.edited))


def _value(word: str) -> bool | None:
    return {"yes": True, "no": False}.get(word)


def look(source: Source, index: str) -> Looked:
    """Looks at a tree."""
    return Looked(source, index, Seen.load(index))
