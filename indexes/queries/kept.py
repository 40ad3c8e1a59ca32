"""Answers kept beside an index, as long as nothing that they rest on has changed.

An answer is kept under the state of the tree that it was made from (``indexes.source.seen``) and of
the program that made it, so it is given again only where all of its sources are as they were.
"""

from __future__ import annotations

import os

from indexes.source.roots import short_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST = 2_000
"""Answers that are kept for a tree; with more, all are dropped."""
_HEAD = b"torchnav answer 2"


class Kept:
    """The answers for one state of one tree."""

    def __init__(self, index: str, state: str, program: str) -> None:
        self._index = index
        self._folder = _folder(index)
        self._stamp = f"{state} {program}".encode()

    @staticmethod
    def holds(index: str, question: Sequence[str]) -> bool:
        """Whether an answer is there, be it for this state or another."""
        return os.path.exists(_file(index, question))

    def get(self, question: Sequence[str]) -> tuple[int, bytes, bytes] | None:
        """The exit code, the output of an answer and what was said beside it."""
        try:
            with open(_file(self._index, question), "rb") as file:
                head, stamp, asked, numbers, written = file.read().split(b"\n", 4)
            status, length = map(int, numbers.split())
        except (OSError, ValueError):
            return None
        if (head, stamp, asked) != (_HEAD, self._stamp, _key(question)):
            return None
        return status, written[:length], written[length:]

    def put(self, question: Sequence[str], status: int, output: bytes, beside: bytes) -> None:
        """Keeps an answer, at once or not at all. Raises OSError."""
        self._make_room()
        numbers = f"{status} {len(output)}".encode()
        head = (_HEAD, self._stamp, _key(question), numbers, output + beside)
        file = _file(self._index, question)
        aside = f"{file}.{os.getpid()}"
        with open(aside, "wb") as opened:
            opened.write(b"\n".join(head))
        os.replace(aside, file)

    def _make_room(self) -> None:
        """Drops the answers for another state, and all when there are too many."""
        mark = os.path.join(self._folder, "state")
        os.makedirs(self._folder, exist_ok=True)
        names = os.listdir(self._folder)
        if _read(mark) == self._stamp and len(names) <= MOST:
            return
        for name in names:
            os.remove(os.path.join(self._folder, name))
        with open(mark, "wb") as file:
            file.write(self._stamp)


def _folder(index: str) -> str:
    return f"{index}.answers"


def _file(index: str, question: Sequence[str]) -> str:
    return os.path.join(_folder(index), short_hash(_key(question), 12))


def program_state(folders: Iterable[str]) -> str:
    """A name for the program as it is, by the times and sizes of its modules."""
    count, total = 0, 0
    pending = list(folders)
    while pending:
        for entry in os.scandir(pending.pop()):
            if entry.name.endswith(".py"):
                found = entry.stat()
                count, total = count + 1, total + found.st_mtime_ns + found.st_size
            elif entry.is_dir() and not entry.name.startswith("__"):
                pending.append(entry.path)
    return f"{count}-{total:x}"


def _key(question: Sequence[str]) -> bytes:
    return "\0".join(question).encode("utf-8", "surrogateescape").replace(b"\n", b"\0n")


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
