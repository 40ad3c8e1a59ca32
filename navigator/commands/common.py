"""What the sub-commands share: where the source is, opening the index, how answers are written."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from indexes.records import dataclass

if TYPE_CHECKING:
    from indexes.build import Progress, Report
    from indexes.contract import Json
    from indexes.query import Index
    from indexes.seen import Seen
    from indexes.source import Source

_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(slots=True)
class Settings:
    """What was said on the command line before any answer: the same for every command."""

    tree: str | None = None
    cache: Path | None = None
    json: bool = False
    state: str = ""
    """The state of the tree that an index was opened in, where that had not changed."""
    seen: Seen | None = None
    """What was loaded of the tree's last state before the command ran."""

    def source(self) -> Source:
        from indexes.source import Source

        return Source.find(self.tree, self.cache)

    def index(self) -> Index:
        """The index of the tree, built first where there is none, with progress on stderr."""
        from indexes.query import Index

        with ProgressLine() as progress:
            index = Index.open(self.source(), self.cache, progress=progress, seen=self.seen)
        self.note(index.report)
        for problem in index.problems():
            if problem.path.endswith(".yaml"):  # what every answer rests on
                say(f"torchnav: {problem.path}:{problem.line}: {problem.message}")
        return index

    def note(self, report: Report) -> None:
        """What an answer rests on, if nothing had to be done for it."""
        self.state = "" if report.cold or report.read or report.removed else report.state


def settings_of(context: click.Context) -> Settings:
    return context.ensure_object(Settings)


def _remember(context: click.Context, parameter: click.Parameter, value: object) -> object:
    if value not in (None, False):
        setattr(settings_of(context), parameter.name or "", value)
    return value


def source_options(command: _F) -> _F:
    """``--tree`` and ``--cache``, which may stand before the command's name or after it."""
    tree = click.option(
        "--tree", metavar="PATH", callback=_remember, expose_value=False,
        help="The source tree: a checkout, or a folder in one. [env: TORCHNAV_CHECKOUT]",
    )  # fmt: skip
    cache = click.option(
        "--cache", metavar="PATH", type=click.Path(file_okay=False, path_type=Path),
        callback=_remember, expose_value=False,
        help="Where indexes and clones are kept. [env: TORCHNAV_CACHE]",
    )  # fmt: skip
    return tree(cache(command))


def json_option(command: _F) -> _F:
    """``--json``, for a command that answers."""
    option = click.option(
        "--json", is_flag=True, callback=_remember, expose_value=False, help="Answer as JSON."
    )
    return source_options(option(command))


pass_settings = click.make_pass_decorator(Settings, ensure=True)


def version() -> str:
    from navigator import __version__

    return __version__


# ------------------------------------------------------------------------------ output


def write_json(value: Json) -> None:
    from indexes.contract import dumps

    sys.stdout.write(dumps(value) + "\n")


def write_lines(lines: Iterable[str]) -> None:
    """Text for people. Lines must be clean: see navigator.plaintext."""
    for line in lines:
        sys.stdout.write(line + "\n")


def say(words: str) -> None:
    """Words beside the answer, on stderr."""
    from navigator.plaintext import clean

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
