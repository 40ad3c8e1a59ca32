"""How many error texts expected by the tree's own tests lead to a line."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from indexes.model.regex import regex
from indexes.queries.audit.measure import Measure
from indexes.queries.index import Index
from indexes.queries.messages import Message, Messages
from indexes.readers.messages import HOLE

_STRING = r"[rRuUfF]{0,2}(?:\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
_EXPECTED = regex(rf"assertRaisesRegex\(\s*(?:[\w.]+|\([^()]*\)),\s*((?:{_STRING}\s*)+)(?=[,)])")
_LITERAL = regex(_STRING)
_HELD = regex(r"\{[^{}]*\}")
_FLAGS = regex(r"^\(\?[aiLmsux]+\)|(?<!\\)\.\Z")
"""Parts of an expression without text: flags and ends."""
_TOKEN = regex(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[.^$|()]|\?[:=!]|[*+?]\??|\{\d+(?:,\d*)?\}|[^\\]")
_CLASSES = {"\\d": "7", "\\w": "x", "\\s": " ", "\\S": "x", "\\D": "x", "\\W": " ", "\\b": ""}
_VALUE = " x "
_SHORT = 6
"""Fewest letters of a searchable text."""
_WRITTEN = "{}:{} {!r}"


class Expected(NamedTuple):
    """An error text that a test expects."""

    path: str
    line: int
    text: str
    """With ``HOLE`` for what its regular expression leaves open."""
    is_own: bool
    """Whether the test file itself raises it."""


def expected_errors(index: Index) -> Iterator[Expected]:
    """The distinct texts of ``assertRaisesRegex`` in a tree's tests."""
    known = set()
    for path in index.facts.paths("test"):
        source = index.read(path)
        for found in _EXPECTED.finditer(source):
            written = "".join(map(_value, _LITERAL.findall(found[1])))
            text = filled(written)
            longest = max(text.split(HOLE), key=len)
            if len(longest) >= _SHORT and text not in known:
                known.add(text)
                line = source.count("\n", 0, found.start(1)) + 1
                yield Expected(path, line, text, source.count(longest) > 1)


def _value(literal: str) -> str:
    """The text of a Python literal, with a value for formatted parts."""
    prefix = literal[: literal.index(literal[-1])].lower()
    value = str(
        ast.literal_eval(
            literal[len(prefix) :] if "r" not in prefix else f"r{literal[len(prefix) :]}"
        )
    )
    return _HELD.sub(HOLE, value) if "f" in prefix else value


def filled(expression: str) -> str:
    """A text that matches a test's regular expression."""
    stack: list[list[str]] = [[]]
    skipping = 0
    for token in _TOKEN.findall(_FLAGS.sub("", expression)):
        if token == "(":
            stack.append([])
        elif token == ")" and len(stack) > 1:
            group = "".join(stack.pop())
            skipping = min(skipping, len(stack) - 1) if skipping == len(stack) + 1 else skipping
            stack[-1].append(group)
        elif skipping == len(stack):
            continue
        elif token == "|":
            skipping = len(stack)
        else:
            stack[-1] += _read(token, stack[-1])
    return "".join(part for level in stack for part in level)


def _read(token: str, before: list[str]) -> list[str]:
    if token in ("^", "$", "?:", "?=", "?!") or (token[0] == "{" and token[-1] == "}"):
        return []
    if token[0] in "*+?" and len(token) < 3:
        if before and before[-1] == ".":
            before[-1] = HOLE
        return []
    if token[0] == "\\":
        return [_CLASSES.get(token, token[1:])]
    if token[0] == "[" and len(token) > 1:
        return [token[1:].lstrip("^\\")[:1]]
    return [token]


def leads_to(expected: Expected, messages: Messages) -> tuple[Message, ...]:
    """What the text leads to; or its longest literal part."""
    whole = messages.said(expected.text.strip(HOLE).replace(HOLE, _VALUE))
    return whole or messages.said(max(expected.text.split(HOLE), key=len))


def error_measure(index: Index) -> Measure:
    """The share of expected texts that lead to a line."""
    messages = Messages(index.facts.store)
    counts = dict.fromkeys(("one line", "several", "raised by the test itself", "not found"), 0)
    short = []
    for one in expected_errors(index):
        found = leads_to(one, messages)
        verdict = "one line" if sum(not hit.is_rest for hit in found) == 1 else "several"
        if not found:
            verdict = "raised by the test itself" if one.is_own else "not found"
        counts[verdict] += 1
        if verdict == "not found":
            short.append(_WRITTEN.format(one.path, one.line, one.text.replace(HOLE, "...")))
    total = sum(counts.values()) - counts["raised by the test itself"]
    share = 1 - counts["not found"] / total if total else 1
    bar = "95 % of the texts that the tree's own tests expect lead to a line"
    return Measure("texts of errors", bar, total, counts, share >= _BAR, tuple(short))


_BAR = 0.95
