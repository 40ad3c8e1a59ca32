"""Test functions with the decorators that make several tests of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from indexes.model.regex import regex


class Decorator(NamedTuple):
    """``@parametrize("x", [1, 2])``: its name without the module, and what it is called with."""

    name: str
    arguments: str


class TestFunction(NamedTuple):
    """A test function of a class at a file's top level."""

    cls: str
    name: str
    line: int
    decorators: tuple[Decorator, ...]
    """As written: the first is applied last, and is the first in the names of the tests."""


_TOKEN = regex(
    r"^([ \t]*)(?:@([\w.]+)|(?:async[ \t]+)?def[ \t]+(\w+)|class[ \t]+(\w+))", re.MULTILINE
)


class _Scope(NamedTuple):
    indent: int
    cls: str
    """Empty for a function."""


def read_test_functions(text: str) -> tuple[TestFunction, ...]:
    """The test functions of a file's classes. Those of classes inside functions are not the
    file's own tests."""
    return tuple(_functions(text))


def _functions(text: str) -> Iterator[TestFunction]:
    scopes: list[_Scope] = []
    pending: list[Decorator] = []
    tokens = list(_TOKEN.finditer(text))
    ends = [token.start() for token in tokens[1:]] + [len(text)]
    line, counted = 1, 0
    for token, end in zip(tokens, ends, strict=True):
        indent, decorator, function, cls = token.groups()
        if decorator:
            name = decorator.rpartition(".")[2]
            pending.append(Decorator(name, _arguments(text[token.end() : end])))
            continue
        while scopes and scopes[-1].indent >= len(indent):
            scopes.pop()
        if function and function.startswith("test") and len(scopes) == 1 and scopes[0].cls:
            line, counted = line + text.count("\n", counted, token.start(3)), token.start(3)
            yield TestFunction(scopes[0].cls, function, line, tuple(pending))
        scopes.append(_Scope(len(indent), cls or ""))
        pending = []


def _arguments(after: str) -> str:
    """What stands in the brackets behind a decorator's name."""
    written = " ".join(line.strip() for line in _uncommented(after))
    return written.strip()[1:-1].strip(" ,") if written.startswith("(") else ""


def _uncommented(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if not line.lstrip().startswith("#"))
