"""Builds the index of a tree and brings it up to date: finds what changed, reads it, runs the
stages that follow, swaps in the result.

A cold build writes aside and renames; a refresh is one transaction on the index in place. File
times only decide which files to hash again; ``verify`` hashes them all.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import NamedTuple

from indexes.build.cached_indexes import make_room
from indexes.build.nearest import copy_nearest
from indexes.build.scan import has_reader, read_files, reading_order
from indexes.build.stages import Work, is_current, run_stages
from indexes.model.errors import (
    CancelCallback,
    Cancelled,
    DamagedIndex,
    OtherIndex,
    Progress,
    ProgressCallback,
    Report,
    SourceError,
)
from indexes.source.aside import clear, written_aside
from indexes.source.snapshot import TreeSnapshot, take
from indexes.source.source import Source, index_file
from indexes.source.walk import SourceFile
from indexes.store.checking import check_index
from indexes.store.index_file import SCAN_ROOMS, Store, code_digest, index_version, put_in_place

_SCAN = "scan"
"""The key in ``meta`` for the code by which the files were read."""
Files = Mapping[str, SourceFile]


def index_path(source: Source, cache: Path) -> Path:
    return Path(index_file(source.key, str(cache)))


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Disables garbage collection, which would take a tenth of a build's time for hardly any
    cycle."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class _Changes(NamedTuple):
    """Files to read, and files that are gone."""

    read: list[SourceFile]
    gone: list[str]


class Builder:
    """Builds or refreshes the index of one tree."""

    def __init__(
        self,
        source: Source,
        cache: str | Path,
        progress: ProgressCallback | None = None,
        cancelled: CancelCallback | None = None,
    ) -> None:
        self.source = source
        self.cache = str(cache)
        self.index = index_file(source.key, self.cache)
        """The index file."""
        self.path = Path(self.index)
        self._hashes: dict[str, bytes] = {}
        self._beside: list[str] = []
        self._progress = progress or (lambda _: None)
        self._cancelled = cancelled or (lambda: False)

    def run(self, verify: bool = False, force: bool = False) -> Report:
        """Brings the index up to date. Raises SourceError or Cancelled, and then leaves the old
        index."""
        started, damaged = time.time_ns(), ""
        try:
            if store := None if force else self._existing():
                with contextlib.closing(store):
                    return self._refresh(store, verify, started)
        except DamagedIndex as error:
            damaged = str(error)
        files = self.files()
        report = self._rebuild(files, alone=force)
        self._remember(files, started)
        report.damaged = damaged
        return report

    def files(self) -> Files:
        """The files of the tree by path, as they are now."""
        self._beside.clear()
        files = {file.path: file for file in self.source.files(self._beside)}
        self._hashes = {file.path: file.blob for file in files.values() if file.blob}
        return files

    def hash(self, path: str) -> bytes:
        """The hash of a file's content, computed once per build; empty if unreadable."""
        if path not in self._hashes:
            self._hashes[path] = self.source.hash(path)
        return self._hashes[path]

    def _existing(self) -> Store | None:
        """The index left by this version. Raises DamagedIndex if something else damaged it."""
        if not os.path.exists(self.index):
            return None
        seen = None if self.source.fixed else TreeSnapshot.load(self.index)
        try:
            if not (self.source.fixed or (seen and seen.is_of(self.index, seen.code))):
                check_index(self.index, self.index)
            return Store(self.index)
        except OtherIndex:
            return None

    def _remember(self, files: Iterable[str], started_ns: int) -> None:
        """Stores the snapshot of the tree whose files are now indexed."""
        if self.source.fixed:
            make_room(Path(self.cache))  # they come with every comparison; the last used stay
            return
        version = index_version()
        seen = take(self.source, self.index, version, files, self._beside, started_ns, self.hash)
        seen.save(self.index)

    # ------------------------------------------------------------------ cold

    def _rebuild(self, files: Files, alone: bool) -> Report:
        """Builds aside, from another tree's index unless ``alone``, and swaps it in."""
        with self.aside() as aside:
            if not alone and copy_nearest(self.path, lambda: self._contents(files), aside):
                with contextlib.suppress(SourceError):  # it is damaged: no loss but time
                    return self.bring_up_copy(aside, files)
            aside.write_bytes(b"")
            self._read_all(files, aside)
            return Report(len(files), sum(map(has_reader, files.values())), cold=True)

    def _read_all(self, files: Files, into: Path) -> None:
        """Builds in a file of its own, and copies that compactly, without half-empty pages."""
        with contextlib.ExitStack() as stack:
            loose = self._aside(stack)
            store = stack.enter_context(contextlib.closing(Store(loose, create=True)))
            self._bring_up(store, _Changes(list(files.values()), []))
            store.db.execute("VACUUM INTO ?", (str(into),))

    def _contents(self, files: Files) -> set[tuple[str, bytes]]:
        return {(path, self.hash(path)) for path in files}

    def bring_up_copy(self, copy: Path, files: Files) -> Report:
        """Turns ``copy``, another tree's index, into this tree's by comparing every content. Raises
        SourceError if the copy is damaged."""
        try:
            with contextlib.closing(Store(copy)) as store:
                store.write_aside()
                changes = self._differing(store, files.values(), files)
                self._bring_up(store, changes)
        except sqlite3.Error as error:
            raise SourceError(f"damaged index {copy}: {error}") from error
        return Report(len(files), len(changes.read), len(changes.gone))

    @contextlib.contextmanager
    def aside(self) -> Iterator[Path]:
        """A new file beside the index, which replaces it on success."""
        with contextlib.ExitStack() as stack:
            aside = self._aside(stack)
            try:
                yield aside
                self._sign(aside)
                put_in_place(aside, self.index)
            except (OSError, sqlite3.Error) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                raise SourceError(f"cannot write the index {self.index}: {reason}") from error

    def _aside(self, stack: contextlib.ExitStack) -> Path:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            clear(self.path.parent)
            return stack.enter_context(written_aside(self.path))
        except OSError as error:
            reason = f"cannot write to the cache {self.path.parent}: {error.strerror}"
            raise SourceError(f"{reason}; choose another with --cache or TORCHNAV_CACHE") from error

    def _sign(self, path: Path) -> None:
        """Notes in an index which tree it is of, for listing the cache."""
        with contextlib.closing(Store(path)) as store:
            store.set_meta("root", self.source.top)
            store.set_meta("revision", self.source.revision)
            store.set_meta("extensions", ", ".join(one.top for one in self.source.roots))

    # ------------------------------------------------------------------ refresh

    def _refresh(self, store: Store, verify: bool, started_ns: int) -> Report:
        if self.source.fixed and not verify and is_current(store):
            with contextlib.suppress(OSError):
                os.utime(self.index)  # the last used are kept
            return Report(files=len(store.column("SELECT id FROM files")))
        seen = None if verify else self._snapshot(store)
        edited = self._edited_files(seen) if seen else None
        files = self.files() if edited is None else edited
        try:
            store.db.execute("PRAGMA synchronous=NORMAL")  # the journal keeps the file whole
            changes = self._changes(store, files, seen, edited is None)
            self._bring_up(store, changes)
        except sqlite3.Error as error:
            raise store.refusal(error, "refresh") from error
        if seen and edited is not None:
            git = self.source.edited_since(seen.edited, list(edited)) if edited else seen.edited
            self.source.know_edited(git)
            seen.again(self.index, index_version(), git, started_ns).save(self.index)
        else:
            self._remember(files, started_ns)
        count = len(seen.files) if seen and edited is not None else len(files)
        return Report(count, len(changes.read), len(changes.gone))

    def _snapshot(self, store: Store) -> TreeSnapshot | None:
        """The snapshot, if the index is still the one it was taken of."""
        seen = None if self.source.fixed else TreeSnapshot.load(self.index)
        is_scanned = store.meta(_SCAN) == code_digest(*SCAN_ROOMS)
        return seen if seen and is_scanned and seen.is_of(self.index, seen.code) else None

    def _edited_files(self, seen: TreeSnapshot) -> Files | None:
        """The changed files, if nothing else can have changed; None if all must be listed."""
        if not seen.files_alone:
            return None
        found = {path: self.source.file(path) for path in seen.changed_paths()}
        files = {path: file for path, file in found.items() if file}
        return files if len(files) == len(found) else None

    def _changes(
        self, store: Store, files: Files, seen: TreeSnapshot | None, is_whole: bool
    ) -> _Changes:
        """How the tree differs from the index."""
        suspects = list(files.values())
        if seen and is_whole:
            moved = seen.changed_paths()
            suspects = [f for f in suspects if f.path in moved or f.path not in seen.files]
        return self._differing(store, suspects, files if is_whole else None)

    def _differing(
        self, store: Store, suspects: Iterable[SourceFile], files: Files | None
    ) -> _Changes:
        """Suspects with another content or read by other code, and the files that are gone if all
        files are known."""
        known: dict[str, bytes] = dict(store.query("SELECT path,hash FROM files"))
        is_scanned = store.meta(_SCAN) == code_digest(*SCAN_ROOMS)
        read = [f for f in suspects if not is_scanned or known.get(f.path) != self.hash(f.path)]
        return _Changes(
            read, [] if files is None else [path for path in known if path not in files]
        )

    # ------------------------------------------------------------------ both

    def _bring_up(self, store: Store, changes: _Changes) -> None:
        """Reads what changed and runs the stages that follow, in one transaction."""
        if not (changes.read or changes.gone or not is_current(store)):
            return
        with _uncollected():
            self._transact(store, changes)

    def _transact(self, store: Store, changes: _Changes) -> None:
        store.begin()
        try:
            for path in changes.gone:
                store.drop_file(path)
            scanned = self._scan(store, changes.read)
            store.create_indexes()
            run_stages(Work(store, self.source, scanned), lambda says: self._report(says, 0, 0))
            store.db.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # done already where the disk is full
                store.db.execute("ROLLBACK")
            raise

    def _scan(self, store: Store, files: list[SourceFile]) -> set[int]:
        """Stores the facts of files; returns their numbers."""
        known: dict[str, int] = dict(store.query("SELECT path,id FROM files"))
        fresh = count(max(known.values(), default=0) + 1)
        readable = reading_order(filter(has_reader, files))
        watched = (file for file in files if not has_reader(file))
        numbered = [(known.get(f.path) or next(fresh), f) for f in (*readable, *watched)]
        kinds = {file.path: file.kind for file in files}
        reading = numbered[: len(readable)]
        places = (self.source.top, self.source.roots)
        for done, read in enumerate(read_files(places, reading, self._cancelled)):
            self._report("reading", done + 1, len(readable))
            self._hashes[read.path] = read.hash
            self._keep(store, read.number, read.path, kinds[read.path], read.path in known)
            store.add(read.rows)
            if read.problems or read.path in known:
                store.set_problems(_SCAN, read.problems, read.path)
        for number, file in numbered[len(readable) :]:
            self._keep(store, number, file.path, file.kind, file.path in known)
        store.set_meta(_SCAN, code_digest(*SCAN_ROOMS))
        return {number for number, _ in reading}

    def _keep(self, store: Store, number: int, path: str, kind: str, is_known: bool) -> None:
        """Stores a file about which only its content's hash is known."""
        if is_known:
            store.drop_rows(number)
            new = (kind, self.hash(path), number)
            store.db.execute("UPDATE files SET kind=?,hash=? WHERE id=?", new)
        else:
            store.add_file(number, path, kind, self.hash(path))

    def _report(self, stage: str, done: int, total: int) -> None:
        if self._cancelled():
            raise Cancelled("indexing was cancelled; nothing was changed")
        self._progress(Progress(stage, done, total))
