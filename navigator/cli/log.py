"""The log file: actions with ``--verbose``, and tracebacks of torchnav's own bugs."""

from __future__ import annotations

import logging
import sys
import traceback
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

from indexes.source.source import cache_folder
from navigator.text.clean import printable

_LOG = logging.getLogger("torchnav")
_MOST_BYTES = 1_000_000
"""Maximum size of the log file; one older file is kept."""


class _Formatter(logging.Formatter):
    """Escapes control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


def log_file(cache: Path | None) -> Path:
    """The path of the log, in the cache folder."""
    return (cache or cache_folder()) / "torchnav.log"


def log_to_file(cache: Path | None) -> None:
    """Start logging into the file, if it can be opened."""
    path = log_file(cache)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _add(RotatingFileHandler(path, maxBytes=_MOST_BYTES, backupCount=1, encoding="utf-8"))
    except OSError as error:
        _LOG.warning("no log file: %s", error)


def log_to_stderr() -> None:
    """Start logging to stderr."""
    _add(logging.StreamHandler())


def end_log() -> None:
    """Close the log's files."""
    for handler in _LOG.handlers[:]:
        _LOG.removeHandler(handler)
        handler.close()


def _add(handler: logging.Handler) -> None:
    handler.setFormatter(_Formatter("%(asctime)s.%(msecs)03d %(message)s", "%Y-%m-%dT%H:%M:%S"))
    _LOG.addHandler(handler)
    _LOG.setLevel(logging.DEBUG)
    _LOG.propagate = False


def report_defect(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """``sys.excepthook``: logs uncaught exceptions, which are bugs of torchnav."""
    log_to_file(None)
    _LOG.error("torchnav failed", exc_info=(kind, error, trace))
    end_log()
    print(
        printable("".join(traceback.format_exception(kind, error, trace))),
        "torchnav: this is a defect of torchnav. Please report it with what"
        " `torchnav doctor --report` prints.",
        sep="",
        file=sys.stderr,
    )
