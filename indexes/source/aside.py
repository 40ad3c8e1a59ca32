"""Writes files aside and renames them into place, and removes what killed writers left.

A writer holds a lock beside its file. The system releases it however the writer ends, so whoever
gets the lock knows that nobody writes any more.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from indexes.source.files import listed, modified

try:
    import fcntl
except ImportError:  # Windows: there age alone tells
    fcntl = None  # type: ignore[assignment]

ENDING = ".building"
_LOCK = ".lock"
_CUT_OFF = 24 * 3600.0
"""Age in seconds of an abandoned file, where locks are unavailable."""


@contextlib.contextmanager
def written_aside(path: Path) -> Iterator[Path]:
    """A temporary file beside ``path``, to be written and renamed; otherwise it is removed.

    Raises:
        OSError: It cannot be created.
    """
    handle, name = tempfile.mkstemp(ENDING, f"{path.name}.", path.parent)
    os.close(handle)
    lock = _new_lock(name)
    try:
        yield Path(name)
    finally:
        _remove(name, f"{name}{_LOCK}")
        if lock is not None:
            os.close(lock)


@contextlib.contextmanager
def written_over(path: Path) -> Iterator[Path]:
    """A temporary file that replaces ``path`` on success. What is not a regular file, such as a
    pipe, is written directly.

    Raises:
        OSError: It cannot be created, or renamed.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        yield path
        return
    with written_aside(target) as aside:
        yield aside
        aside.chmod(target.stat().st_mode if target.exists() else 0o666 & ~_umask())
        os.replace(aside, target)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def left_over(path: Path) -> bool:
    """Whether a temporary file has no writer any more."""
    lock = f"{path}{_LOCK}"
    return _is_old(path) if not os.path.exists(lock) else _is_free(lock)


def clear(folder: Path) -> None:
    """Removes what killed writers left in a folder."""
    for path in listed(folder, f"*{ENDING}"):
        if left_over(path):
            _remove(path, f"{path}{_LOCK}")
    # Their locks, and journals of SQLite; also of writers killed as they came or went.
    for beside in listed(folder, f"*{ENDING}?*"):
        if not os.path.exists(f"{beside}".rpartition(ENDING)[0] + ENDING) or _is_old(beside):
            _remove(beside)


def _is_old(path: Path) -> bool:
    return 0 < modified(path) < time.time() - _CUT_OFF


def _is_free(lock: str) -> bool:
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return _locked(handle)
    finally:
        os.close(handle)


def _new_lock(name: str) -> int | None:
    """A lock file for a name, locked before anyone sees it; None without locks."""
    if fcntl is None:
        return None
    handle, made = tempfile.mkstemp("", f"{os.path.basename(name)}{_LOCK}", os.path.dirname(name))
    if not _locked(handle):
        os.close(handle)
        _remove(made)
        return None
    os.replace(made, f"{name}{_LOCK}")
    return handle


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove(*paths: str | Path) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            os.unlink(path)
