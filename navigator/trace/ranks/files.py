"""Finds traces of ranks in a folder, by a pattern, or at a URL."""

from __future__ import annotations

import glob
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from indexes.model.errors import TorchnavError, UsageError

_NAMES = re.compile(r"\.json(\.\w+)?$")
"""``rank0.json``, and compressed ones: ``rank0.json.gz``, ``rank0.json.zst``."""


def rank_files(where: str) -> list[str]:
    """The files that may be traces of ranks, ``rank2`` before ``rank10``.

    Parameters:
        where: A folder, searched recursively; a pattern, ``traces/rank*.json``; or either of them
            at a URL that fsspec supports, ``s3://bucket/run``.

    Raises:
        UsageError: The folder does not exist, no file matches, or the URL cannot be read.
    """
    if is_url(where):
        found = _at_url(where)
    elif os.path.isdir(where):
        found = [str(path) for path in Path(where).rglob("*") if os.path.isfile(path)]
    elif glob.has_magic(where):
        return sorted(glob.glob(where, recursive=True), key=_by_numbers)
    else:
        raise UsageError(f"no such folder: {where}")
    return sorted((one for one in found if _NAMES.search(one)), key=_by_numbers)


def is_url(where: str) -> bool:
    """Whether fsspec is needed."""
    return "://" in where


@contextmanager
def local_file(file: str) -> Iterator[Path]:
    """The file on this machine; for a URL, a temporary copy.

    Raises:
        UsageError: The URL cannot be read.
    """
    if not is_url(file):
        yield Path(file)
        return
    with tempfile.TemporaryDirectory(prefix="torchnav-") as folder:
        copy = Path(folder, os.path.basename(file))
        with _one_line_errors(file), fsspec().open(file) as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target)
        yield copy


def fsspec() -> ModuleType:
    """The fsspec library. Raises UsageError if it is not installed."""
    try:
        import fsspec as library
    except ImportError as error:
        raise UsageError("URLs need fsspec: pip install 'torchnav[cluster]'") from error
    return library  # type: ignore[no-any-return]


def _at_url(where: str) -> list[str]:
    library = fsspec()
    with _one_line_errors(where):
        system, path = library.url_to_fs(where)
        found = system.glob(path) if glob.has_magic(path) else system.find(path)
        return [str(system.unstrip_protocol(one)) for one in found]


@contextmanager
def _one_line_errors(url: str) -> Iterator[None]:
    """Turns the various errors of file systems into a one-line UsageError."""
    try:
        yield
    except TorchnavError:
        raise
    except Exception as error:
        text = next(iter(str(error).splitlines()), "")
        raise UsageError(f"{url} cannot be read: {type(error).__name__}: {text}") from error


def _by_numbers(path: str) -> list[tuple[int, str]]:
    """Sort key: ``rank2`` before ``rank10``."""
    parts = re.split(r"(\d+)", path)
    return [(int(part), "") if part.isdecimal() else (0, part) for part in parts]
