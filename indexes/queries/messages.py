"""From the text of an error to the line that says it.

A message is kept as literals with holes for values. It is found in a pasted text if the literals
stand there in their order; the one is meant that explains most of the text, and all that explain
as much are given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from indexes.model.regex import MULTILINE, regex
from indexes.model.vocabulary import Location
from indexes.readers.messages import DISPATCH, HOLE, MAYBE, SHORTEST, VARIABLES, pieces, plain
from indexes.store.index_file import Store

_RAISED = regex(
    r"^(?:E\s+|\[rank\d+\]:?\s*|.*?what\(\):\s*)*"
    r"((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|Warning)|(?:[a-z_]\w*\.)+[A-Z]\w*):[ \t]*"
    r"|^.*what\(\):[ \t]*",
    MULTILINE,
)
"""What Python and the C++ runtime write before a message."""
_MARGIN = regex(r"^(?:E  +|\[rank\d+\]:? ?)", MULTILINE)
_AFTER = regex(
    r"\n\s*Exception raised from |\nC\+\+ CapturedTraceback|\s\(Triggered internally at |"
    r"\nFrom user code:|\nSet TORCH|\n\nDuring handling|\n\n\S+:\d+: |"
    r"\nCompile with `TORCH_USE_CUDA_DSA`"
)
"""What c10::Error, warnings and compilers write behind it."""
_PLACE = regex(
    r"(?:File \"|\bat |^)([\w./\\-]+\.(?:py|cpp|cc|cu|cuh|h|mm))(?:\", line |:)(\d+)", MULTILINE
)
_NOT_IMPLEMENTED = regex(r"\"([^\"\s]+)\" not implemented\b")
"""What the macros of ATen/Dispatch.h say of a dtype that they do not cover, or its beginning."""
_ASSERTED = regex(r"^(.*?) ?INTERNAL ASSERT FAILED at \"([^\"]+)\":(\d+)")
"""What c10 says of an assertion."""
_WARNS = regex(r"warn|WARN")
_LOGS = regex(r"log\b|logger|[Ll]og\.|LOG|print|GRAPH_|skip|debug|writeline")
"""What tells a log or a test, and so raises nothing."""
_SHARE, _PART, _BEGUN = 0.3, 0.5, 0.1
"""A message explains at least so much of a text, or so many letters of it; more where only a part
of the message stands there, less where the text begins with it."""
_LETTERS = 20
_FEW, _MOST = 10, 0.6
"""Fewer letters are enough of a text only where they are most of it."""
_WORDS = 12
"""So many letters at the end of a literal tell it from others."""


class Message(NamedTuple):
    """A message of the tree that a text can be."""

    location: Location
    kind: str
    """What is done with it: ``TORCH_CHECK``, ``raise ValueError``, ``warnings.warn``."""
    text: str
    """Its literals, with ``...`` for the values."""
    covered: int
    """So many letters of the text are its literals."""
    is_whole: bool
    """Whether all of its literals stand there; a text may be a part of a message."""
    values: tuple[str, ...] = ()
    """What stands in the holes, where the text tells."""

    @property
    def does(self) -> str:
        """``warning``, or ``error``."""
        return "warning" if _WARNS.search(self.kind) else "error"


class Pasted(NamedTuple):
    """An error as people paste it."""

    text: str
    """The message alone, on one line."""
    raised: str
    """``ValueError``, where it is named."""
    places: tuple[tuple[str, int], ...]
    """Files and lines that the traceback names, the last one first."""

    @property
    def line(self) -> str:
        """The last line of a traceback, with the whole message on it."""
        return f"{self.raised}: {self.text}" if self.raised else self.text


def pasted(text: str) -> Pasted:
    """The message in what was pasted, without the traceback around it."""
    bare = _MARGIN.sub("", text)
    raised = list(_RAISED.finditer(bare))
    said = bare[raised[-1].end() :] if raised else bare
    places = [(path.replace("\\", "/"), int(line)) for path, line in _PLACE.findall(text)]
    name = (raised[-1][1] or "").rpartition(".")[2] if raised else ""
    return Pasted(plain(_AFTER.split(said)[0]), name, tuple(reversed(places)))


def asserted(text: str) -> tuple[str, str, int] | None:
    """Condition, file and line of an assertion that failed, as c10 writes them."""
    found = _ASSERTED.search(pasted(text).text)
    return (found[1].strip(), found[2], int(found[3])) if found else None


def dispatch_name(text: str) -> str:
    """The name in the message of a macro that dispatches dtypes; empty for another message."""
    found = _NOT_IMPLEMENTED.search(text)
    return found[1] if found else ""


_Row = tuple[str, int, int, str, str]
_ROWS = "SELECT f.path,m.line,m.end_line,m.kind,m.text FROM messages m JOIN files f ON f.id=m.file"


class Messages:
    """What a tree tells its users; read once, while it lives."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def said(self, text: str) -> tuple[Message, ...]:
        """The messages that a text can be: those that explain most of it, all equal ones."""
        asked = pasted(text)
        if not asked.text:
            return ()
        name = dispatch_name(asked.text)
        if name and (dispatched := self._dispatched(name)):
            return dispatched
        found = list(self._fitting(asked.text))
        if max((one.covered for one in found), default=0) * 2 < _letters(asked.text):
            found += self._parts_of(asked.text)
        return _best(asked, found)

    def dispatched(self, name: str) -> tuple[Message, ...]:
        """Where dtypes are dispatched under exactly this name."""
        rows = self._store.query(f"{_ROWS} WHERE m.kind=? AND m.text=?", (DISPATCH, name))
        return tuple(_message(row, _letters(name), True) for row in rows)

    @cached_property
    def _rows(self) -> list[_Row]:
        names = (DISPATCH, *VARIABLES)
        return self._store.query(f"{_ROWS} WHERE m.kind NOT IN (?,?,?,?)", names)

    def _dispatched(self, name: str) -> tuple[Message, ...]:
        """Where dtypes are dispatched under a name, or under one that a macro joins to another:
        ``#op "_vml_cpu"``."""
        if found := self.dispatched(name):
            return found
        joined = "substr(m.text,1,1)='_' AND substr(?,-length(m.text))=m.text"
        rows = self._store.query(f"{_ROWS} WHERE m.kind=? AND {joined}", (DISPATCH, name))
        return tuple(_message(row, _letters(name), True) for row in rows)

    def _fitting(self, text: str) -> Iterator[Message]:
        """Messages whose longest literal is in a text, or that a text is a part of."""
        for row in self._rows:
            said = row[-1]
            longest = said if HOLE not in said else max(said.split(HOLE), key=len)
            if longest.lstrip(MAYBE) in text:
                yield _matched(text, row)
            elif text in said:
                yield _message(row, _letters(text), False)

    def _parts_of(self, text: str) -> Iterator[Message]:
        """Messages that begin or end in a text: for one that is cut out of a message."""
        for row in self._rows:
            if any(
                piece[:_WORDS].lstrip(MAYBE) in text or piece[-_WORDS:] in text
                for piece in row[-1].split(HOLE)
                if len(piece) >= SHORTEST
            ):
                yield _matched(text, row)


def _message(row: _Row, covered: int, is_whole: bool, values: tuple[str, ...] = ()) -> Message:
    path, line, last, kind, said = row
    shown = said.replace(MAYBE, "").replace(HOLE, " ... ")
    return Message(Location(path, line, last), kind, shown, covered, is_whole, values)


def _matched(text: str, row: _Row) -> Message:
    """How much of a text the literals of a message explain, found there in their order."""
    search = _Search(text)
    parts = pieces(row[-1])
    for at, (piece, may_miss) in enumerate(parts):
        following = next((other for other, absent in parts[at + 1 :] if not absent), "")
        search.find(piece, may_miss, following)
    is_whole = not search.missing and not all(may_miss for _, may_miss in parts)
    return _message(row, search.covered, is_whole, search.all_values())


class _Search:
    """Finds one piece after the other in a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.covered = 0
        self.missing = 0
        """Letters of the pieces that are absent."""
        self._at = self._cut = 0
        self._values: list[str] = []

    def find(self, piece: str, may_miss: bool, following: str) -> None:
        """Looks for a piece behind those before it; ``following`` is the next that is needed."""
        text, at = self.text, self._at
        start = _find(text, piece, at)
        if start >= 0 and may_miss and following and -1 < _find(text, following, at) < start:
            return
        if start < 0:
            self._look_for_part(piece, may_miss)
            return
        self.covered -= self._cut  # what is absent between two that are there
        self._cut = 0
        self._found(start, start + len(piece))

    def _look_for_part(self, piece: str, may_miss: bool) -> None:
        """The text may begin, or end, within a piece; of what is behind its end nothing is
        known."""
        text, at = self.text, self._at
        if not self.covered and (begun := _common(piece, text)):
            self._found(0, begun)
        elif ended := _common(text[at:], piece):
            self._found(len(text) - ended, len(text))
        elif not may_miss and self.covered:
            self._cut += _letters(piece)
        self.missing += 0 if may_miss else _letters(piece)

    def _found(self, start: int, end: int) -> None:
        if value := self.text[self._at : start].strip():
            self._values.append(value)
        self.covered += _letters(self.text[start:end])
        self._at = end

    def all_values(self) -> tuple[str, ...]:
        """What stands between the pieces and behind them."""
        rest = self.text[self._at :].strip()
        return (*self._values, rest) if rest else tuple(self._values)


def _letters(text: str) -> int:
    """How many letters there are: blanks and digits may be of a value as well."""
    return sum(map(str.isalpha, text))


def _find(text: str, piece: str, at: int) -> int:
    """Where a piece stands behind a place, if it does not end within a word."""
    start = text.find(piece, at)
    while start >= 0 and piece[-1].isalpha() and text[start + len(piece) :][:1].isalpha():
        start = text.find(piece, start + 1)
    return start


def _common(first: str, second: str) -> int:
    """How much the end of one text is the beginning of another; 0 for less than a word or two."""
    begin = second[:SHORTEST]
    at = first.find(begin) if len(begin) == SHORTEST else -1
    while at >= 0:
        if second.startswith(first[at:]):
            return len(first) - at
        at = first.find(begin, at + 1)
    return 0


def _best(asked: Pasted, found: Iterable[Message]) -> tuple[Message, ...]:
    """Those that explain most, the likeliest first."""
    found = [one for one in dict.fromkeys(found) if _is_enough(one, asked.text)]
    most = max((one.covered for one in found), default=0)
    best = [one for one in found if one.covered == most]
    telling = [one for one in best if not _LOGS.search(one.kind)]
    return tuple(sorted(telling or best, key=lambda one: _likeliness(one, asked)))


def _is_enough(one: Message, text: str) -> bool:
    share = _SHARE if one.is_whole else _PART
    letters = _letters(text)
    if one.is_whole and text.startswith(one.text.partition(" ... ")[0]):
        share = _BEGUN
    least = max(share * letters, min(_FEW, _MOST * letters))
    return one.covered >= min(_LETTERS, least)


def _likeliness(one: Message, asked: Pasted) -> tuple[bool, bool, bool, int, str, int]:
    where = one.location
    named = any(path.endswith(_tail(where.path)) for path, _ in asked.places)
    fits = bool(asked.raised) and asked.raised in one.kind
    rest = (len(one.text), where.path, where.line)
    return not named, not fits, not one.is_whole, *rest


def _tail(path: str) -> str:
    """The end of a path that an installed file shares with it."""
    return path.removeprefix("aten/src/").removeprefix("torch/csrc/")
