"""Syntax colours for the lines of a file that are on screen.

C++, CUDA, Objective-C++ and Python are parsed once by tree-sitter and queried line by line; YAML is
coloured by patterns. Without an installed grammar, a file has no colours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Protocol

from indexes.model.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query, Tree

Span = tuple[int, int, str]
"""(first column, column behind the last, style name)"""

STYLES = (
    "attribute",
    "comment",
    "constant",
    "function",
    "keyword",
    "label",
    "number",
    "preproc",
    "property",
    "string",
    "type",
)
"""All style names of spans."""

MAX_BYTES = 1_000_000
"""Larger files are tables of numbers, which take a second to parse."""

MAX_COLUMNS = 2_000
"""Lines longer than this stay plain."""

_CPP = frozenset("c cc cpp cu cuh cxx h hip hpp inl m metal mm".split())
_PYTHON = frozenset({"py", "pyi"})
_YAML = frozenset({"yaml", "yml"})
_AS_STYLE = {"constructor": "type", "escape": "string", "embedded": "", "variable": ""}


class Colourer(Protocol):
    """Colours of one file."""

    def spans(self, first: int, last: int) -> dict[int, list[Span]]:
        """Spans of the lines ``first`` to ``last`` (from 0, both included), in order."""


def language_of(path: str) -> str | None:
    """``cpp``, ``python``, ``yaml`` or None, by the file's ending."""
    ending = path.removesuffix(".in").rsplit(".", 1)[-1].lower()
    for name, endings in (("cpp", _CPP), ("python", _PYTHON), ("yaml", _YAML)):
        if ending in endings:
            return name
    return None


def colourer(path: str, lines: Sequence[str]) -> Colourer | None:
    """The colourer of a file, or None."""
    language = language_of(path)
    if language is None or sum(map(len, lines)) > MAX_BYTES:
        return None
    if language == "yaml":
        return YamlColours(lines)
    return _tree_colours(language, lines)


def prepare() -> None:
    """Load the grammar that most files need."""
    with suppress(ImportError):
        _grammar("cpp")


def _tree_colours(language: str, lines: Sequence[str]) -> Colourer | None:
    try:
        grammar, query = _grammar(language)
    except ImportError:
        return None
    return TreeColours(lines, grammar, query)


@cache
def _grammar(language: str) -> tuple[Language, Query]:
    """A grammar and its highlight query, which takes 10 ms to compile."""
    from tree_sitter import Language, Query

    capsule, text = _python() if language == "python" else _cpp()
    grammar = Language(capsule)
    return grammar, Query(grammar, text)


def _cpp() -> tuple[object, str]:
    """The C++ query contains only additions to C."""
    import tree_sitter_c
    import tree_sitter_cpp

    query = tree_sitter_c.HIGHLIGHTS_QUERY + tree_sitter_cpp.HIGHLIGHTS_QUERY
    return tree_sitter_cpp.language(), query


def _python() -> tuple[object, str]:
    import tree_sitter_python

    return tree_sitter_python.language(), tree_sitter_python.HIGHLIGHTS_QUERY


class TreeColours:
    """Colours from a syntax tree."""

    def __init__(self, lines: Sequence[str], grammar: Language, query: Query) -> None:
        from tree_sitter import Parser

        self._lines = lines
        self._query = query
        self._tree: Tree = Parser(grammar).parse("\n".join(lines).encode())

    def spans(self, first: int, last: int) -> dict[int, list[Span]]:
        painted = {row: [""] * len(self._lines[row]) for row in range(first, last + 1)}
        for node, style in self._captures(first, last):
            for row, start, end in self._extent(node, first, last):
                painted[row][start:end] = [style] * (end - start)
        return {row: list(_runs(styles)) for row, styles in painted.items()}

    def _captures(self, first: int, last: int) -> list[tuple[Node, str]]:
        """Captured nodes in painting order: outer before inner, later patterns on top."""
        from tree_sitter import QueryCursor

        cursor = QueryCursor(self._query)
        cursor.set_point_range((first, 0), (last + 1, 0))
        found = [
            (node.start_byte, -node.end_byte, pattern, node, _style(name, node.type))
            for pattern, captures in cursor.matches(self._tree.root_node)
            for name, nodes in captures.items()
            for node in nodes
        ]
        found.sort(key=lambda item: item[:3])
        return [(node, style) for _, _, _, node, style in found]

    def _extent(self, node: Node, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        """The columns of a node on each requested line; tree-sitter counts bytes."""
        (top, left), (bottom, right) = node.start_point, node.end_point
        for row in range(max(top, first), min(bottom, last) + 1):
            line = self._lines[row]
            if len(line) <= MAX_COLUMNS:
                start = _column(line, left) if row == top else 0
                end = _column(line, right) if row == bottom else len(line)
                yield row, start, end


def _column(line: str, byte: int) -> int:
    """The character column of a byte column."""
    return byte if line.isascii() else len(line.encode()[:byte].decode(errors="ignore"))


def _style(capture: str, node_type: str) -> str:
    """The style for a capture such as ``function.builtin``; empty for plain text."""
    if node_type.startswith("#") or node_type == "preproc_directive":
        return "preproc"
    name = capture.split(".", 1)[0]
    if name == "operator":
        return "keyword" if node_type[:1].isalpha() else ""
    name = _AS_STYLE.get(name, name)
    return name if name in STYLES else ""


def _runs(styles: list[str]) -> Iterator[Span]:
    """Neighbouring columns of the same style as one span; plain text has none."""
    start = 0
    for column in range(1, len(styles) + 1):
        if column == len(styles) or styles[column] != styles[start]:
            if styles[start]:
                yield start, column, styles[start]
            start = column


_YAML_TOKEN = regex(
    r"""(?P<comment>(?:^|(?<=\s))\#.*$)
      | (?P<property>(?:^|(?<=[\s{,]))[\w.,\ ]*?[\w.]:(?=\s|$))
      | (?P<string>"[^"]*"|'[^']*')
      | (?P<constant>\b(?:True|False|true|false|null)\b)
      | (?P<number>(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]))""",
    re.VERBOSE,
)


class YamlColours:
    """Colours for torchgen's YAML: keys, comments, strings, numbers."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    def spans(self, first: int, last: int) -> dict[int, list[Span]]:
        return {row: self._line(self._lines[row]) for row in range(first, last + 1)}

    def _line(self, line: str) -> list[Span]:
        tokens = _YAML_TOKEN.finditer(line) if len(line) <= MAX_COLUMNS else ()
        return [(match.start(), match.end(), match.lastgroup or "") for match in tokens]
