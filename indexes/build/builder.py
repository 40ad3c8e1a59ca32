"""Makes and refreshes the index of a tree: what changed, read it in parallel, link, swap in.

A cold build writes aside and renames; a refresh is one transaction on the index in
place. File times only decide which files to hash again; ``verify`` hashes them all.
"""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from indexes.model.errors import Cancelled, SourceError
from indexes.model.progress import CancelCallback, Progress, ProgressCallback, Report
from indexes.source.looked import Looked
from indexes.source.paths import index_file
from indexes.source.source import Source
from indexes.store.index_file import Store

if TYPE_CHECKING:
    from pathlib import Path

    from indexes.build.scan_pool import FileFacts
    from indexes.source.walk import SourceFile

READ_KINDS = ("cpp", "python", "test", "page")
"""Kinds of files that have a reader of their own; the others are only watched for changes."""


def index_path(source: Source, cache: Path) -> Path:
    """Where the index of a tree is kept."""
    from pathlib import Path

    return Path(index_file(source.key, str(cache)))


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
        self._hashes: dict[str, bytes] = {}
        self._progress = progress or (lambda _: None)
        self._cancelled = cancelled or (lambda: False)

    @cached_property
    def path(self) -> Path:
        """``index`` as a path."""
        from pathlib import Path

        return Path(self.index)

    def run(
        self, verify: bool = False, force: bool = False, looked: Looked | None = None
    ) -> Report:
        """Brings the index up to date, from a look at the tree just taken if there is one.
        Raises SourceError or Cancelled, and then leaves what was there as it was."""
        if self.source.fixed:
            return self._fixed(verify, force)
        store = None if force else self._existing()
        if store is None or looked is None:
            looked = Looked(self.source, self.index, None)
        if store:
            report = self._refresh(store, self._hashed(looked.files), verify, looked)
        else:
            report = self._anew(self._hashed(looked.files), alone=force)
        report.state = looked.remember(self.hash)
        return report

    def _fixed(self, verify: bool, force: bool) -> Report:
        """The same for a source that never changes."""
        store = None if force else self._existing()
        if store is None:
            report = self._anew(self.files(), alone=force)
            self._make_room()
            return report
        with contextlib.suppress(OSError):
            os.utime(self.index)  # the last used are kept
        if verify:
            return self._refresh(store, self.files(), verify)
        with contextlib.closing(store):
            return Report(files=store.query("SELECT count(*) FROM files")[0][0])

    def _make_room(self) -> None:
        """Indexes of commits come with every comparison; only the last used stay."""
        from pathlib import Path

        from indexes.build.shelf import make_room

        make_room(Path(self.cache))

    def files(self) -> dict[str, SourceFile]:
        """The files of the tree by path, as they are now."""
        return self._hashed({f.path: f for f in self.source.files()})

    def _hashed(self, files: dict[str, SourceFile]) -> dict[str, SourceFile]:
        """The files, with the hashes that are known without reading them noted."""
        self._hashes = {f.path: f.blob for f in files.values() if f.blob}
        return files

    def _existing(self) -> Store | None:
        if not os.path.exists(self.index):
            return None
        try:
            return Store(self.index)
        except SourceError:
            return None  # of another version, or damaged: build it again

    def tell(self, stage: str, done: int, total: int) -> None:
        """Says how far the work is. Raises Cancelled when that is asked for."""
        if self._cancelled():
            raise Cancelled("indexing was cancelled; nothing was changed")
        self._progress(Progress(stage, done, total))

    # ------------------------------------------------------------------ cold

    def _anew(self, files: dict[str, SourceFile], alone: bool) -> Report:
        """Builds aside, from another tree's index unless ``alone``, and swaps it in."""
        with self.aside() as aside:
            report = None if alone else self._from_another(aside, files)
            if report is None:
                aside.write_bytes(b"")
                report = self._cold(aside, files)
        return report

    @contextlib.contextmanager
    def aside(self) -> Iterator[Path]:
        """A new file beside the index, which takes its place unless something goes wrong."""
        aside = self._aside()
        try:
            yield aside
            self._sign(aside)
            os.replace(aside, self.index)
        except OSError as error:
            raise SourceError(f"cannot write the index {self.index}: {error.strerror}") from error
        finally:
            with contextlib.suppress(OSError):
                aside.unlink(missing_ok=True)

    def _sign(self, path: Path) -> None:
        """Notes in an index what it is of, for whoever lists what the cache holds."""
        with contextlib.closing(Store(path)) as store:
            store.db.execute("BEGIN")
            store.set_meta("root", self.source.top)
            store.set_meta("revision", self.source.revision)
            store.db.execute("COMMIT")

    def _from_another(self, aside: Path, files: dict[str, SourceFile]) -> Report | None:
        from indexes.build.seeds import bring_up_to_date, copy_nearest

        try:
            return (
                bring_up_to_date(self, aside, files) if copy_nearest(self, files, aside) else None
            )
        except SourceError:
            return None  # it is damaged: no loss but time

    def _cold(self, aside: Path, files: dict[str, SourceFile]) -> Report:
        store = Store(aside, create=True)
        wanted = [file for file in files.values() if file.kind in READ_KINDS]
        try:
            store.db.execute("BEGIN")
            with _without_collector(), self.reading(wanted) as read:
                from indexes.build.cold import fill  # loaded while the children read

                report = fill(self, store, files, read)
            store.db.execute("COMMIT")
        finally:
            store.close()
        return report

    def _aside(self) -> Path:
        import tempfile
        from pathlib import Path

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(".building", self.path.name, self.path.parent)
        except OSError as error:
            reason = f"cannot write to the cache {self.path.parent}: {error.strerror}"
            raise SourceError(f"{reason}; choose another with --cache or TORCHNAV_CACHE") from error
        os.close(handle)
        return Path(name)

    @property
    def has_sources(self) -> bool:
        """Whether this tree can hold kernels at all."""
        return self.source.kind != "wheel"

    def reading(
        self, files: list[SourceFile]
    ) -> contextlib.AbstractContextManager[Iterator[FileFacts]]:
        """Facts of files, read in parallel when there are many, from now on."""
        from indexes.build.scan_pool import FEW, read_here

        if len(files) <= FEW:
            return contextlib.nullcontext(read_here(self.source.top, files, self._cancelled))
        from indexes.build.scan_children import reading

        return reading(self.source.top, files, self._cancelled)

    def add_facts(self, store: Store, number: int, facts: FileFacts) -> None:
        """Keeps the facts of one file."""
        if facts.cpp:
            store.add_cpp(number, facts.cpp, facts.defined)
        else:
            store.add_python(number, facts.python)
            store.add_outline(number, facts.outline)
        self.add_problems(store, facts)

    def add_problems(self, store: Store, facts: FileFacts) -> None:
        """Keeps what could not be read of one file."""
        for line, message in facts.problems:
            store.add_problem(facts.path, line, message)

    def know_hash(self, path: str, digest: bytes) -> None:
        """Takes over the hash of a file that was read for its facts."""
        self._hashes[path] = digest

    def hash(self, path: str) -> bytes:
        """Hash of a file's content, read once in a build; empty when it cannot be read."""
        from indexes.source.files import content_hash

        if path not in self._hashes:
            try:
                self._hashes[path] = content_hash(self.source.read(path))
            except SourceError:
                self._hashes[path] = b""
        return self._hashes[path]

    # ------------------------------------------------------------------ refresh

    def _refresh(
        self, store: Store, files: dict[str, SourceFile], verify: bool, looked: Looked | None = None
    ) -> Report:
        from indexes.build.refresh import refresh

        try:
            return refresh(self, store, files, verify, looked)
        finally:
            store.close()


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Hundreds of thousands of small rows without cycles pass through a build."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            # What is left is looked at with all that is old, not before the next thing is done.
            gc.freeze()
            gc.unfreeze()
            gc.enable()
