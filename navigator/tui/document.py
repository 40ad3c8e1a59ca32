"""A file as the source pane shows it."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock

from indexes.regex import regex
from navigator.tui.highlight import Colourer, Span, colourer, part_colourer
from navigator.tui.text import source_lines

_NAME = regex(r"[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)*")
_AROUND = 400
"""Lines above and below the wanted one that are parsed first; that takes 3 ms."""
_BLOCK = 64
"""Lines coloured at a time: about a screenful."""


class Document:
    """The lines of a file, and the colours of those that were asked for."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.lines: Sequence[str] = source_lines(text)
        self.width = max(map(len, self.lines), default=0)
        self._colourer: Colourer | None = None
        self._spans: dict[int, list[Span]] = {}

    is_parsed = False
    """Whether the colours are those of the whole file."""

    def parse(self) -> None:
        """Get ready to colour; up to 40 ms for the largest files, so not on the event loop."""
        found = colourer(self.path, self.lines)
        self._spans = {}
        self._colourer = found
        self.is_parsed = True

    def parse_around(self, line: int) -> None:
        """The same, of a large file only for the lines around one: quickly, and right but for
        rare comments and strings that begin far above."""
        if len(self.lines) < 2 * _AROUND:
            self.parse()
            return
        first = self._outside(max(0, line - _AROUND))
        lines = self.lines[first : line + _AROUND]
        self._colourer = part_colourer(self.path, lines, first)

    def _outside(self, row: int) -> int:
        """The row behind the closing brace next above, where C++ is outside of functions."""
        above = (at for at in range(row, max(0, row - _AROUND), -1) if self.lines[at] == "}")
        return next(above, row - 1) + 1

    def spans(self, row: int) -> Sequence[Span]:
        """The coloured spans of a line, counted from 0."""
        found, known = self._colourer, self._spans  # a thread may replace them
        if found is None:
            return ()
        if row not in known:
            first = row - row % _BLOCK
            last = min(first + _BLOCK, len(self.lines)) - 1
            known.update(found.spans(first, last))
        return known[row]

    def name_at(self, row: int, column: int) -> str:
        """The C++ or Python name at a place, with its qualifiers; empty if there is none."""
        if not 0 <= row < len(self.lines):
            return ""
        for match in _NAME.finditer(self.lines[row]):
            if match.start() <= column < match.end():
                return match.group()
        return ""

    def find(self, needle: str) -> list[tuple[int, int]]:
        """Every (line, column) of a text; case counts only if the needle has capitals."""
        fold = needle == needle.lower()
        pattern = re.compile(re.escape(needle), re.IGNORECASE if fold else 0)
        return [
            (row, match.start())
            for row, line in enumerate(self.lines)
            for match in pattern.finditer(line)
        ]


class Shelf:
    """The files read last, parsed. May be used from several threads."""

    def __init__(self, read: Callable[[str], str], size: int = 24) -> None:
        self._read = read
        self._size = size
        self._documents: OrderedDict[str, Document] = OrderedDict()
        self._lock = Lock()

    def document(self, path: str, line: int = 0) -> Document:
        """The file at ``path``, read at the first call; with a line, a large one is parsed
        only around it. Errors are those of ``read``."""
        with self._lock:
            if path in self._documents:
                self._documents.move_to_end(path)
                return self._documents[path]
        document = Document(path, self._read(path))
        if line:
            document.parse_around(line)
        else:
            document.parse()
        self._put(document)
        return document

    def at_hand(self, path: str) -> Document | None:
        """The file at ``path`` if it was read already."""
        with self._lock:
            return self._documents.get(path)

    def forget(self, path: str) -> None:
        """Read it anew next time: it may have been edited."""
        with self._lock:
            self._documents.pop(path, None)

    def _put(self, document: Document) -> None:
        with self._lock:
            self._documents[document.path] = document
            while len(self._documents) > self._size:
                self._documents.popitem(last=False)
