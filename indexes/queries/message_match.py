"""How much of a text the literals of a message explain, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from indexes.model.lines import length_in_common
from indexes.model.regex import regex
from indexes.readers.messages import HOLE, MAYBE, SHORTEST, pieces

Span = tuple[int, int]


def letters(text: str) -> int:
    """The number of letters, since blanks and digits may belong to values."""
    return sum(map(str.isalpha, text))


def may_say(message: str, text: str) -> bool:
    """Whether a message can be a text or part of it: a piece begins or ends in it, or contains
    it."""
    if text in message:
        return True
    return any(piece[:_SIGN] in text or piece[-_SIGN:] in text for piece in _long_pieces(message))


_SIGN = 12
"""Letters at an end of a literal that distinguish it."""


def _long_pieces(message: str) -> Iterator[str]:
    found = [piece.strip(_MARKS) for piece in message.split(HOLE)] if HOLE in message else [message]
    long = [piece for piece in found if len(piece) >= SHORTEST]
    return iter(long or [max(found, key=len)])


_MARKS = f"{MAYBE} "


class Match:
    """Finds the pieces of a message in a text, in order."""

    def __init__(self, text: str, said: str, *, loosely: bool = False) -> None:
        """``loosely``: the first words of a piece are enough."""
        self.text = text
        self._loosely = loosely
        self.spans: list[Span] = []
        """Where in the text its pieces stand."""
        self.missing = 0
        """Letters of the pieces that are absent."""
        self.skipped = 0
        """Letters of those of them that stand between two that are there."""
        self.values: list[str] = []
        """What stands between the pieces and behind them."""
        self._at = self._absent = 0
        self._lost_before = self._lost_behind = self._differs = False
        parts = pieces(said)
        for number, (piece, may_miss) in enumerate(parts):
            following = next((other for other, absent in parts[number + 1 :] if not absent), "")
            self._find(piece, may_miss, following, number)
        self.is_whole = not self.missing and not all(may_miss for _, may_miss in parts)
        if rest := text[self._at :].strip():
            self.values.append(rest)

    @property
    def fits(self) -> bool:
        """Whether the text can be the message or a part of it, without contradicting words."""
        if self.is_whole or not self.spans:
            return self.is_whole
        before = self._lost_before and self.spans[0][0] > 0
        rest = self.text[self._at :].strip()
        behind = self._lost_behind and rest != "" and not _VALUE.fullmatch(rest)
        return not (before or behind or self.skipped or self._differs)

    @property
    def covered(self) -> int:
        """The number of the text's letters that the message explains."""
        return covered(self.text, self.spans) - self.skipped

    @property
    def begins(self) -> bool:
        """Whether the text begins with the message, or with a part of it."""
        return bool(self.spans) and self.spans[0][0] == 0

    def _find(self, piece: str, may_miss: bool, following: str, number: int) -> None:
        """Finds a piece behind those before it; ``following`` is the next required one."""
        start = _find(self.text, piece, self._at, is_first=not number, is_last=not following)
        if start >= 0 and may_miss and following:
            other = _find(self.text, following, self._at)
            if -1 < other < start:
                return
        if start < 0:
            self._look_for_part(piece.strip(), may_miss)
        else:
            self.skipped, self._absent = self.skipped + self._absent, 0
            self._found(start, start + len(piece.strip()))

    def _look_for_part(self, piece: str, may_miss: bool) -> None:
        text, at = self.text, self._at
        if not self.spans and (begun := _common(piece, text)):
            self._found(0, begun)
        elif ended := _common(text[at:], piece) or (self.spans and _ended(text[at:], piece)):
            self._found(len(text) - ended, len(text))
        elif self._loosely and (same := _begun(text, piece, at)):
            self._found(*same)
            self._differs = True
        elif not may_miss and self.spans:
            self._absent += letters(piece)
            self._lost_behind = True
        elif not may_miss:
            self._lost_before = True
        self.missing += 0 if may_miss else letters(piece)

    def _found(self, start: int, end: int) -> None:
        if value := self.text[self._at : start].strip():
            self.values.append(value)
        self.spans.append((start, end))
        self._at = end


_VALUE = regex(r"\(?\d[\d.,]*\)?(?: [A-Za-z]+)?\.?|'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\([^)]*\)")
"""The end of a text cut within a value: a number with unit, a text or a list."""


def covered(text: str, spans: Iterable[Span]) -> int:
    """The letters in spans, each counted once."""
    count = at = 0
    for start, end in sorted(spans):
        count += letters(text[max(start, at) : end])
        at = max(at, end)
    return count


def _find(text: str, piece: str, at: int, *, is_first: bool = False, is_last: bool = False) -> int:
    """Where a piece stands behind a place, at word boundaries as its blanks require; a single word
    at an end of the message does not count."""
    bare = piece.strip()
    is_word = " " not in bare
    is_first, is_last = is_first and is_word, is_last and is_word
    start = text.find(bare, at)
    while start >= 0:
        before, after = text[:start][-1:], text[start + len(bare) :][:1]
        begins = before == " " if piece[0] == " " else not is_first or _parted(before, bare[0])
        ends = after == " " if piece[-1] == " " else not is_last or _parted(after, bare[-1])
        if (begins or not before) and (ends or not after):
            return start
        start = text.find(bare, start + 1)
    return -1


def _parted(other: str, end: str) -> bool:
    return not (end.isalpha() and (other.isalpha() or other == "_"))


_WITHIN = regex(r"\w\w")


def _common(first: str, second: str) -> int:
    """The overlap of one text's end with another's beginning; 0 for less than about a word."""
    begin = second[:SHORTEST]
    at = first.find(begin) if len(begin) == SHORTEST else -1
    while at >= 0:
        length = len(first) - at
        if second.startswith(first[at:]) and not _WITHIN.match(second[length - 1 : length + 1]):
            return length
        at = first.find(begin, at + 1)
    return 0


def _begun(text: str, piece: str, at: int) -> Span | None:
    """Where the first words of a piece stand, as other versions may continue differently."""
    start = text.find(piece[:_SIGN], at)
    if start < 0 or len(piece) < 2 * _SIGN:
        return None
    return start, start + length_in_common(text[start:], piece)


def _ended(rest: str, piece: str) -> int:
    """The same for the last words behind a value, where fewer are enough."""
    words = rest.split(" ")
    for number in range(1, len(words)):
        end = " ".join(words[number:])
        if len(end) < SHORTEST and letters(end) > 1 and piece.startswith(end):
            return len(end) if not piece[len(end) : len(end) + 1].isalpha() else 0
    return 0
