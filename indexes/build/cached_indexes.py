"""The indexes in a cache folder: their trees and commits, and which can be removed."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from indexes.model.errors import SourceError
from indexes.source.aside import ENDING, left_over
from indexes.source.files import listed
from indexes.store.index_file import Store

State = Literal["in use", "commit", "tree is gone", "other version", "left over"]
"""``commit``: of a commit, made for a comparison. ``left over``: of an aborted build."""

COMMITS_KEPT = 8
"""Indexes of commits that are kept, last used first."""


@dataclass(frozen=True, slots=True)
class CachedIndex:
    """One index in the cache."""

    path: Path
    root: str
    """The tree, or the repository of the commit; empty if the index is unreadable."""
    revision: str
    """The commit; empty for a work tree."""
    state: State
    files: int
    size: int
    """Bytes, with the files beside it."""
    used: float
    """When it was last written or, for a commit, used: seconds since the epoch."""


def list_cached(cache: Path) -> tuple[CachedIndex, ...]:
    """Every index of a cache folder, last used first."""
    folder = cache / "indexes"
    found = [_read(path) for path in listed(folder, "*.db")]
    found += [_left_over(path) for path in listed(folder, f"*{ENDING}")]
    return tuple(sorted((one for one in found if one), key=lambda one: -one.used))


def _read(path: Path) -> CachedIndex | None:
    try:
        used = path.stat().st_mtime
        size = sum(each.stat().st_size for each in _parts(path) if each.is_file())
    except OSError:  # removed since it was listed
        return None
    try:
        with contextlib.closing(Store(path)) as store:
            root, revision = store.meta("root") or "", store.meta("revision") or ""
            files = int(store.query("SELECT count(*) FROM files")[0][0])
    except SourceError:
        return CachedIndex(path, "", "", "other version", 0, size, used)
    return CachedIndex(path, root, revision, _state(root, revision), files, size, used)


def _state(root: str, revision: str) -> State:
    if revision:
        return "commit"
    try:
        is_gone = bool(root) and not Path(root).is_dir()
    except OSError:  # another may look there
        is_gone = False
    return "tree is gone" if is_gone else "in use"


def _left_over(path: Path) -> CachedIndex | None:
    if not left_over(path):
        return None
    try:
        found = path.stat()
    except OSError:
        return None
    return CachedIndex(path, "", "", "left over", 0, found.st_size, found.st_mtime)


def _parts(path: Path) -> Iterator[Path]:
    """An index and the files beside it."""
    for beside in path.parent.glob(f"{path.name}*"):
        if ENDING not in beside.name:
            yield beside
            if beside.is_dir() and not beside.is_symlink():
                yield from beside.rglob("*")


def prune(cache: Path) -> tuple[CachedIndex, ...]:
    """Removes the indexes that nothing can use any more, and all but the last used of commits;
    returns them."""
    found = list_cached(cache)
    commits = [one for one in found if one.state == "commit"]
    useless = [one for one in found if one.state not in ("in use", "commit")]
    return tuple(_remove([*useless, *commits[COMMITS_KEPT:]]))


def make_room(cache: Path) -> None:
    commits = [one for one in list_cached(cache) if one.state == "commit"]
    for _ in _remove(commits[COMMITS_KEPT:]):
        pass


def _remove(chosen: Iterable[CachedIndex]) -> Iterator[CachedIndex]:
    for one in chosen:
        with contextlib.suppress(OSError):
            one.path.unlink()
            for part in list(_parts(one.path)):
                if part.is_dir() and not part.is_symlink():
                    shutil.rmtree(part, ignore_errors=True)
                else:
                    part.unlink(missing_ok=True)
            yield one
