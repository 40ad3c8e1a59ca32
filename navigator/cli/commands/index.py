"""``torchnav index``: builds, refreshes and checks the index; lists and prunes the cache."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from indexes.build.builder import Builder
from indexes.build.cached_indexes import CachedIndex, list_cached, prune
from indexes.build.sharing import Label, export_index, import_index
from indexes.model.errors import Report
from indexes.model.vocabulary import SCHEMA_VERSION, Problem, SourceInfo
from indexes.queries.indexed_tree import info_of, open_current
from indexes.serialize.answers import Object, envelope, to_object
from indexes.source.source import Source, cache_folder, index_file
from navigator.cli.session import Settings, json_option, pass_settings
from navigator.cli.terminal import ProgressLine
from navigator.text.answers import problem_lines, source_lines
from navigator.text.clean import clean

_PATH = click.Path(path_type=Path)
_PROBLEMS_SHOWN = 20


@click.command()
@click.option("--verify", is_flag=True, help="Hash every file instead of trusting file times.")
@click.option("--force", is_flag=True, help="Rebuild from scratch.")
@click.option(
    "--export", "into", metavar="PATH", type=_PATH, help="Export the index as one file to share."
)
@click.option(
    "--import", "shared", metavar="PATH", type=_PATH, help="Start from an exported index."
)
@click.option("--list", "listed", is_flag=True, help="List cached indexes.")
@click.option("--prune", is_flag=True, help="Prune unused indexes.")
@json_option
@pass_settings
def index(
    settings: Settings,
    verify: bool,
    force: bool,
    into: Path | None,
    shared: Path | None,
    listed: bool,
    prune: bool,
) -> None:
    """Build the index of the tree, or bring it up to date.

    Other commands do this by themselves. An interrupted build leaves the old index intact. PATH for
    --export and --import is a file, or a folder for the indexes of several versions.
    """
    if listed or prune:
        _show_cached(settings, prune)
        return
    done = _bring_up(settings, verify, force, into, shared)
    settings.answer(lambda: _json(done), lambda: _text(done))


def _bring_up(
    settings: Settings, verify: bool, force: bool, into: Path | None, shared: Path | None
) -> _Result:
    """Refreshes the index, starting from a shared one if given, and exports it if asked."""
    source = settings.source()
    cache = str(settings.cache or cache_folder())
    started = time.perf_counter()
    with ProgressLine() as progress:
        began = _begin_from(shared, source, cache, progress) if shared else None
        store, report = open_current(source, cache, progress=progress, verify=verify, force=force)
    report = began or report
    seconds = round(time.perf_counter() - started, 3)
    written = _export(source, cache, into) if into else None
    path = index_file(source.key, cache)
    return _Result(report, info_of(source, report), store.problems(), path, seconds, written)


class _Result(NamedTuple):
    """The result, and the present state."""

    report: Report
    info: SourceInfo
    problems: tuple[Problem, ...]
    file: str
    """The index."""
    seconds: float
    written: tuple[Path, Label] | None
    """The exported file and its description."""


def _begin_from(shared: Path, source: Source, cache: str, progress: ProgressLine) -> Report:
    return import_index(Builder(source, cache, progress), shared)


def _export(source: Source, cache: str, into: Path) -> tuple[Path, Label]:
    return export_index(Builder(source, cache), into)


def _json(done: _Result) -> Object:
    report, written = done.report, done.written
    return envelope(
        done.info,
        files=report.files,
        read=report.read,
        removed=report.removed,
        cold=report.cold,
        seconds=done.seconds,
        index=done.file,
        problems=done.problems,
        exported={"path": str(written[0]), "tree": written[1].tree} if written else None,
    )


def _text(done: _Result) -> Iterator[str]:
    report, problems, written = done.report, done.problems, done.written
    did = "built" if report.cold else "up to date"
    counts = f"{report.files:,} files, {report.read:,} read, {report.removed:,} removed"
    timed = report.cold or report.read
    yield f"{did}: {counts}, {done.seconds:.1f} s" if timed else f"{did}: {counts}"
    yield f"index: {done.file}"
    if written:
        size = written[0].stat().st_size / 1e6
        yield f"exported: {written[0]}, {size:.1f} MB, tree {written[1].tree}"
    if problems:
        yield f"places that could not be read: {len(problems):,}"
        yield from problem_lines(problems[:_PROBLEMS_SHOWN])
    if len(problems) > _PROBLEMS_SHOWN:
        yield "  ... --json lists all"
    yield from source_lines(done.info)


def _show_cached(settings: Settings, pruned: bool) -> None:
    """Lists the cached indexes; ``pruned`` removes unusable ones first."""
    cache = settings.cache or cache_folder()
    gone = prune(cache) if pruned else ()
    cached = list_cached(cache)
    settings.answer(
        lambda: {
            "schema_version": SCHEMA_VERSION,
            "cache": str(cache),
            "indexes": [_index_json(one) for one in cached],
            "removed": [_index_json(one) for one in gone],
        },
        lambda: _cached_text(cache, cached, gone),
    )


def _index_json(cached_index: CachedIndex) -> Object:
    keys = "path root? commit=revision? state files bytes=size used"
    return to_object(cached_index, keys, path=str(cached_index.path), used=round(cached_index.used))


def _cached_text(
    cache: Path, cached: Sequence[CachedIndex], gone: Sequence[CachedIndex]
) -> Iterator[str]:
    for one in gone:
        yield f"removed: {_index_line(one)}"
    for one in cached:
        yield _index_line(one)
    total = sum(one.size for one in cached)
    yield f"{len(cached):,} indexes, {total / 1e6:,.1f} MB in {clean(str(cache))}"


def _index_line(cached_index: CachedIndex) -> str:
    day = time.strftime("%Y-%m-%d", time.localtime(cached_index.used))
    name = cached_index.revision[:12] if cached_index.revision else cached_index.path.name
    where = f" {cached_index.root}" if cached_index.root else ""
    return clean(f"{day} {cached_index.size / 1e6:6.1f} MB  {cached_index.state:12} {name}{where}")
