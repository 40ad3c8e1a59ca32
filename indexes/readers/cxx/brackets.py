"""Which brackets of a body match, when branches of ``#if`` may each open the same block."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from re import Pattern

from indexes.model.errors import CXX_BODY_NESTING
from indexes.model.regex import regex
from indexes.readers.cxx.lexer import ELSE, IF

_BRACKET = regex(r"[()\[\]{}]")
COMMA = regex(r"[({\[,]")
_ANGLE_OPENED = regex(r"\w<(?![<=])")
_OPENED_BY = {")": "(", "]": "[", "}": "{"}


class Brackets:
    """The pairs of brackets of cleaned text between two offsets."""

    def __init__(
        self, text: str, start: int, end: int, directives: Iterable[tuple[int, int]] = ()
    ) -> None:
        """``directives`` are kinds and offsets of the conditional directives in between."""
        self.text = text
        self.end = end
        self.closes: dict[int, int] = {}
        """Where each bracket is closed, by its offset."""
        self.opens: dict[int, int] = {}
        """The other way round."""
        self.too_deep = False
        """Whether more stand in each other than are read."""
        self._stack: list[int] = []
        self._blocks: tuple[list[int], list[int]] | None = None
        self._read(start, directives)

    def _read(self, start: int, directives: Iterable[tuple[int, int]]) -> None:
        outer: list[tuple[list[int], list[int] | None]] = []
        same: list[tuple[int, int]] = []
        for kind, offset in directives:
            self._pair(start, offset)
            start = offset
            if kind == IF:
                outer.append((self._stack[:], None))
            elif kind == ELSE and outer:
                before, first = outer.pop()
                outer.append((before, self._stack[:] if first is None else first))
                self._stack = before[:]
            elif outer:
                before, first = outer.pop()
                opened, again = (first or [])[len(before) :], self._stack[len(before) :]
                same += zip(opened, again, strict=False)
        self._pair(start, self.end)
        # What every branch opens is closed once, behind them.
        for opened_first, opened_again in reversed(same):
            if opened_again in self.closes:
                self.closes.setdefault(opened_first, self.closes[opened_again])

    def _pair(self, start: int, end: int) -> None:
        stack, closes, opens, text = self._stack, self.closes, self.opens, self.text
        for found in _BRACKET.finditer(text, start, end):
            at = found.start()
            char = text[at]
            if char in "({[":
                stack.append(at)
                self.too_deep |= len(stack) > CXX_BODY_NESTING
                continue
            if stack and text[stack[-1]] != _OPENED_BY[char]:
                self._unwind(_OPENED_BY[char])
            if stack:
                opened = stack.pop()
                closes[opened] = at
                opens[at] = opened

    def _unwind(self, opening: str) -> None:
        """Drops brackets left open inside one that closes."""
        stack = self._stack
        for place in range(len(stack) - 1, max(-1, len(stack) - 20), -1):
            if self.text[stack[place]] == opening:
                del stack[place + 1 :]
                return

    def close(self, opened: int) -> int:
        """Where a bracket closes; the end of the text if it does not."""
        return self.closes.get(opened, self.end)

    def block_end(self, at: int) -> int:
        """Where the innermost braces around an offset close."""
        if self._blocks is None:
            self._blocks = self._nested_blocks()
        opened, around = self._blocks
        place = bisect_right(opened, at) - 1
        while place >= 0 and self.closes[opened[place]] <= at:
            place = around[place]
        return self.closes[opened[place]] if place >= 0 else self.end

    def _nested_blocks(self) -> tuple[list[int], list[int]]:
        """The offsets of opening braces, and the index of the block around each; -1 for none."""
        opened = sorted(one for one in self.closes if self.text[one] == "{")
        around: list[int] = []
        for place, at in enumerate(opened):
            outer = place - 1
            while outer >= 0 and self.closes[opened[outer]] <= at:
                outer = around[outer]
            around.append(outer)
        return opened, around

    def find(self, wanted: Pattern[str], at: int, stop: int) -> int:
        """The first match of a pattern outside nested brackets; ``stop`` if there is none. The
        pattern must also match opening brackets, which are skipped."""
        while found := wanted.search(self.text, at, stop):
            at = found.start()
            if self.text[at] not in "({[":
                return at
            at = self.closes.get(at, at) + 1
        return stop

    def parts(self, opened: int, closed: int = -1) -> list[tuple[int, int]]:
        """The offsets of the items of a list in brackets."""
        closed = self.closes.get(opened, -1) if closed < 0 else closed
        start = at = opened + 1
        text = self.text[start:closed] if closed > start else ""
        if not text or text.isspace():
            return []
        if "," not in text:
            return [(start, closed)]
        parts = []
        find, angled = self.find, "<" in text
        while (at := find(COMMA, at, closed)) < closed:
            if not (angled and _opens_angle(self.text, start, at)):
                parts.append((start, at))
                start = at + 1
            at += 1
        return [*parts, (start, closed)]


def _opens_angle(text: str, start: int, at: int) -> bool:
    """Whether a comma stands among template arguments: ``f<a, b>(x)``."""
    if "<" not in text[start:at]:
        return False
    part = text[start:at]
    opened = len(_ANGLE_OPENED.findall(part))
    return opened > part.count(">") - part.count("->")
