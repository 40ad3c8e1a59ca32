"""What every command has besides its answer: where the source is, the opened index, and how
errors are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexes.model.errors import NotFound, SourceError, TorchnavError
from navigator.cli.streams import ProgressLine, end_answer, mend_streams, say, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from indexes.model.vocabulary import Problem
    from indexes.queries.index import Index
    from indexes.source.source import Source

EXIT_INTERRUPTED = 130
_WARNINGS = 3


@dataclass(slots=True)
class Settings:
    """What was said on the command line before any answer: the same for every command."""

    tree: str | None = None
    cache: Path | None = None
    json: bool = False

    def source(self) -> Source:
        from indexes.source.source import Source

        return Source.find(self.tree, self.cache)

    def index(self) -> Index:
        """The index of the tree, built first where there is none, with progress on stderr."""
        index = self._up_to_date()
        for line in _warnings(index.problems()):
            say(f"torchnav: {line}")
        return index

    def _up_to_date(self) -> Index:
        from indexes.queries.index import Index

        with ProgressLine() as progress:
            return Index.open(self.source(), self.cache, progress=progress)


def _warnings(problems: Iterable[Problem]) -> Iterator[str]:
    """The problems of the YAML files, on which every answer rests: a few of them, or just the
    one that is of the whole tree."""
    found = [one for one in problems if one.path.endswith(".yaml")]
    if whole := [one.message for one in found if not one.line]:
        yield from whole
        return
    for one in found[:_WARNINGS]:
        yield f"{one.place}: {one.message}"
    if len(found) > _WARNINGS:
        yield f"{len(found) - _WARNINGS:,} more problems like these: torchnav doctor"


def guarded(run: Callable[[], int], settings: Settings) -> int:
    """The exit code of ``run``, or of what went wrong in it, which is told."""
    mend_streams()
    try:
        status = _told(run, settings)
        return _told(end_answer, settings) or status
    except BrokenPipeError:  # the reader has what it wanted
        return 0
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _told(run: Callable[[], int | None], settings: Settings) -> int:
    try:
        return run() or 0
    except TorchnavError as error:
        return _tell(error, settings)
    except Exception as error:
        if not _is_of_database(error):
            raise
        return _tell(SourceError(f"the index can't be used: {error}"), settings)


def _is_of_database(error: Exception) -> bool:
    import sqlite3

    return isinstance(error, sqlite3.Error)


def _tell(error: TorchnavError, settings: Settings) -> int:
    if settings.json:
        from indexes.serialize.answers import error_json

        write_json(error_json(error))
    say(f"torchnav: {error}")
    if isinstance(error, NotFound) and error.suggestions:
        say(f"  near names: {', '.join(error.suggestions)}")
    return error.exit_code
