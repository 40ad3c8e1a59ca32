"""Opens the index of a tree, brought up to date. Loads nothing that only answers need."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from indexes.model.errors import SourceError
from indexes.model.progress import CancelCallback, ProgressCallback, Report
from indexes.source.looked import Looked, look
from indexes.source.paths import cache_path, index_file
from indexes.store.index_file import Store

if TYPE_CHECKING:
    from pathlib import Path

    from indexes.build.builder import Builder
    from indexes.model.vocabulary import SourceInfo
    from indexes.source.source import Source


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
    folder = os.path.abspath(cache or cache_path())
    path = index_file(source.key, folder)
    builder = partial(_builder, source, folder, progress, cancelled)
    report = Report()
    if refresh or not os.path.exists(path):
        looked = None if source.fixed or verify or force else look(source, path)
        report = _brought_up(path, builder, verify, force, looked)
    try:
        return Store(path), report
    except SourceError:
        report = builder().run(force=True)
        return Store(path), report


def info_of(source: Source, report: Report) -> SourceInfo:
    """Which tree the answers are from, and what they lack."""
    if not report.stale:
        return source.info
    from dataclasses import replace

    return replace(source.info, missing=(report.stale, *source.info.missing))


def _brought_up(
    path: str, builder: Callable[[], Builder], verify: bool, force: bool, looked: Looked | None
) -> Report:
    """What was done to bring an index up to date, if anything was to be."""
    if looked and looked.unchanged:
        return looked.remembered()
    try:
        return builder().run(verify, force, looked)
    except SourceError as error:
        if force or not os.path.exists(path):
            raise
        return Report(stale=f"the index is not up to date: {error}")


def _builder(
    source: Source, cache: str, progress: ProgressCallback | None, cancelled: CancelCallback | None
) -> Builder:
    """What brings an index up to date: not loaded where nothing has changed."""
    from indexes.build.builder import Builder

    return Builder(source, cache, progress, cancelled)
