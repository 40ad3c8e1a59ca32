"""Starts an index as a copy of another tree's, so that only files with another content are read.

The facts of a file depend only on its path and bytes, so the index of one version serves every
version with the same file. Links are made again where necessary.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

from indexes.model.errors import SourceError
from indexes.source.files import listed, modified
from indexes.store.index_file import Store

_CANDIDATES = 8
"""Indexes that are compared, last used first."""
ENOUGH = 0.5
"""Share of files that must be equal: below, reading everything is faster."""
Contents = set[tuple[str, bytes]]
"""The path and content hash of each file."""


def copy_nearest(own: Path, contents: Callable[[], Contents], into: Path) -> bool:
    """Copies the index beside ``own`` with most of the contents; False if none has enough."""
    candidates = _candidates(own)
    if not candidates:
        return False
    ours = contents()
    same, nearest = max((len(ours & _contents(path)), path) for path in candidates)
    if same < ENOUGH * len(ours):
        return False
    # As of one moment, though others may be writing to it.
    with (
        contextlib.closing(Store(nearest)) as store,
        contextlib.closing(sqlite3.connect(into)) as to,
    ):
        store.db.backup(to)
    return True


def _candidates(own: Path) -> list[Path]:
    """Indexes beside ``own`` of trees with the same layout."""
    is_wheel = own.name.startswith("wheel")
    found = [p for p in listed(own.parent, "*.db") if p.name.startswith("wheel") == is_wheel]
    found.sort(key=modified, reverse=True)
    return [path for path in found if path != own][:_CANDIDATES]


def _contents(path: Path) -> Contents:
    try:
        with contextlib.closing(Store(path)) as store:
            return set(store.query("SELECT path,hash FROM files"))
    except SourceError:  # of another version of torchnav, or damaged
        return set()
