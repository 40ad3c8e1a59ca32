"""``torchnav index``: build the index, bring it up to date, or check it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from navigator.commands.common import (
    ProgressLine,
    Settings,
    json_option,
    pass_settings,
    write_json,
    write_lines,
)

if TYPE_CHECKING:
    from indexes.contract import Json
    from indexes.query import Index

_PROBLEMS_SHOWN = 20


@click.command()
@click.option("--verify", is_flag=True, help="Hash every file instead of trusting file times.")
@click.option("--force", is_flag=True, help="Build anew, whatever is there.")
@json_option
@pass_settings
def index(settings: Settings, verify: bool, force: bool) -> None:
    """Build the index of the tree, or read again what changed in it.

    Other commands do this by themselves. Interrupted, it leaves the old index whole.
    """
    from indexes.build import index_path
    from indexes.query import Index
    from indexes.source import cache_folder

    source = settings.source()
    started = time.perf_counter()
    with ProgressLine() as progress:
        opened = Index.open(source, settings.cache, progress=progress, verify=verify, force=force)
    seconds = round(time.perf_counter() - started, 3)
    settings.note(opened.report)
    path = index_path(source, settings.cache or cache_folder())
    if settings.json:
        write_json(_json(opened, path, seconds))
    else:
        write_lines(_text(opened, path, seconds))


def _json(opened: Index, path: Path, seconds: float) -> Json:
    from indexes.contract import envelope, problem_json

    report = opened.report
    return envelope(
        opened.info, files=report.files, read=report.read, removed=report.removed,
        cold=report.cold, seconds=seconds, index=str(path),
        problems=[problem_json(one) for one in opened.problems()],
    )  # fmt: skip


def _text(opened: Index, path: Path, seconds: float) -> Iterator[str]:
    from navigator.plaintext import problem_lines, source_lines

    report, problems = opened.report, opened.problems()
    did = "built" if report.cold else "up to date"
    counts = f"{report.files:,} files, {report.read:,} read, {report.removed:,} gone"
    yield f"{did}: {counts}, {seconds:.1f} s" if report.cold or report.read else f"{did}: {counts}"
    yield f"index: {path}"
    if problems:
        yield f"could not be read: {len(problems):,} places"
        yield from problem_lines(problems[:_PROBLEMS_SHOWN])
    if len(problems) > _PROBLEMS_SHOWN:
        yield "  ... all of them with --json"
    yield from source_lines(opened.info)
