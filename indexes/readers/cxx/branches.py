"""Conditions under which parts of a body run: ``if``, ``switch``, ``?:`` and ``#if``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from indexes.model.errors import CXX_BRACKETS
from indexes.model.files import Branch
from indexes.model.regex import regex
from indexes.readers.cxx.brackets import Brackets
from indexes.readers.cxx.lexer import ELSE, IF, flat, strip_comments

_IF = regex(r"if\s*(?:constexpr\s*)?\(")
_SWITCH = regex(r"switch\s*\(")
_HEADED = regex(r"\s*(?:if\s*(?:constexpr\s*)?|for|while|switch)\s*\(")
_ELSE = regex(r"\s*else\b")
_ELSE_IF = regex(r"\s*else\s+if\s*(?:constexpr\s*)?\(")
_LABEL = regex(r"[({\[]|\b(?:case\s+((?:[\w\s]|::)+?)|(default))\s*:(?!:)")
_STATEMENT_END = regex(r"[({\[;)}\]]")
_LEAVES = regex(r"\s*(?:return\b|throw\b|TORCH_CHECK\s*\(\s*false\b)")
_COLON = regex(r"[({\[?;,)}\]]|(?<!:):(?!:)")
_COMPARED = frozenset("=!<>")
_NEVER = "true"
"""The condition of unreachable code."""
_SPACE = regex(r"\s*")
_LONGEST_STATEMENT = 4000
"""In characters outside brackets."""
_LONGEST = 300
_LONGEST_ANSWER = 900
_RETURN = regex(r"\breturn\b(?=[\s(!])\s*((?:[^;{}]|\{[^;{}]*\})+);")
_LAMBDA = regex(r"\[[&=\w,\s]*\]\s*(?:\(|\{|mutable\b)")
_CONSTANT = regex(r"\s*(?:\w+::)+\w+\s*")
_MOST_ANSWERS = 40
RETURNS = "returns"
"""The kind of a row for a returned value."""


class Arm(NamedTuple):
    """Text that runs only under a condition."""

    start: int
    end: int
    text: str
    arm: str
    offset: int
    """Where the condition stands."""


_SWITCHED = regex(r"switch\s*\(\s*(\w+)\s*\)")
_SWITCHED_CALL = regex(r"switch\s*\(\s*[\w:]+\s*\(")


def choosing_calls(text: str, start: int, arms: Sequence[Arm]) -> Iterator[tuple[int, int]]:
    """The calls that compute the value of a ``switch``, up to the parenthesis: ``switch (f(x))``,
    or ``backend = f(x)`` before ``switch (backend)``."""
    for offset, head in {(one.offset, one.text) for one in arms if one.arm == "case"}:
        if called := _SWITCHED_CALL.match(text, offset):
            yield called.span()
        elif found := _SWITCHED.match(head):
            for called in re.finditer(rf"\b{found[1]}\s*=\s*[\w:]+\s*\(", text[start:offset]):
                yield start + called.start(), start + called.end()


Directive = tuple[int, int, tuple[str, ...]]
"""Offset and kind of a conditional directive, and the conditions in force after it."""


def find_arms(
    text: str,
    written: str,
    start: int,
    end: int,
    brackets: Brackets,
    directives: Sequence[Directive] = (),
) -> list[Arm]:
    """The arms of the body in ``text[start:end]``, outer ones first; ``written`` includes
    strings."""
    reader = _Arms(text, written, start, end, brackets)
    found = [one for one in reader.read() if one.start < one.end]
    if directives:
        builds = list(_builds(directives, end))
        found = [piece for one in found for piece in _pieces(one, builds)] + builds
    found.sort(key=lambda one: (one.start, -one.end))
    return found


def _builds(directives: Sequence[Directive], end: int) -> Iterator[Arm]:
    open_: list[tuple[int, str]] = []
    for offset, kind, conditions in directives:
        if kind != IF and open_:
            start, condition = open_.pop()
            yield Arm(start, offset, condition, "#if", start)
            if kind == ELSE:
                open_.append((offset, conditions[-1]))
        elif kind == IF:
            open_.append((offset, conditions[-1]))
    for start, condition in open_:
        yield Arm(start, end, condition, "#if", start)


def answers(
    text: str, written: str, start: int, end: int, mark: str
) -> list[tuple[int, str, str, str, str, str, str]]:
    """What a function returns whose result is a bool or an enumerator, as rows like those of calls.
    Nothing for a body with lambdas, since ``return`` may be theirs."""
    if mark != "b" and (len(mark) == 1 or not mark.isidentifier()):
        return []
    found = list(_RETURN.finditer(text, start, end))
    tells = mark == "b" or any(_CONSTANT.fullmatch(one[1]) for one in found)
    if not tells or len(found) > _MOST_ANSWERS or _LAMBDA.search(text, start, end):
        return []
    said = (_short(written[one.start(1) : one.end(1)], _LONGEST_ANSWER) for one in found)
    return [(f.start(), one, "", RETURNS, "", "", "") for f, one in zip(found, said, strict=True)]


def _pieces(one: Arm, builds: Sequence[Arm]) -> Iterator[Arm]:
    """Splits an arm where an ``#if`` ends that it begins in; nothing is known of a condition behind
    an ``#if`` with an ``#else``."""
    around = [part for part in builds if part.start <= one.start and part.end < one.end]
    for part in sorted(around, key=lambda part: part.end):
        is_inside = part.start <= one.offset < part.end
        if part.end > one.start:
            yield one._replace(end=part.end)
        if is_inside and any(part.end == o.start or part.start == o.end for o in builds):
            return
        one = _of_build(one, part.text) if is_inside else one
        one = one._replace(start=max(one.start, part.end))
    yield one


def _of_build(one: Arm, build: str) -> Arm:
    """What follows a branch that leaves the function, or is its ``else``, where only some builds
    have the branch."""
    if one.arm not in ("else", "otherwise"):
        return one
    build = f"({build})" if "||" in build else build
    head, opened, rest = one.text.partition("(")
    text = f"{head}({build} && ({rest}" + ")" * (not rest.endswith("..."))
    return one._replace(text=text if opened else build)


class _Arms:
    """Reads a body from its end, since the extent of a condition ends with its ``else``."""

    def __init__(self, text: str, written: str, start: int, end: int, brackets: Brackets) -> None:
        self.text = text
        self.written = written
        self.start = start
        self.end = end
        self.brackets = brackets
        self._ends: dict[int, int] = {}
        self._left: dict[int, list[tuple[str, int]]] = {}
        """By where a block ends, the conditions on which it leaves the function before, each with
        its offset."""

    def read(self) -> Iterator[Arm]:
        for word, pattern, read in (("if", _IF, self._if), ("switch", _SWITCH, self._switch)):
            first = self.text.find(word, self.start, self.end)
            if first < 0:
                continue
            for found in reversed(list(pattern.finditer(self.text, first, self.end))):
                at, closed = found.start(), self.brackets.closes.get(found.end() - 1, -1)
                if closed > 0 and not _is_name(self.text[at - 1 : at]):
                    yield from read(at, closed, _short(self.written[at : closed + 1]))
        at = self.text.find("?", self.start, self.end)
        while at >= 0:
            yield from self._ternary(at)
            at = self.text.find("?", at + 1, self.end)

    def _if(self, at: int, closed: int, condition: str) -> Iterator[Arm]:
        last = end = self._statement_end(closed + 1)
        yield Arm(closed + 1, end, condition, "then", at)
        left = [(_and(condition, one), place) for one, place in self._left.pop(end - 1, ())]
        if otherwise := _ELSE.match(self.text, end, self.end):
            begin = otherwise.end()
            last = self._statement_end(begin)
            yield Arm(begin, last, condition, "else", at)
            if not self._is_else(at) and self._both_leave(closed + 1):
                left = [(_NEVER, at)]
        elif self._leaves(closed + 1, end):
            left = [(condition, at)]
        stop = self.brackets.block_end(at)
        self._left.setdefault(stop, []).extend((t, a) for t, a in left if _is_whole(t))
        yield from (Arm(last, stop, text, "otherwise", place) for text, place in left if text)

    def _switch(self, at: int, closed: int, head: str) -> Iterator[Arm]:
        opened = self.text.find("{", closed, self.end)
        end = self.brackets.closes.get(opened, -1)
        groups: list[tuple[int, int, list[str]]] = []
        for start, stop, name in self._labels(opened + 1, end) if end >= 0 else ():
            if groups and not self.text[groups[-1][1] : start].strip():
                first, _, names = groups.pop()
                groups.append((first, stop, [*names, name]))
            else:
                groups.append((start, stop, [name]))
        ends = [start for start, _, _ in groups[1:]] + [end]
        for (_, start, names), stop in zip(groups, ends, strict=True) if groups else ():
            yield Arm(start, stop, f"{head} case {', '.join(names)}", "case", at)

    def _labels(self, at: int, end: int) -> Iterator[tuple[int, int, str]]:
        """The offsets and values of the labels of a switch."""
        while found := _LABEL.search(self.text, at, end):
            at = found.end()
            if self.text[found.start()] in "({[":
                at = self.brackets.closes.get(found.start(), found.start()) + 1
            else:
                yield found.start(), at, flat(found[1] or found[2])

    def _ternary(self, at: int) -> Iterator[Arm]:
        begin = self._condition_start(at)
        condition = _short(self.written[begin:at])
        colon = self._arm_end(at + 1)
        if not condition or self.text[colon : colon + 1] != ":":
            return
        yield Arm(at + 1, colon, condition, "then", begin)
        end = self._arm_end(colon + 1)
        yield Arm(colon + 1, end, condition, "else", begin)

    def _arm_end(self, at: int) -> int:
        """The end of an operand of ``?:``, which may contain further ``?:``."""
        open_ = 0
        for _ in range(CXX_BRACKETS):
            at = self.brackets.find(_COLON, at, self.end)
            if at == self.end:
                return at
            char = self.text[at]
            if char == "?":
                open_ += 1
            elif char == ":" and open_:
                open_ -= 1
            else:
                return at
            at += 1
        return at

    def _condition_start(self, at: int) -> int:
        text, opens = self.text, self.brackets.opens
        at -= 1
        while at > self.start and not self._begins(at):
            at = opens[at] - 1 if text[at] in ")]" and at in opens else at - 1
        return at + 1

    def _begins(self, at: int) -> bool:
        text = self.text
        char = text[at]
        if char == ":":
            return ":" not in (text[at - 1], text[at + 1])
        if char == "=":
            return text[at - 1] not in _COMPARED and text[at + 1] != "="
        if char == "n":
            return text.endswith("return", 0, at + 1) and not _is_name(text[at + 1])
        return char in "({[,;?}"

    def _is_else(self, at: int) -> bool:
        return self.text[max(at - 20, self.start) : at].rstrip().endswith("else")

    def _both_leave(self, at: int) -> bool:
        """Whether a statement and all its ``else`` branches leave the function."""
        while self._leaves(at, end := self._statement_end(at)):
            if headed := _ELSE_IF.match(self.text, end, self.end):
                at = self.brackets.closes.get(headed.end() - 1, self.end) + 1
                continue
            otherwise = _ELSE.match(self.text, end, self.end)
            at = otherwise.end() if otherwise else end
            return otherwise is not None and self._leaves(at, self._statement_end(at))
        return False

    def _leaves(self, start: int, end: int) -> bool:
        """Whether a branch ends with a statement that leaves the function."""
        text = self.text
        last = len(text[start:end].rstrip().removesuffix("}").rstrip()) + start
        if text[last - 1 : last] != ";":
            return False
        at = last - 2
        for _ in range(_LONGEST_STATEMENT):
            if at < start:
                break
            if text[at] in ")]" or (text[at] == "}" and not _ends_block(text, at)):
                at = self.brackets.opens.get(at, at)
            elif text[at] in ";{}":
                break
            at -= 1
        return _LEAVES.match(text, max(at + 1, start), last) is not None

    def _statement_end(self, at: int) -> int:
        """The end of the statement at ``at``, with its ``else``."""
        if at not in self._ends:
            self._ends[at] = self._read_statement(at)
        return self._ends[at]

    def _read_statement(self, at: int) -> int:
        text = self.text
        if headed := _HEADED.match(text, at, self.end):
            closed = self.brackets.closes.get(headed.end() - 1, -1)
            end = self._statement_end(closed + 1) if closed > 0 else self.end
            otherwise = _ELSE.match(text, end, self.end)
            return self._statement_end(otherwise.end()) if otherwise else end
        space = _SPACE.match(text, at, self.end)
        start = space.end() if space else at
        if text[start : start + 1] == "{":
            return self.brackets.close(start) + 1
        found = self.brackets.find(_STATEMENT_END, start, self.end)
        return found + (text[found : found + 1] == ";")


def _ends_block(text: str, at: int) -> bool:
    """Whether a closing brace ends a block, not a list: no ``;`` or ``)`` follows."""
    return text[at + 1 : at + 40].lstrip()[:1] not in (";", ")", ",")


def _is_name(char: str) -> bool:
    return char.isalnum() or char == "_"


def _and(outer: str, inner: str) -> str:
    """One ``if`` inside another, ``if (x) && (y)``; empty if that is too long."""
    text = " && ".join(one[one.find("(") :] for one in (outer, inner))
    return f"if {text}" if _is_whole(outer) and len(text) < _LONGEST else ""


def _is_whole(condition: str) -> bool:
    return condition.endswith(")")


def _short(text: str, longest: int = _LONGEST) -> str:
    plain = flat(strip_comments(text))
    return plain if len(plain) <= longest else plain[: longest - 3] + "..."


class Branches:
    """Numbers the branches of a body that its calls are in."""

    def __init__(
        self, arms: Sequence[Arm], line: Callable[[int], int], meaning: Callable[[str, int], str]
    ) -> None:
        """``meaning`` replaces the body's own names in a condition at an offset."""
        self._arms = arms
        self._line = line
        self._meaning = meaning
        self._next = 0
        self._around: list[tuple[Arm, int]] = []
        """The arms around the place that was asked for last, each with its number or 0."""
        self.needed: list[Branch] = []

    def at(self, offset: int) -> int:
        """The number of the innermost branch around an offset. Offsets must ascend."""
        around, arms = self._around, self._arms
        while self._next < len(arms) and arms[self._next].start <= offset:
            while around and around[-1][0].end <= arms[self._next].start:
                around.pop()
            one = arms[self._next]
            end = min(one.end, around[-1][0].end) if around else one.end
            around.append((one._replace(end=end), 0))
            self._next += 1
        while around and around[-1][0].end <= offset:
            around.pop()
        return self._number(len(around) - 1)

    def answer(self, offset: int, text: str) -> None:
        """Adds a returned value."""
        parent, means = self.at(offset), self._meaning(text, offset)
        made = (len(self.needed) + 1, parent, text, RETURNS, self._line(offset), means)
        self.needed.append(Branch(*made))

    def _number(self, place: int) -> int:
        if place < 0:
            return 0
        known = next((at for at in range(place, -1, -1) if self._around[at][1]), -1)
        number = self._around[known][1] if known >= 0 else 0
        for at in range(known + 1, place + 1):
            one, parent, number = self._around[at][0], number, len(self.needed) + 1
            line = self._line(one.offset)
            asked = one.text.partition(" case ")[0] if one.arm == "case" else one.text
            means = "" if one.arm == "#if" else self._meaning(asked, one.offset)
            self.needed.append(Branch(number, parent, one.text, one.arm, line, means))
            self._around[at] = (one, number)
        return number
