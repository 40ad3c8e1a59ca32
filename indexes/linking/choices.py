"""Under which conditions a call runs: the ``if`` and ``switch`` around it in its function.

Which of several kernels, libraries or operators computes is often decided by code in
between: these are the lines that decide, read from the text of the function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from indexes.linking.facts import Call, Known
from indexes.model.regex import regex
from indexes.model.vocabulary import Choice, Definition, Location
from indexes.readers.cxx.lexer import ELSE, IF, Lexed, flat, lex

_IF = regex(r"\bif\s*(?:constexpr\s*)?\(")
_ELSE = regex(r"\s*else\b")
_SWITCH = regex(r"\bswitch\s*\(")
_LABEL = regex(r"\b(?:case\s+((?:[\w\s]|::)+?)|(default))\s*:(?!:)")
_BRACKETS = regex(r"[(){}\[\]]")
_LEAVES = regex(r"(?:^|[;{}])\s*(?:return\b|throw\b|TORCH_CHECK\s*\(\s*false\b)[^{}]*;\s*$")
_HEADED = regex(r"\s*(?:if\s*(?:constexpr\s*)?|for|while|switch)\s*\(")
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class _Arm:
    """A stretch of text that runs only under a condition."""

    start: int
    end: int
    text: str
    arm: str
    offset: int
    """Where the condition stands."""


_AFTER_TYPE = regex(r"(?:\b(?!return\b|else\b|throw\b|case\b)[A-Za-z_]\w*|>) +\Z")


class Choices:
    """Reads the conditions around calls. Answers are kept while it lives."""

    def __init__(self, lines: Callable[[str], Sequence[str]]) -> None:
        self._lines = lines
        self._arms = lru_cache(512)(self._read)

    def of(self, call: Call, caller: Known) -> tuple[Choice, ...]:
        """The conditions that hold at every place where ``caller`` makes ``call``."""
        definition = caller.definition
        found: list[Choice] | None = None
        for variant, arms in self._ways(definition):
            for at in _sites(variant, call, definition.location.line):
                here = [_choice(a, variant, definition) for a in arms if a.start <= at < a.end]
                if not here:
                    return ()
                found = here if found is None else _common(found, here)
        return tuple(found or ())

    def line(self, call: Call, caller: Known) -> int:
        """The first line on which ``caller`` names what it calls; 0 where it does not."""
        first = caller.definition.location.line
        for variant, _ in self._arms(caller.definition) if first else ():
            for at in _sites(variant, call, first):
                return first + variant.count("\n", 0, at)
        return 0

    def declares(self, call: Call, caller: Known) -> bool:
        """Whether what looks like a call makes a variable: ``MAGMAQueue magma_queue(device);``."""
        first = caller.definition.location.line
        ways = self._ways(caller.definition)
        sites = [(text, at) for text, _ in ways for at in _sites(text, call, first)]
        return bool(sites) and all(
            _AFTER_TYPE.search(text[max(at - 80, 0) : at]) for text, at in sites
        )

    def _ways(self, definition: Definition) -> Sequence[tuple[str, list[_Arm]]]:
        """The texts of a function that is written out, with their arms."""
        if definition.kind == "macro" or definition.macro_location or not definition.location.line:
            return ()
        return self._arms(definition)

    def _read(self, definition: Definition) -> list[tuple[str, list[_Arm]]]:
        where = definition.location
        lines = self._lines(where.path)[where.line - 1 : max(where.end_line, where.line)]
        lexed = lex("\n".join(lines))
        return [(text, sorted(_arms(text), key=_outer_first)) for text in _variants(lexed)]


def _outer_first(arm: _Arm) -> tuple[int, int]:
    return arm.start, -arm.end


def _choice(arm: _Arm, text: str, definition: Definition) -> Choice:
    line = definition.location.line + text.count("\n", 0, arm.offset)
    return Choice(arm.text, arm.arm, Location(definition.location.path, line))


def _common(one: Sequence[Choice], other: Sequence[Choice]) -> list[Choice]:
    same = []
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        same.append(a)
    return same


def _sites(text: str, call: Call, first_line: int) -> Iterator[int]:
    """Where a call stands; on its line alone when each of its calls is told apart."""
    own_line = call.qualifier.lstrip(":").split("::")[0] == "at"
    named = list(_named(text, call.name))
    called = [at for at in named if _ARGUMENTS.match(text, at + len(call.name))]
    for at in called or named:
        line = first_line + text.count("\n", 0, at)
        if not own_line or line == call.line:
            yield at


_ARGUMENTS = regex(r"\s*(?:<[^;(){}]*>\s*)?\(")
_WORD = regex(r"\w")


def _named(text: str, name: str) -> Iterator[int]:
    """Where a name stands as a word of its own."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (_WORD.match(text, end) or (at and _WORD.match(text, at - 1))):
            yield at
        at = text.find(name, end)


def _variants(lexed: Lexed) -> list[str]:
    """The text of each way through ``#if``: first branches, and where there are any, others.

    Branches often open a brace that the other closes, so they are not read together.
    """
    first, later = _branches(lexed)
    if not later:
        return [lexed.clean]
    return [_without(lexed.clean, later), _without(lexed.clean, first)]


def _branches(lexed: Lexed) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Where the first branches of ``#if`` with an ``#else`` stand, and where the others do."""
    first: list[tuple[int, int]] = []
    later: list[tuple[int, int]] = []
    stack: list[tuple[int, bool]] = []
    for offset, kind in zip(lexed.guard_offsets, lexed.guard_kinds, strict=True):
        if kind == IF:
            stack.append((offset, False))
        elif stack:
            start, is_later = stack.pop()
            if kind == ELSE or is_later:
                (later if is_later else first).append((start, offset))
            if kind == ELSE:
                stack.append((offset, True))
    return first, later


def _without(text: str, stretches: Sequence[tuple[int, int]]) -> str:
    for start, end in stretches:
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text


def _arms(text: str) -> Iterator[_Arm]:
    for found in _IF.finditer(text):
        yield from _if_arms(text, found)
    for found in _SWITCH.finditer(text):
        yield from _switch_arms(text, found)


def _if_arms(text: str, found: re.Match[str]) -> Iterator[_Arm]:
    closed = _closing(text, found.end() - 1)
    if closed < 0:
        return
    condition = _short(text[found.start() : closed + 1])
    end = _statement_end(text, closed + 1)
    yield _Arm(closed + 1, end, condition, "then", found.start())
    otherwise = _ELSE.match(text, end)
    if otherwise:
        yield _Arm(
            otherwise.end(), _statement_end(text, otherwise.end()), condition, "else", found.start()
        )
    elif _LEAVES.search(text[closed + 1 : end].rstrip().removesuffix("}")):
        yield _Arm(end, _block_end(text, end), condition, "otherwise", found.start())


def _switch_arms(text: str, found: re.Match[str]) -> Iterator[_Arm]:
    closed = _closing(text, found.end() - 1)
    opened = text.find("{", closed) if closed > 0 else -1
    end = _closing(text, opened) if opened > 0 else -1
    if end < 0:
        return
    labels = [m for m in _LABEL.finditer(text, opened, end) if _depth(text, opened, m.start()) == 1]
    for at, label in enumerate(labels):
        stop = next((m.start() for m in labels[at + 1 :] if not _is_next(text, label, m)), end)
        names = [m[1] or m[2] for m in labels if label.start() <= m.start() < stop]
        if at and _is_next(text, labels[at - 1], label):
            continue
        text_of = f"{_short(text[found.start() : closed + 1])} case {', '.join(map(flat, names))}"
        yield _Arm(label.end(), stop, text_of, "case", found.start())


def _is_next(text: str, label: re.Match[str], other: re.Match[str]) -> bool:
    """Whether nothing but labels stands between two labels."""
    return not _LABEL.sub("", text[label.end() : other.start()]).strip()


def _depth(text: str, start: int, at: int) -> int:
    return text.count("{", start, at) - text.count("}", start, at)


def _short(text: str) -> str:
    plain = flat(text)
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 3] + "..."


def _closing(text: str, opened: int) -> int:
    """Offset of the bracket that closes the one at ``opened``; -1 when none does."""
    depth = 0
    for found in _BRACKETS.finditer(text, opened):
        depth += 1 if found.group() in "({[" else -1
        if depth == 0:
            return found.start()
    return -1


def _statement_end(text: str, at: int) -> int:
    """The end of the statement that begins at ``at``, with its ``else``."""
    headed = _HEADED.match(text, at)
    if headed:
        closed = _closing(text, headed.end() - 1)
        end = _statement_end(text, closed + 1) if closed > 0 else len(text)
        otherwise = _ELSE.match(text, end)
        return _statement_end(text, otherwise.end()) if otherwise else end
    start = len(text) - len(text[at:].lstrip())
    if text[start : start + 1] == "{":
        closed = _closing(text, start)
        return closed + 1 if closed > 0 else len(text)
    return _plain_end(text, start)


def _plain_end(text: str, at: int) -> int:
    """After the ``;`` that ends a statement: one in brackets, as in a lambda, does not."""
    depth = 0
    for found in re.finditer(r"[(){}\[\];]", text[at:]):
        char = found.group()
        if char == ";" and not depth:
            return at + found.end()
        depth += (char in "({[") - (char in ")}]")
        if depth < 0:
            return at + found.start()
    return len(text)


def _block_end(text: str, at: int) -> int:
    """The brace that closes the block around ``at``."""
    depth = 0
    for found in re.finditer(r"[{}]", text[at:]):
        depth += 1 if found.group() == "{" else -1
        if depth < 0:
            return at + found.start()
    return len(text)
