"""Output on stdout and stderr: colours, links to places, the pager, a build's progress.

Text passes ``navigator.text.clean`` first; colours and links are added only here, and never in a
pipe.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

import click

from indexes.model.errors import Progress, TorchnavError
from indexes.model.regex import regex
from navigator.text.clean import clean, printable

if TYPE_CHECKING:
    from indexes.queries.index import Index

Color = Literal["auto", "always", "never"]
FILE_LINKS = "file://{host}{path}"
"""Default URL of a place; the config file can set another."""
_LESS = "less -FRX"
_INDENT = "    "
_PLACE = regex(r"(?<![\w.@-])(?P<path>[@/]?(?:[\w.+-]+/)*[\w.+-]*\.[A-Za-z]\w*):(?P<line>\d+)\b")
_LABEL = regex(r" (?=\S)[\w ]{8} (?=\S)")
"""The first column of a card."""
_DOUBT = regex(r"\b(?:ambiguous|unresolved|not resolved|unknown)\b")


@dataclass
class Terminal:
    """Prints answers to stdout, for people or programs."""

    color: Color = "auto"
    pager: bool = True
    """Whether answers longer than the screen go through a pager."""
    links: str = FILE_LINKS
    """URL of a place, with ``{path}``, ``{line}`` and ``{host}``; empty for no links."""
    find_file: Callable[[str], str] | None = None
    """Maps a path in an answer to the full path of its file; empty if unknown."""
    _held: list[str] = field(default_factory=list)
    """Lines held back until it is known whether they fit on the screen."""

    def link_places(self, index: Index) -> None:
        """Links places in answers to the files of an index."""
        if _is_terminal():
            from indexes.source.source import config_path
            from navigator.sources import configured_links

            self.links = configured_links(config_path(), self.links)
            self.find_file = partial(_on_disk, index)

    def write(self, lines: Iterable[str], *, held: bool = False) -> None:
        """Prints lines for people. Raises TorchnavError on errors.

        Parameters:
            held: They belong to an answer that may go through a pager.
        """
        safe = map(printable, lines)
        if held and self.pager and _is_terminal() and sys.stdin.isatty() and _choose_pager():
            self._held.extend(safe)
            return
        self.release()
        for line in self._styled(safe, links=True):
            self._put(line)

    def write_data(self, lines: Iterable[str]) -> None:
        """Prints lines for programs, unchanged. Raises as ``write``."""
        self.release()
        for line in lines:
            self._put(printable(line))

    def release(self) -> None:
        """Prints the held lines without a pager."""
        held, self._held = self._held, []
        for line in self._styled(held, links=True):
            self._put(line)

    def end(self) -> None:
        """Prints the held lines, through a pager if they exceed the screen. Raises as ``write``."""
        if self._held and not _fits(self._held):
            held, self._held = self._held, []
            lines = self._styled(held, links=False)  # older pagers print links' escapes
            click.echo_via_pager((f"{line}\n" for line in lines), color=self._is_coloured())
            return
        self.release()
        with _report_refused_writes():
            sys.stdout.flush()

    def _put(self, line: str) -> None:
        with _report_refused_writes():
            if "\x1b" in line:
                click.echo(line, color=True)
            else:
                sys.stdout.write(line + "\n")

    def _is_coloured(self) -> bool:
        """The option wins, then https://no-color.org and https://force-color.org."""
        if self.color != "auto":
            return self.color == "always"
        if os.environ.get("NO_COLOR"):
            return False
        return bool(os.environ.get("FORCE_COLOR")) or _is_terminal()

    def _styled(self, lines: Iterable[str], *, links: bool) -> Iterator[str]:
        """Lines with colours and links, if they go to a terminal."""
        linked = links and self.color != "never" and bool(self.links) and _is_terminal()
        coloured = self._is_coloured()
        if not (coloured or linked):
            yield from lines
            return
        link = self._linked if linked else _without_link
        for line, after in _with_next(lines):
            yield _coloured(line, after, link) if coloured else _with_places(line, link)

    def _linked(self, text: str, path: str, line: str) -> str:
        """A place as an OSC 8 link, if its file is known."""
        full = self.find_file(path) if self.find_file else ""
        if not full:
            return text
        rooted = full if full.startswith("/") else f"/{full}"
        address = clean(self.links).replace("/{path}", "{path}")
        for name, value in (("path", quote(rooted)), ("line", line), ("host", _host())):
            address = address.replace(f"{{{name}}}", value)
        return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"


def _on_disk(index: Index, path: str) -> str:
    """The file for a path in an answer, which may lack folders; empty if not found."""
    if os.path.isabs(path):
        return path if os.path.exists(path) else ""
    if "/" not in path and path.endswith(".py"):  # perhaps of the user's program
        return os.path.abspath(path) if os.path.exists(path) else ""
    root, _, rest = path.rpartition(".../")
    found = [one for one in index.facts.paths_ending(rest) if one.startswith(root)]
    if len(found) == 1:
        from indexes.source.permalinks import file_of

        return str(file_of(index.info, found[0]))
    return os.path.abspath(path) if not found and os.path.exists(path) else ""


Link = Callable[[str, str, str], str]


def _without_link(text: str, _path: str, _line: str) -> str:
    return text


def _with_places(line: str, link: Link) -> str:
    """Turns each place in a line into a link."""
    return _PLACE.sub(lambda found: link(found[0], found["path"], found["line"]), line)


def _coloured(line: str, after: str, link: Link) -> str:
    """Colours a line: places, labels, headings, uncertain links, source code."""
    if line.startswith("source: "):
        return click.style(line, dim=True)
    is_heading = line[:1].strip() and after.startswith(_INDENT)
    label = _LABEL.match(line)
    end = len(line) if is_heading else label.end() if label else 0
    return (click.style(line[:end], bold=True) if end else "") + _body(line[end:], link)


def _body(text: str, link: Link) -> str:
    pieces, end = [], 0
    for found in _PLACE.finditer(text):
        place = click.style(found[0], fg="cyan")
        pieces += [_doubtful(text[end : found.start()]), link(place, found["path"], found["line"])]
        end = found.end()
    return "".join([*pieces, _doubtful(text[end:])])


def _doubtful(text: str) -> str:
    return _DOUBT.sub(lambda found: click.style(found[0], fg="yellow"), text)


def _with_next(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs each line with the next one."""
    before: str | None = None
    for line in chain(lines, ("",)):
        if before is not None:
            yield before, line
        before = line


def _is_terminal() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


def _host() -> str:
    return quote(socket.gethostname())


def _fits(lines: Iterable[str]) -> bool:
    """Whether the lines and the prompt below them fit on the screen."""
    columns, rows = shutil.get_terminal_size()
    return sum(1 + max(0, len(line) - 1) // columns for line in lines) < rows


def _choose_pager() -> bool:
    """Sets click's pager to ``TORCHNAV_PAGER``, ``PAGER`` or less; False if there is none."""
    named = os.environ.get("TORCHNAV_PAGER", os.environ.get("PAGER", _LESS))
    try:
        program = shlex.split(named)[:1]
    except ValueError:
        return False
    if not program or program == ["cat"] or shutil.which(program[0]) is None:
        return False
    os.environ["PAGER"] = named
    os.environ.setdefault("LESS", "FRX")
    return True


@contextlib.contextmanager
def _report_refused_writes() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # Python flushes stdout at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader has closed the pipe
            raise
        raise TorchnavError(f"cannot write the answer: {error.strerror}") from error


class ProgressLine:
    """One line of build progress on stderr, if that is a terminal."""

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


_WITHOUT_SCREEN = ("dumb", "unknown")
"""Values of TERM of terminals without cursor movement."""


def why_no_screen() -> str:
    """Why no screen can be shown here, or empty."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return "the screen needs a terminal; in a pipe"
    term = os.environ.get("TERM", "")
    if term in _WITHOUT_SCREEN:
        return f"a terminal with TERM={term} cannot show the screen; there"
    return ""


def reopen_closed_streams() -> None:
    """Reopens closed streams: stdout then refuses output, stderr discards it."""
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:  # else the next opened file would get the number
            os.open(os.devnull, mode)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
