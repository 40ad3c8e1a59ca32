"""A parsed file for the source pane, and a cache of such files."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

from indexes.model.errors import SourceError, TorchnavError
from indexes.model.regex import regex
from indexes.source.files import read_text
from navigator.tui.source.highlight import Span, colourer
from navigator.tui.text import source_lines

_NAME = regex(r"[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)*")
_LARGEST_SOURCE = 8 << 20


class Document:
    """The lines of a file, coloured on demand."""

    def __init__(self, path: str, text: str) -> None:
        """Parses the file, up to 40 ms for large ones: not for the event loop."""
        self.path = path
        self.lines: Sequence[str] = source_lines(text)
        self.width = max(map(len, self.lines), default=0)
        self._colourer = colourer(path, self.lines)
        self._spans: dict[int, list[Span]] = {}

    def spans(self, row: int) -> Sequence[Span]:
        """The coloured spans of a line, counted from 0."""
        self.colour(range(row, row + 1))
        return self._spans.get(row, ())

    def colour(self, rows: range) -> None:
        """Colour several lines at once, which is faster than one by one."""
        missing = [row for row in rows if 0 <= row < len(self.lines) and row not in self._spans]
        if self._colourer is not None and missing:
            self._spans |= self._colourer.spans(missing[0], missing[-1])

    def name_at(self, row: int, column: int) -> str:
        """The C++ or Python name at a position, with its qualifiers, or empty."""
        if not 0 <= row < len(self.lines):
            return ""
        for match in _NAME.finditer(self.lines[row]):
            if match.start() <= column < match.end():
                return match.group()
        return ""

    def find(self, needle: str) -> list[tuple[int, int]]:
        """Every (line, column) of a text; case matters only if it contains capitals."""
        fold = needle == needle.lower()
        pattern = re.compile(re.escape(needle), re.IGNORECASE if fold else 0)
        return [
            (row, match.start())
            for row, line in enumerate(self.lines)
            for match in pattern.finditer(line)
        ]


class DocumentCache:
    """A cache of the last files that were read and parsed. Thread-safe."""

    def __init__(self, read: Callable[[str], str], size: int = 24) -> None:
        self._read = read
        self._size = size
        self._documents: OrderedDict[str, Document] = OrderedDict()
        self._reading: dict[str, Lock] = {}
        self._lock = Lock()

    def document(self, path: str) -> Document:
        """The file at ``path``, read if needed. Errors are those of ``read``."""
        with self._lock:
            reading = self._reading.setdefault(path, Lock())
        with reading:  # others wait while one thread reads it
            document = self.cached(path)
            if document is None:
                document = Document(path, self._read(path))
                self._put(document)
            return document

    def cached(self, path: str) -> Document | None:
        """The file at ``path``, if it is in the cache."""
        with self._lock:
            document = self._documents.get(path)
            if document is not None:
                self._documents.move_to_end(path)
        return document

    def ahead(self, path: str) -> None:
        """Read a file that may be needed soon; ignores errors."""
        with suppress(TorchnavError):
            self.document(path)

    def forget(self, path: str) -> None:
        """Drop a file that may have been edited."""
        with self._lock:
            self._documents.pop(path, None)

    def _put(self, document: Document) -> None:
        with self._lock:
            self._documents[document.path] = document
            while len(self._documents) > self._size:
                self._documents.popitem(last=False)


_USERS_SOURCE = frozenset(".py .pyw .c .cc .cpp .cxx .cu .cuh .h .hpp .hip .mm .metal".split())
"""Extensions of files that may define what a program runs."""


def read_users_source(path: str) -> str:
    """A file of the user's program on this machine. Raises SourceError with the reason.

    Traces are not trusted: only plain source files are read.
    """
    file = Path(path)
    try:
        if file.suffix not in _USERS_SOURCE or not file.is_file():
            raise SourceError(f"{path} is not on this machine")
        return read_text(file, _LARGEST_SOURCE)
    except OSError as error:
        raise TorchnavError(f"cannot read {path}: {error.strerror}") from error
