"""An index that begins as a copy of another tree's: only what differs in content is read.

The facts of a file depend on its path and its bytes alone, so the index of one version
serves every version that holds the same file. What links them is made anew where it must.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from indexes.model.errors import SourceError
from indexes.store.index_file import Store

if TYPE_CHECKING:
    from indexes.build.builder import Builder
    from indexes.model.progress import Report
    from indexes.source.walk import SourceFile

_CANDIDATES = 8
"""Indexes that are compared, the latest used first."""
ENOUGH = 0.5
"""Share of files that must be the same: with fewer, reading everything costs less."""


def copy_nearest(builder: Builder, files: dict[str, SourceFile], into: Path) -> bool:
    """Copies the index that has most of ``files`` to ``into``; False when none has enough."""
    candidates = list(_candidates(builder.path))
    if not candidates:
        return False
    ours = {(path, builder.hash(path)) for path in files}
    same, nearest = max((len(ours & _contents(path)), path) for path in candidates)
    if same < ENOUGH * len(ours):
        return False
    _copy(nearest, into)
    return True


def _copy(path: Path, into: Path) -> None:
    """A copy as of one moment, though others may be writing to the index."""
    with contextlib.closing(Store(path)) as store, contextlib.closing(sqlite3.connect(into)) as to:
        store.db.backup(to)


def _candidates(own: Path) -> Iterator[Path]:
    """Indexes beside ``own`` of trees of the same layout."""
    is_wheel = own.name.startswith("wheel")
    found = [p for p in own.parent.glob("*.db") if p.name.startswith("wheel") == is_wheel]
    found.sort(key=_last_used, reverse=True)
    return iter([path for path in found if path != own][:_CANDIDATES])


def _last_used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # removed since it was listed
        return 0.0


def _contents(path: Path) -> set[tuple[str, bytes]]:
    try:
        store = Store(path)
    except SourceError:  # of another version of torchnav, or damaged
        return set()
    try:
        return set(store.query("SELECT path,hash FROM files"))
    except SourceError:
        return set()
    finally:
        store.close()


def bring_up_to_date(builder: Builder, copy: Path, files: dict[str, SourceFile]) -> Report:
    """Makes ``copy``, the index of some other tree, that of the builder's tree.

    Every content is compared, since times and inodes are those of the other tree. Raises
    SourceError when the copy is damaged.
    """
    from indexes.build.refresh import refresh

    try:
        with contextlib.closing(Store(copy)) as store:
            store.write_aside()
            return refresh(builder, store, files, verify=True)
    except sqlite3.Error as error:
        raise SourceError(f"damaged index {copy}: {error}") from error
