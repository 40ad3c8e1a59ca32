"""Words in the code of C++ files, and the functions that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, Location
from indexes.queries.gaps.tree import Tree

_STRINGS = regex(r"\"(?:[^\"\\]|\\.)*\"")
_TESTS = regex(r"(?:^|/)(?:tests?|benchmarks?|examples?)/|_test\.\w+$")
VENDORED = "third_party/"
_GENERATED = "@generated"
_HEAD = 400
"""Characters in which a file says that a program wrote it."""


class Use(NamedTuple):
    """A word in code."""

    location: Location
    found: re.Match[str]


def product_files(tree: Tree) -> tuple[str, ...]:
    """The indexed C++ files that PyTorch's own people write, without tests."""
    paths = tree.index.facts.paths("cpp")
    own = (path for path in paths if VENDORED not in path and not _TESTS.search(path))
    return tuple(path for path in own if _GENERATED not in tree.text(path)[:_HEAD])


def uses(text: str, path: str, word: re.Pattern[str]) -> Iterator[Use]:
    """Where a pattern stands in the code of a file, comments and strings left out."""
    comments: list[tuple[int, int]] | None = None
    line, counted = 1, 0
    for found in word.finditer(text):
        at = found.start()
        comments = list(_comments(text)) if comments is None else comments
        if _is_words(text, at) or any(start <= at < end for start, end in comments):
            continue
        line += text.count("\n", counted, at)
        counted = at
        yield Use(Location(path, line), found)


def _comments(text: str) -> Iterator[tuple[int, int]]:
    """Where the comments between ``/*`` and ``*/`` begin and end."""
    start = text.find("/*")
    while start >= 0:
        close = text.find("*/", start + 2)
        end = close + 2 if close >= 0 else len(text)
        yield start, end
        start = text.find("/*", end)


def _is_words(text: str, at: int) -> bool:
    """Whether a comment or a string of its line holds a place."""
    before = _STRINGS.sub("", text[text.rfind("\n", 0, at) + 1 : at])
    return "//" in before or before.count('"') % 2 == 1


def by_function(tree: Tree, found: Iterable[Use]) -> Iterator[tuple[Definition | None, list[Use]]]:
    """The uses of each function of a file; those of no function one by one."""
    placed = [(tree.definition_at(one.location), one) for one in found]
    for at, group in groupby(enumerate(placed), key=lambda pair: pair[1][0] or pair[0]):
        rows = [one for _, (_, one) in group]
        yield (at if isinstance(at, Definition) else None), rows
