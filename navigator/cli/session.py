"""What commands share: options, the source, the index, error messages, open streams."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import shlex
import sqlite3
import sys
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from indexes.model.errors import SourceError, TorchnavError, UsageError, brief
from navigator.cli.terminal import Color, ProgressLine, Terminal, reopen_closed_streams
from navigator.text.clean import clean, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from indexes.model.vocabulary import Problem
    from indexes.queries.index import Index
    from indexes.source.source import Source
    from navigator.tui.session import Opener

EXIT_INTERRUPTED = 130
_LOG = logging.getLogger("torchnav")
_WARNINGS = 3


@dataclass(slots=True)
class Settings:
    """The options that all commands share."""

    tree: str | None = None
    cache: Path | None = None
    json: bool = False
    """Print answers as JSON, or only their places."""
    places: str = ""
    """Format of places if only these are printed: ``vimgrep`` or ``link``."""
    extension_folders: tuple[str, ...] = ()
    """The folders of extensions that ``--with`` names."""
    terminal: Terminal = field(default_factory=Terminal)
    verbose: bool = False
    """Log actions on stderr and in the log file."""

    def source(self) -> Source:
        from indexes.source.source import Source

        return Source.find(self.tree, self.cache, self.extensions())

    def extensions(self) -> list[tuple[str, str]]:
        """Folders of extensions with names, from the config file and the command line."""
        from indexes.source.source import config_path

        named = [(folder, "") for folder in self.extension_folders]
        if not os.path.exists(path := config_path()):
            return named
        from navigator.sources import configured_sources

        return [*configured_sources(path), *named]

    def opener(self) -> Opener:
        """The screen's source of sessions."""
        from navigator.tui.session import Opener

        return Opener(self.tree, self.cache, tuple(self.extensions()))

    def index(self) -> Index:
        """The index of the tree; built first if needed, with progress on stderr."""
        index = self._up_to_date()
        self.terminal.link_places(index)
        if index.report.damaged:
            say(f"torchnav: {index.report.damaged}; it was rebuilt")
        for line in _warnings(index.problems()):
            say(f"torchnav: {line}")
        return index

    def _up_to_date(self) -> Index:
        from indexes.queries.index import Index

        source = self.source()
        _LOG.debug("tree: %s (%s)", source.top, source.kind)
        with ProgressLine() as progress:
            index = Index.open(source, self.cache, progress=progress)
        _LOG.debug("index: %s", index.report)
        return index

    def answer(self, value: Callable[[], object], text: Callable[[], Iterable[str]]) -> None:
        """Prints an answer as JSON or as text, whichever was requested."""
        if self.json:
            self.write(value())
        else:
            self.terminal.write(text(), held=True)

    def write_rows(self, rows: Iterable[object]) -> None:
        """Prints one line of JSON for each row."""
        for row in rows:
            self.write(row)

    def write(self, value: object) -> None:
        """Prints an answer as JSON, or only its places."""
        from indexes.serialize.answers import dumps, to_json

        if not self.places:
            self.terminal.write_data((dumps(value),))
            return
        from navigator.text.places_only import FORMATS, places

        written, info = FORMATS[self.places], self.source().info
        self.terminal.write_data(written(info, place) for place in places(to_json(value)))


def _warnings(problems: Iterable[Problem]) -> Iterator[str]:
    """A few problems of the YAML files, or only the one that concerns the whole tree."""
    found = [problem for problem in problems if problem.path.endswith(".yaml")]
    if whole := [one.message for one in found if not one.line]:
        yield from whole
        return
    for one in found[:_WARNINGS]:
        yield f"{one.place}: {one.message}"
    if len(found) > _WARNINGS:
        yield f"{len(found) - _WARNINGS:,} more problems like these: torchnav doctor"


def guarded(run: Callable[[], int], settings: Settings) -> int:
    """Calls ``run`` and prints its errors; returns the exit code."""
    reopen_closed_streams()
    try:
        status = _exit_code(run, settings)
        return _exit_code(settings.terminal.end, settings) or status
    except BrokenPipeError:  # the reader has closed the pipe
        return 0
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except RuntimeError as error:  # Python before 3.12 wraps errors of class creation
        if isinstance(error.__cause__, KeyboardInterrupt):
            return EXIT_INTERRUPTED
        raise
    finally:
        if settings.verbose:
            from navigator.cli.log import end_log

            end_log()


def each_name(settings: Settings, name: str, answer: Callable[[str], None]) -> int:
    """Answers for a name or, for ``-``, each line of stdin, in order. Errors are printed and the
    next name is answered. Returns the highest exit code."""
    if name != "-":
        answer(name)
        return 0
    status = 0
    for line in filter(None, map(str.strip, sys.stdin)):
        status = max(status, _exit_code(partial(answer, line), settings))
    return status


def _exit_code(run: Callable[[], int | None], settings: Settings) -> int:
    try:
        return run() or 0
    except TorchnavError as error:
        return _report(error, settings)
    except sqlite3.Error as error:
        return _report(SourceError(f"cannot use the index: {error}"), settings)
    except MemoryError:
        return _report(TorchnavError("there is not enough memory"), settings)
    except OSError as error:
        if error.errno not in _SCARCE:
            raise
        return _report(TorchnavError(f"the system refuses: {error.strerror}"), settings)


_SCARCE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
"""Exhausted resources (open files, memory, processes) are no bug of a command."""


def write_error(error: TorchnavError, settings: Settings) -> None:
    """Writes an error as JSON if the answer would be."""
    if settings.json and not settings.places:
        from indexes.serialize.answers import dumps, error_json

        settings.terminal.write_data((dumps(error_json(error)),))


def _report(error: TorchnavError, settings: Settings) -> int:
    write_error(error, settings)
    _LOG.debug("exit code %d: %s", error.exit_code, error)
    say(f"torchnav: {error}")
    if error.suggestions:
        say(f"  near names: {', '.join(error.suggestions)}")
    if error.namesakes:
        say(f"  C++ namesakes: {', '.join(error.namesakes)}")
    return error.exit_code


# ------------------------------------------------------------- options and sub-commands

_F = TypeVar("_F", bound="Callable[..., Any]")
_settings_option = partial(click.option, expose_value=False)
"""An option whose callback stores its value in the settings."""


def _remember(context: click.Context, parameter: click.Parameter, value: object) -> object:
    if value not in (None, False):
        setattr(context.ensure_object(Settings), parameter.name or "", value)
    return value


def _add_extension(
    context: click.Context, parameter: click.Parameter, value: tuple[str, ...]
) -> None:
    context.ensure_object(Settings).extension_folders += value


def _choose_python(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value:
        from indexes.source.torch_install import choose_python

        context.call_on_close(lambda: choose_python("", ""))
        choose_python(value, "--python")


class Choice(click.Choice[str]):
    """A word from a list. Raises UsageError with similar words for others."""

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


def _of_terminal(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value is not None and value != parameter.default:
        setattr(context.ensure_object(Settings).terminal, parameter.name or "", value)


def _verbose(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    settings = context.ensure_object(Settings)
    if value and not settings.verbose:
        from navigator.cli.log import log_to_file, log_to_stderr

        settings.verbose = True
        log_to_stderr()
        log_to_file(settings.cache)
        _LOG.debug("command: %s", shlex.join(sys.argv))


def terminal_options(command: _F) -> _F:
    """Adds ``--color``, ``--no-pager`` and ``--verbose``, before or after the command's name."""
    color = _settings_option(
        "--color",
        type=Choice(get_args(Color)),
        metavar="WHEN",
        callback=_of_terminal,
        help="auto (on a terminal), always or never. [env: NO_COLOR, FORCE_COLOR]",
    )
    pager = _settings_option(
        "--no-pager",
        "pager",
        flag_value=False,
        default=None,
        callback=_of_terminal,
        help="Do not page long answers. [env: TORCHNAV_PAGER, PAGER]",
    )
    verbose = _settings_option(
        "--verbose",
        is_flag=True,
        callback=_verbose,
        help="Print what torchnav does to stderr and to its log file (see doctor).",
    )
    return color(pager(verbose(command)))


def source_options(command: _F) -> _F:
    """Adds ``--tree``, ``--with``, ``--python``, ``--cache`` and the terminal's options, before or
    after the command's name."""
    tree = _settings_option(
        "--tree",
        metavar="PATH",
        callback=_remember,
        help="The source tree: a checkout or a folder in it. [env: TORCHNAV_CHECKOUT]",
    )
    extensions = _settings_option(
        "--with",
        metavar="DIR",
        multiple=True,
        callback=_add_extension,
        help="An extension to index with the tree; repeatable.",
    )
    python = _settings_option(
        "--python",
        metavar="PATH",
        callback=_choose_python,
        help="The Python whose torch is used, and that runs programs.",
    )
    cache = _settings_option(
        "--cache",
        metavar="PATH",
        type=click.Path(file_okay=False, path_type=Path),
        is_eager=True,  # the log for --verbose exists already
        callback=_remember,
        help="Where indexes and clones are kept. [env: TORCHNAV_CACHE]",
    )
    return tree(extensions(python(cache(terminal_options(command)))))


def json_option(command: _F) -> _F:
    """Adds ``--json``."""
    option = _settings_option(
        "--json",
        is_flag=True,
        is_eager=True,  # errors in other options are JSON too
        callback=_remember,
        help="Answer as JSON.",
    )
    return source_options(option(command))


def _places(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        settings = context.ensure_object(Settings)
        settings.json, settings.places = True, parameter.name or ""


def places_option(command: _F) -> _F:
    """Adds ``--json`` and the options that print only places."""
    vimgrep = _settings_option(
        "--vimgrep",
        is_flag=True,
        callback=_places,
        help="Print only places, as path:line:column:text, for Vim, Emacs and VS Code.",
    )
    link = _settings_option(
        "--link",
        is_flag=True,
        callback=_places,
        help="Print only places, as GitHub links at the tree's commit.",
    )
    return vimgrep(link(json_option(command)))


def completed(what: str) -> Callable[..., list[Any]]:
    """A shell completion: ``operators``, ``dispatch_keys`` or ``files`` of
    ``navigator.cli.completing``, which is imported when a shell asks."""

    def complete(*asked: Any) -> list[Any]:
        found: list[Any] = getattr(import_module("navigator.cli.completing"), what)(*asked)
        return found

    return complete


pass_settings = click.make_pass_decorator(Settings, ensure=True)


def write_page(settings: Settings, where: str, text: str) -> None:
    """Writes Markdown into a file, or to stdout for ``-``. Raises UsageError on errors."""
    if where == "-":
        settings.terminal.write(text.splitlines())
        return
    try:
        Path(where).write_text(printable(text), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {where}: {error.strerror or error}") from error
    say(f"wrote {where}")


def say(words: str) -> None:
    """Prints a message on one line of stderr."""
    with contextlib.suppress(OSError):
        print(clean(brief(words)), file=sys.stderr)
