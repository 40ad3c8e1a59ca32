"""Opens the index of a tree, brought up to date. Loads nothing that only a build needs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from indexes.model.errors import CancelCallback, ProgressCallback, Report, SourceError
from indexes.model.vocabulary import SourceInfo
from indexes.source.snapshot import TreeSnapshot
from indexes.source.source import Source, cache_folder, index_file
from indexes.store.index_file import Store, index_version


def open_current(
    source: Source,
    cache: str | Path | None = None,
    *,
    progress: ProgressCallback | None = None,
    cancelled: CancelCallback | None = None,
    refresh: bool = True,
    verify: bool = False,
    force: bool = False,
) -> tuple[Store, Report]:
    """The index of ``source``, built if there is none and brought up to date, and what that cost.

    ``refresh=False`` takes the index as it is; ``verify`` hashes every file again; ``force``
    builds it anew. Raises SourceError, or Cancelled when ``cancelled`` says so.
    """
    folder = os.path.abspath(cache or cache_folder())
    path = index_file(source.key, folder)
    if not (verify or force) and (os.path.exists(path) and not refresh):
        report = Report()
    elif not (verify or force) and (seen := unchanged(source, path)):
        source.know_edited(seen.edited)
        report = Report(files=len(seen.files))
    else:
        report = _brought_up(source, folder, path, progress, cancelled, verify, force)
    try:
        return Store(path), report
    except SourceError:
        from indexes.build.builder import Builder

        report = Builder(source, folder, progress, cancelled).run(force=True)
        return Store(path), report


def unchanged(source: Source, index: str) -> TreeSnapshot | None:
    """The snapshot of a tree that is as it was when its index was brought up to date."""
    seen = None if source.fixed else TreeSnapshot.load(index)
    return seen if seen and seen.is_of(index, index_version()) and seen.unchanged else None


def info_of(source: Source, report: Report) -> SourceInfo:
    """Which tree the answers are from, and what they lack."""
    if not report.stale:
        return source.info
    return replace(source.info, missing=(report.stale, *source.info.missing))


def _brought_up(
    source: Source,
    folder: str,
    path: str,
    progress: ProgressCallback | None,
    cancelled: CancelCallback | None,
    verify: bool,
    force: bool,
) -> Report:
    """What was done to bring an index up to date; one that cannot be written is stale."""
    from indexes.build.builder import Builder

    try:
        return Builder(source, folder, progress, cancelled).run(verify, force)
    except SourceError as error:
        if force or not os.path.exists(path):
            raise
        return Report(stale=f"the index is not up to date: {error}")
