"""Brings an index up to date in one transaction: only what changed is read again.

This module finds out whether anything changed, and is cheap to import; what follows
from a change is in ``refresh_apply``.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from indexes.model.errors import SourceError
from indexes.source.looked import Looked
from indexes.source.seen import RACY_NS
from indexes.source.walk import SourceFile
from indexes.store.index_file import Store

if TYPE_CHECKING:
    from indexes.build.builder import Builder
    from indexes.model.progress import Report


class Changes:
    """Compares files of a tree with what an index has read: all of them, or those that a look
    at the tree found moved where the rest is as it was."""

    def __init__(
        self, store: Store, files: dict[str, SourceFile], looked: Looked | None = None
    ) -> None:
        self.store = store
        self.files = files
        self._moved = looked.moved if looked else frozenset()
        known = "SELECT id,path,kind,size,mtime_ns,inode,hash FROM files"
        if looked is None or looked.is_whole:
            rows = store.query(known)
        else:
            rows = [row for path in files for row in store.query(f"{known} WHERE path=?", (path,))]
        self.known = {row[1]: row for row in rows}

    def suspects(self, verify: bool) -> list[SourceFile]:
        """Files whose content may differ from what was read."""
        scanned = int(self.store.meta("scanned_ns") or 0)
        return [
            f
            for path, f in self.files.items()
            if verify
            or path in self._moved
            or (row := self.known.get(path)) is None
            or row[3:6] != (f.size, f.mtime_ns, f.inode)
            or f.mtime_ns > scanned - RACY_NS
        ]

    def removed(self) -> list[str]:
        return [path for path in self.known if path not in self.files]


def refresh(
    builder: Builder,
    store: Store,
    files: dict[str, SourceFile],
    verify: bool,
    looked: Looked | None = None,
) -> Report:
    """Re-reads what changed since the index was made. Raises SourceError when it cannot write."""
    from indexes.model.progress import Report

    started = looked.started_ns if looked else time.time_ns()
    changes = Changes(store, files, looked)
    suspects, removed = changes.suspects(verify), changes.removed()
    report = Report(files=looked.count if looked else len(files), removed=len(removed))
    if not suspects and not removed:
        return report
    from indexes.build.refresh_apply import apply_changes

    try:
        # A journal keeps the file whole; to sync it twice guards against file systems of old.
        store.db.execute("PRAGMA synchronous=NORMAL")
        store.db.execute("BEGIN IMMEDIATE")
        try:
            report.read = apply_changes(builder, changes, suspects, removed)
            store.set_meta("scanned_ns", str(started))
            store.db.execute("COMMIT")
        except BaseException:
            store.db.execute("ROLLBACK")
            raise
    except store.db.OperationalError as error:
        raise SourceError(f"cannot refresh the index {store.path}: {error}") from error
    return report
