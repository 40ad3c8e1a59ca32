"""From the text of an error to the line that says it.

A message is kept as literals with holes for values. It is found in a pasted text if the literals
stand there in their order; the one is meant that explains most of the text, and all that explain
as much are given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from indexes.model.regex import MULTILINE, regex
from indexes.model.vocabulary import Location
from indexes.readers.messages import DISPATCH, ENVIRONMENT, HOLE, MAYBE, SHORTEST, pieces, plain
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
_NOT_IMPLEMENTED = regex(r"\"([^\"\s]+)\" not implemented for '(\w+)'")
"""What the macros of ATen/Dispatch.h say of a dtype that they do not cover."""
_ASSERTED = regex(r"(?:^|\s)(\S.*?) ?INTERNAL ASSERT FAILED at \"([^\"]+)\":(\d+)")
_RAISES = regex(r"raise|throw|CHECK|ASSERT|ERROR|ENFORCE|_check|assert|Error|unimplemented|fail")
_WARNS = regex(r"warn|WARN")
_LOGS = regex(r"log\b|logger|[Ll]og\.|LOG|print|GRAPH_|skip|debug|writeline")
"""What tells a log or a test, and so raises nothing."""
_SHARE = 0.3
"""A message explains at least so much of a text, or so many letters of it."""
_LETTERS = 25
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
        """``error``, ``warning``, or ``text`` where the statement does not tell."""
        if _WARNS.search(self.kind):
            return "warning"
        return "error" if _RAISES.search(self.kind) else "text"


class Pasted(NamedTuple):
    """An error as people paste it."""

    text: str
    """The message alone, on one line."""
    raised: str
    """``ValueError``, where it is named."""
    places: tuple[tuple[str, int], ...]
    """Files and lines that the traceback names, the last one first."""


def pasted(text: str) -> Pasted:
    """The message in what was pasted, without the traceback around it."""
    bare = _MARGIN.sub("", text)
    raised = list(_RAISED.finditer(bare))
    said = bare[raised[-1].end() :] if raised else bare
    places = [(path.replace("\\", "/"), int(line)) for path, line in _PLACE.findall(text)]
    name = (raised[-1][1] or "").rpartition(".")[2] if raised else ""
    return Pasted(plain(_AFTER.split(said)[0]), name, tuple(reversed(places)))


def messages(text: str, store: Store) -> tuple[Message, ...]:
    """The messages that a text can be, those first that explain most of it: all equal ones."""
    asked = pasted(text)
    if not asked.text:
        return ()
    named = _NOT_IMPLEMENTED.search(asked.text)
    if named and (dispatched := _dispatches(named[1], store)):
        return dispatched
    found = list(_fitting(asked.text, store))
    if max((one.covered for one in found), default=0) * 2 < len(asked.text):
        found += _parts_of(asked.text, store)
    return _best(asked, found)


_ROWS = "SELECT f.path,m.line,m.end_line,m.kind,m.text FROM messages m JOIN files f ON f.id=m.file"


def _dispatches(name: str, store: Store) -> tuple[Message, ...]:
    """Where dtypes are dispatched under a name."""
    rows = store.query(f"{_ROWS} WHERE m.kind=? AND m.text=?", (DISPATCH, name))
    return tuple(
        Message(Location(path, line, last), kind, said, len(said), True)
        for path, line, last, kind, said in rows
    )


def _fitting(text: str, store: Store) -> Iterator[Message]:
    """Messages whose longest literal is in a text, or that a text is a part of."""
    for row in _said(store):
        said = row[-1]
        longest = said if HOLE not in said else max(said.split(HOLE), key=len)
        if longest.lstrip(MAYBE) in text:
            yield _matched(text, *row)
        elif text in said:
            yield _message(row, len(text), False)


def _parts_of(text: str, store: Store) -> Iterator[Message]:
    """Messages that begin or end in a text: for one that is cut out of a message."""
    for row in _said(store):
        if HOLE in row[-1] and any(
            piece[:_WORDS].lstrip(MAYBE) in text or piece[-_WORDS:] in text
            for piece in row[-1].split(HOLE)
            if len(piece) >= SHORTEST
        ):
            yield _matched(text, *row)


def _said(store: Store) -> list[tuple[str, int, int, str, str]]:
    return store.query(f"{_ROWS} WHERE m.kind NOT IN (?,?)", (DISPATCH, ENVIRONMENT))


def _message(
    row: Sequence[object], covered: int, is_whole: bool, values: tuple[str, ...] = ()
) -> Message:
    path, line, last, kind, said = row
    shown = str(said).replace(MAYBE, "").replace(HOLE, " ... ")
    return Message(Location(path, line, last), kind, shown, covered, is_whole, values)  # type: ignore[arg-type]


def _matched(text: str, *row: object) -> Message:
    """How much of a text the literals of a message explain, found there in their order."""
    search = _Search(text)
    parts = pieces(str(row[-1]))
    for at, (piece, may_miss) in enumerate(parts):
        following = next((other for other, absent in parts[at + 1 :] if not absent), "")
        search.find(piece, may_miss, following)
    return _message(row, search.covered, not search.missing, search.all_values())


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
        start = text.find(piece, at)
        if start >= 0 and may_miss and following and -1 < text.find(following, at) < start:
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
            self._cut += len(piece)
        self.missing += 0 if may_miss else len(piece)

    def _found(self, start: int, end: int) -> None:
        if value := self.text[self._at : start].strip():
            self._values.append(value)
        self.covered += end - start
        self._at = end

    def all_values(self) -> tuple[str, ...]:
        """What stands between the pieces and behind them."""
        rest = self.text[self._at :].strip()
        return (*self._values, rest) if rest else tuple(self._values)


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
    return one.covered >= min(_LETTERS, max(SHORTEST, _SHARE * len(text)), len(text))


def _likeliness(one: Message, asked: Pasted) -> tuple[bool, bool, bool, int, str, int]:
    where = one.location
    named = any(path.endswith(_tail(where.path)) for path, _ in asked.places)
    fits = bool(asked.raised) and asked.raised in one.kind
    rest = (len(one.text), where.path, where.line)
    return not named, not fits, not one.is_whole, *rest


def _tail(path: str) -> str:
    """The end of a path that an installed file shares with it."""
    return path.removeprefix("aten/src/").removeprefix("torch/csrc/")
