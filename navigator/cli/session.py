"""What every command has besides its answer: where the source is, the opened index, how the
answer is written and how errors are told."""

from __future__ import annotations

import io
import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexes.model.errors import NotFound, TorchnavError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from indexes.model.progress import Progress
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
    fix_output()
    try:
        status = _told(run, settings)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has what it wanted
        _silence_output()
        status = 0
    except KeyboardInterrupt:
        status = EXIT_INTERRUPTED
    return status


def _told(run: Callable[[], int], settings: Settings) -> int:
    try:
        return run()
    except TorchnavError as error:
        return _tell(error, settings)


def _tell(error: TorchnavError, settings: Settings) -> int:
    from navigator.text.answers import clean

    if settings.json:
        from indexes.serialize.answers import dumps, error_json

        print(dumps(error_json(error)))
    print(f"torchnav: {clean(str(error))}", file=sys.stderr)
    if isinstance(error, NotFound) and error.suggestions:
        print(f"  near names: {', '.join(map(clean, error.suggestions))}", file=sys.stderr)
    return error.exit_code


def fix_output() -> None:
    """The same bytes whatever the locale, on a terminal and in a pipe."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def _silence_output() -> None:
    """Python flushes stdout once more as it ends; give it somewhere to."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())


# ------------------------------------------------------------------------------ output


def write_json(value: object) -> None:
    """An answer, or a row of one, as a line of JSON."""
    from indexes.serialize.answers import dumps

    sys.stdout.write(dumps(value) + "\n")


def write_lines(lines: Iterable[str]) -> None:
    """Text for people. Lines must be clean: see navigator.text.answers."""
    for line in lines:
        sys.stdout.write(line + "\n")


def say(words: str) -> None:
    """Words beside the answer, on stderr."""
    from navigator.text.answers import clean

    print(clean(words), file=sys.stderr)


class ProgressLine:
    """One line on stderr that shows how far a build is; nothing where stderr is no terminal."""

    _WIDTH = 24
    _PAUSE = 0.1

    def __init__(self) -> None:
        self._shown = False
        self._next = 0.0
        self._live = sys.stderr.isatty()

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if not self._live or now < self._next:
            return
        self._next = now + self._PAUSE
        self._shown = True
        sys.stderr.write(f"\r{self._bar(progress)}\x1b[K")
        sys.stderr.flush()

    def _bar(self, progress: Progress) -> str:
        if not progress.total:
            return f"{progress.stage} ... {progress.done or ''}".rstrip()
        part = min(1.0, progress.done / progress.total)
        filled = round(part * self._WIDTH)
        bar = "#" * filled + "-" * (self._WIDTH - filled)
        return f"{progress.stage} [{bar}] {progress.done:,}/{progress.total:,}"
