"""Names of recordings: a file of its own for each rank and process.

Imports neither torch nor anything of ours, so that the command line can use it too.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_RANK = re.compile(r"%r|\{rank\}")
_PID = re.compile(r"\{pid\}")
_NUMBER = re.compile(r"rank[\W_]{0,2}(\d+)", re.IGNORECASE)
_ALONE = "main"
"""The rank in the name of a process without one, such as ``torchrun`` itself."""
_TRIES = 10_000
_HIGH = 512
"""Our descriptors start here: the program keeps the numbers it would have without us, and may close
them all. Below the usual limit of 1,024 per process."""


def rank_of(environ: Mapping[str, str] = os.environ) -> int | None:
    """The rank that ``torchrun`` gave this process, or None."""
    text = environ.get("RANK", "")
    return int(text) if text.isascii() and text.isdecimal() else None


def expand(pattern: str, rank: int | None, pid: int) -> str:
    """The path with ``%r`` or ``{rank}`` and ``{pid}`` filled in.

    Without any of them, the rank is appended, unless the name has it already.
    """
    path = _RANK.sub(_ALONE if rank is None else str(rank), pattern)
    path = _PID.sub(str(pid), path)
    if path != pattern or rank is None or _names_rank(path, rank):
        return path
    return with_suffix(path, f"rank{rank}")


def any_process(pattern: str) -> str:
    """A ``glob`` pattern for the files of all processes."""
    parts = re.split(f"{_RANK.pattern}|{_PID.pattern}", pattern)
    escaped = "*".join(re.sub(r"([*?[])", r"[\1]", part) for part in parts)
    return escaped if len(parts) > 1 else with_suffix(escaped, "*")


def with_suffix(path: str, word: str) -> str:
    """``run.json.gz`` and ``rank0`` make ``run-rank0.json.gz``."""
    root, ending = os.path.splitext(path)
    if ending == ".gz":
        root, inner = os.path.splitext(root)
        ending = inner + ending
    return f"{root}-{word}{ending}"


def open_free(path: str, since: float | None = None) -> tuple[int, str]:
    """Open ``path`` for writing, emptied, or a similar name if another process writes there.

    Files written after ``since``, in seconds since the epoch, are kept too. Returns the descriptor
    and the path. Raises OSError.
    """
    descriptor = _above_standard_streams(os.open(path, _flags(), 0o666))
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return descriptor, path
    newer = since is not None and status.st_size > 0 and status.st_mtime >= since
    if not newer and _lock(descriptor):
        os.ftruncate(descriptor, 0)
        return descriptor, path
    os.close(descriptor)
    return _open_alternative(path)


def _open_alternative(path: str) -> tuple[int, str]:
    for other in (with_suffix(path, str(number)) for number in range(2, _TRIES)):
        try:
            descriptor = _above_standard_streams(os.open(other, _flags() | os.O_EXCL, 0o666))
        except FileExistsError:
            continue
        _lock(descriptor)
        return descriptor, other
    raise FileExistsError(f"{path} is being written, and so is every alternative name")


def _above_standard_streams(descriptor: int) -> int:
    """The same open file under a high number, if one is free."""
    try:
        high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    except (AttributeError, OSError):  # Windows; a lower limit of open files
        return descriptor
    os.close(descriptor)
    return high


def _flags() -> int:
    return os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0)


def _lock(descriptor: int) -> bool:
    """Whether this process gets the file, until it and its forks close it; true without locks."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _names_rank(path: str, rank: int) -> bool:
    found = _NUMBER.findall("/".join(path.replace(os.sep, "/").split("/")[-2:]))
    return bool(found) and int(found[-1]) == rank
