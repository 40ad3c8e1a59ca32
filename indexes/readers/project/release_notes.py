"""Reads categories and topics of release notes, with their paths and words, from
scripts/release_notes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from indexes.readers.python.blocks import parse
from indexes.readers.python.scope import texts


class CategoryRule(NamedTuple):
    """The category of changes to files with one of these words in their path."""

    words: tuple[str, ...]
    category: str
    line: int
    lower: bool = False
    """Whether the path is compared in lower case."""

    def takes(self, path: str) -> bool:
        text = path.lower() if self.lower else path
        return any(word in text for word in self.words)


class TitleRule(NamedTuple):
    """The category of changes with this in their title."""

    text: str
    category: str
    line: int


def read_category_rules(data: bytes) -> tuple[CategoryRule, ...]:
    """The rules by path of ``categorize``, in order."""
    loops = (
        node
        for function in _functions(data, "categorize")
        for node in ast.walk(function)
        if isinstance(node, ast.For)
    )
    return tuple(rule for loop in loops for rule in _rules(loop.body))


def _rules(body: Iterable[ast.stmt]) -> Iterator[CategoryRule]:
    for node in body:
        if isinstance(node, ast.If):
            category = next(filter(None, map(_category, node.body)), "")
            words, lower = _asked(node.test)
            if category and words:
                yield CategoryRule(words, category, node.lineno, lower)
            yield from _rules(node.orelse)


def _category(node: ast.stmt) -> str:
    """The value of ``category = "jit"`` or ``category = common.quantization.name``."""
    if not isinstance(node, ast.Assign) or ast.unparse(node.targets[0]) != "category":
        return ""
    if isinstance(node.value, ast.Constant):
        return str(node.value.value)
    parts = ast.unparse(node.value).split(".")
    return parts[-2] if parts[-1] == "name" and len(parts) > 1 else ""


def _asked(test: ast.expr) -> tuple[tuple[str, ...], bool]:
    if isinstance(test, ast.Call) and len(test.args) == 2:
        file, words = test.args
        return tuple(texts(words)), "lower" in ast.unparse(file)
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In):
        return tuple(texts(test.left)), "lower" in ast.unparse(test.comparators[0])
    return (), False


def read_title_rules(data: bytes) -> tuple[TitleRule, ...]:
    """The pairs of ``bracket_category_matcher``: ``("[mps]", "mps")``."""
    return tuple(
        TitleRule(said[0], said[1], node.lineno)
        for function in _functions(data, "bracket_category_matcher")
        for node in ast.walk(function)
        if isinstance(node, ast.Tuple) and len(said := texts(node)) == 2
    )


def read_words(data: bytes, name: str) -> tuple[tuple[str, ...], int]:
    """The strings of a list assigned to a name, with the line; none if there is no such list."""
    for node in _parsed(data).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return tuple(texts(node.value)), node.lineno
    return (), 0


def _functions(data: bytes, name: str) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(_parsed(data)):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            yield node


def _parsed(data: bytes) -> ast.Module:
    try:
        return parse(data)
    except SyntaxError:
        return ast.Module([], [])
