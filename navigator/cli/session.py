"""What every command has besides its answer: its options, where the source is, the opened index,
how errors are told, and the streams, mended once at the start."""

from __future__ import annotations

import contextlib
import io
import os
import sqlite3
import sys
import time
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from indexes.model.errors import SourceError, TorchnavError, UsageError
from navigator.text.clean import clean, json_text, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from indexes.model.errors import Progress
    from indexes.model.vocabulary import Problem
    from indexes.queries.index import Index
    from indexes.source.source import Source
    from navigator.tui.session import Opener

EXIT_INTERRUPTED = 130
_WARNINGS = 3


@dataclass(slots=True)
class Settings:
    """What was said on the command line before any answer: the same for every command."""

    tree: str | None = None
    cache: Path | None = None
    json: bool = False
    """Answers are told as objects: as JSON, or by their places alone."""
    places: str = ""
    """How places are written where they alone are wanted: ``vimgrep`` or ``link``."""
    beside: tuple[str, ...] = ()
    """The folders of extensions that ``--with`` names."""

    def source(self) -> Source:
        from indexes.source.source import Source

        return Source.find(self.tree, self.cache, self.extensions())

    def extensions(self) -> list[tuple[str, str]]:
        """The folders of extensions with the names to give them: those of the config file, then
        those of the command line."""
        from indexes.source.source import config_path

        named = [(folder, "") for folder in self.beside]
        if not (path := config_path()).exists():
            return named
        from navigator.sources import configured_sources

        return [*configured_sources(path), *named]

    def opener(self) -> Opener:
        """What the screen opens."""
        from navigator.tui.session import Opener

        return Opener(self.tree, self.cache, tuple(self.extensions()))

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

    def answer(self, value: Callable[[], object], text: Callable[[], Iterable[str]]) -> None:
        """Writes an answer as JSON or as lines for people, whichever was asked for."""
        if self.json:
            self.write(value())
        else:
            write_lines(text())

    def write(self, value: object) -> None:
        """Writes an answer as JSON, or its places alone."""
        if not self.places:
            write_json(value)
            return
        from indexes.serialize.answers import to_json
        from navigator.text.places_only import FORMATS, places

        written, info = FORMATS[self.places], self.source().info
        write_lines(written(info, one) for one in places(to_json(value)))


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
    except RuntimeError as error:  # before 3.12 Python makes it that where a class is made
        if isinstance(error.__cause__, KeyboardInterrupt):
            return EXIT_INTERRUPTED
        raise


def each_name(settings: Settings, name: str, answer: Callable[[str], None]) -> int:
    """Answers for a name, or for ``-`` for each line of stdin, in order; what one lacks is told and
    the others are answered. The exit code: the highest."""
    if name != "-":
        answer(name)
        return 0
    status = 0
    for line in filter(None, map(str.strip, sys.stdin)):
        status = max(status, _told(partial(answer, line), settings))
    return status


def _told(run: Callable[[], int | None], settings: Settings) -> int:
    try:
        return run() or 0
    except TorchnavError as error:
        return _tell(error, settings)
    except sqlite3.Error as error:
        return _tell(SourceError(f"the index can't be used: {error}"), settings)


def _tell(error: TorchnavError, settings: Settings) -> int:
    if settings.json and not settings.places:
        from indexes.serialize.answers import error_json

        write_json(error_json(error))
    say(f"torchnav: {error}")
    if error.suggestions:
        say(f"  near names: {', '.join(error.suggestions)}")
    if error.namesakes:
        say(f"  C++ namesakes: {', '.join(error.namesakes)}")
    return error.exit_code


# ------------------------------------------------------------- options and sub-commands

_F = TypeVar("_F", bound="Callable[..., Any]")


def _remember(context: click.Context, parameter: click.Parameter, value: object) -> object:
    if value not in (None, False):
        setattr(context.ensure_object(Settings), parameter.name or "", value)
    return value


def _add(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> None:
    context.ensure_object(Settings).beside += value


def _choose(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value:
        from indexes.source.torch_install import choose_python

        context.call_on_close(lambda: choose_python("", ""))
        choose_python(value, "--python")


def source_options(command: _F) -> _F:
    """``--tree``, ``--with``, ``--python`` and ``--cache``, which may stand before the command's
    name or after it."""
    tree = click.option(
        "--tree",
        metavar="PATH",
        callback=_remember,
        expose_value=False,
        help="The source tree: a checkout, or a folder in one. [env: TORCHNAV_CHECKOUT]",
    )
    beside = click.option(
        "--with",
        metavar="DIR",
        multiple=True,
        callback=_add,
        expose_value=False,
        help="An extension to index beside the tree; may be given several times.",
    )
    python = click.option(
        "--python",
        metavar="PATH",
        callback=_choose,
        expose_value=False,
        help="The Python whose torch is meant, and that runs programs.",
    )
    cache = click.option(
        "--cache",
        metavar="PATH",
        type=click.Path(file_okay=False, path_type=Path),
        callback=_remember,
        expose_value=False,
        help="Where indexes and clones are kept. [env: TORCHNAV_CACHE]",
    )
    return tree(beside(python(cache(command))))


class Choice(click.Choice[str]):
    """One word of a list. Raises UsageError with near words for another."""

    def __init__(self, choices: tuple[str, ...]) -> None:
        super().__init__(choices, case_sensitive=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            from indexes.queries.naming.near import near

            close = near(str(value), self.choices) or tuple(self.choices)
            name = param.opts[0] if param is not None and param.opts else "the option"
            raise UsageError(f"{name} has no {value!r}", close) from None


def json_option(command: _F) -> _F:
    """``--json``, for a command that answers."""
    option = click.option(
        "--json", is_flag=True, callback=_remember, expose_value=False, help="Answer as JSON."
    )
    return source_options(option(command))


def _places(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        settings = context.ensure_object(Settings)
        settings.json, settings.places = True, parameter.name or ""


def places_option(command: _F) -> _F:
    """``--json``, and the same without anything but places."""
    vimgrep = click.option(
        "--vimgrep",
        is_flag=True,
        callback=_places,
        expose_value=False,
        help="Places alone, as path:line:column:text: for :cexpr, M-x grep, code -g.",
    )
    link = click.option(
        "--link",
        is_flag=True,
        callback=_places,
        expose_value=False,
        help="Places alone, as pages on GitHub at the tree's commit.",
    )
    return vimgrep(link(json_option(command)))


def completed(what: str) -> Callable[..., list[Any]]:
    """What a shell completes: ``operators``, ``dispatch_keys`` or ``files`` of
    ``navigator.cli.completing``, which is imported when a shell asks."""

    def complete(*asked: Any) -> list[Any]:
        found: list[Any] = getattr(import_module("navigator.cli.completing"), what)(*asked)
        return found

    return complete


pass_settings = click.make_pass_decorator(Settings, ensure=True)


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for, and not for ``--help``."""

    def __init__(self, *args: Any, table: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        """``table`` names each command's function, ``module:function`` of
        ``navigator.cli.commands``, and what it does, for the list of commands."""
        super().__init__(*args, **kwargs)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.table:
            return None
        module, _, function = self.table[cmd_name][0].partition(":")
        command = getattr(import_module(f"navigator.cli.commands.{module}"), function)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in self.table.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.table:
            ctx.fail(f"No such command {args[0]!r}. {self._hint(args[0])}")
        return super().resolve_command(ctx, args)

    def _hint(self, name: str) -> str:
        from indexes.queries.naming.near import near

        close = near(name, self.table, limit=2)
        return f"Did you mean {' or '.join(close)}?" if close else f"Try: torchnav op {name}"


def mend_streams() -> None:
    """Opens what the caller has closed. A closed stdout refuses what is written, as it should; a
    closed stderr costs the words and not the answer."""
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:  # else the next file that is opened would get the number
            os.open(os.devnull, mode)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def write_json(value: object) -> None:
    """An answer, or a row of one, as a line of JSON. Raises TorchnavError as ``write_lines``."""
    from indexes.serialize.answers import dumps

    write_lines((json_text(dumps(value)),))


def write_lines(lines: Iterable[str]) -> None:
    """Text for people. Raises TorchnavError when it can't be written."""
    for line in lines:
        with _told_if_refused():
            sys.stdout.write(printable(line) + "\n")


def end_answer() -> None:
    """Writes what is left of the answer. Raises TorchnavError when it can't be written."""
    with _told_if_refused():
        sys.stdout.flush()


@contextlib.contextmanager
def _told_if_refused() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # Python flushes stdout once more as it ends; give it somewhere to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader has what it wanted
            raise
        raise TorchnavError(f"the answer can't be written: {error.strerror}") from error


def say(words: str) -> None:
    """Words beside the answer, on one line of stderr."""
    with contextlib.suppress(OSError):
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
