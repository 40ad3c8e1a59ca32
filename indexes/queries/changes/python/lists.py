"""Lists that a kind of change must join or leave: allow-lists, tables, expected failures.

No list is known by name. If all operators of a list have a property, and most similar ones with it
are listed, ours joins. If all of them lack it, ours leaves.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from indexes.linking.python.paths import operator_named
from indexes.model.lines import LineCount
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.gaps.tree import Tree
from indexes.readers.python.blocks import Block, Text, without_bodies
from indexes.readers.python.operator_lists import (
    ListRow,
    OperatorList,
    bare_name,
    read_operator_lists,
)

_AFTER = r"(?:\.\w+)*[\"']?\s*(?:[,:\])}]|$)"
"""Text behind a name in a list; a call is no row."""
_BEFORE = ".:'\"_"
"""Text before it."""
PUBLIC = "__all__"
_CONTEXT = 7
"""Distance of edits whose diffs do not overlap."""
_EXPECTED = "test/expect"
_IS_TEST = regex(r"(?:^|/)tests?/.*\.py$")


@dataclass(frozen=True, slots=True)
class NamedRow:
    """A row of a list with an operator."""

    list: OperatorList
    row: ListRow
    name: str
    """Its bare name there."""

    @property
    def location(self) -> Location:
        return Location(self.list.path, self.row.line, self.row.end_line)


class Lists:
    """The lists of one tree, read on demand."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def naming(
        self, words: Set[str], about: str, beside: Set[str] = frozenset()
    ) -> Iterator[NamedRow]:
        """The rows that name an operator by some bare names.

        Parameters:
            about: A regular expression that the file must match.
            beside: More names, not searched in test files.
        """
        own, every = _patterns(words), _patterns(words | beside)
        subject = re.compile(about, re.IGNORECASE)
        for path in self._paths:
            text, is_test = self._tree.text(path), _IS_TEST.search(path)
            names = words if is_test else words | beside
            lines = _lines(text, own if is_test else every)
            if lines and subject.search(f"{path}\n{text}"):
                for one in read_operator_lists(_shortened(text, path, lines), path, lines):
                    named = ((row, bare_name(row.name)) for row in one.rows)
                    yield from (NamedRow(one, row, name) for row, name in named if name in names)

    def names(self, op: str) -> frozenset[str]:
        """The bare names of an overload in lists."""
        tree = self._tree
        found = {tree.natives[op].name, *map(bare_name, tree.names(op))}
        found |= {bare_name(name) for name, _ in tree.opinfo_names(op)}
        return frozenset(one for one in found if not one.startswith("_C_"))

    def operators(self, found: OperatorList) -> frozenset[str]:
        return frozenset(self.operator(bare_name(row.name)) for row in found.rows) - {""}

    def operator(self, word: str) -> str:
        """The operator of a bare name; empty if none."""
        return word if word in self._tree.overloads else self._aliases.get(word, "")

    @cached_property
    def _aliases(self) -> dict[str, str]:
        """OpInfo names that differ from the operator's."""
        rows = self._tree.index.facts.python.of_kinds("opinfo")
        found = ((bare_name(f.symbol), operator_named(f.target)) for _, f in rows)
        return {name: op for name, op in found if op in self._tree.overloads}

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        indexed = (path for path in self._tree.paths("%.py") if not path.startswith("third_party"))
        names = (name for name in self._tree.source.listed(_EXPECTED) if name.endswith(".expect"))
        return (*indexed, *(f"{_EXPECTED}/{name}" for name in names))


def _patterns(words: Collection[str]) -> list[re.Pattern[str]]:
    return [re.compile(re.escape(one) + _AFTER, re.MULTILINE) for one in _spelled(words)]


def _spelled(words: Collection[str]) -> list[str]:
    """Spellings of bare names in lists: ``linalg_svd`` and ``linalg.svd``."""
    return sorted({*words, *(word.replace("_", ".", 1) for word in words if word[0] != "_")})


def _lines(text: str, sought: Collection[re.Pattern[str]]) -> list[int]:
    """The lines of a text with one of the patterns, which begin with a literal so that the regex
    engine can search for it."""
    hits = sorted(hit.start() for one in sought for hit in one.finditer(text))
    line_of = LineCount(text)
    return [line_of(at) for at in hits if at and text[at - 1] in _BEFORE]


def _shortened(text: str, path: str, lines: Sequence[int]) -> str:
    """A Python file without bodies that have none of the lines, since parsing large test files
    takes a second."""
    if not path.endswith(".py"):
        return text
    read = Text(text.encode())
    return without_bodies(read.data, _unsought(read.blocks, lines)).decode()


def _unsought(blocks: Sequence[Block], lines: Sequence[int]) -> Iterator[Block]:
    """The blocks without any of the lines, in them or their decorators."""
    for at, block in enumerate(blocks):
        before = blocks[at - 1] if at else None
        is_around = before is not None and before.end_line >= block.head.line
        last = 0 if before is None else before.head.line if is_around else before.end_line
        if bisect_right(lines, block.end_line) == bisect_right(lines, last):
            yield block


def public_row(tree: Tree, path: str, name: str) -> Location | None:
    """The line of a function in a file's list of public names."""
    start = rf"^{PUBLIC} = \[[^\]]*?^[^\S\n]*[\"']"
    found = re.search(rf"{start}{name}[\"'],", tree.text(path), re.MULTILINE)
    return (
        Location(path, found[0].count("\n") + found.string.count("\n", 0, found.start()) + 1)
        if found
        else None
    )


def near_each_other(rows: Sequence[NamedRow]) -> Iterator[list[NamedRow]]:
    """Groups of rows that one diff removes."""
    group: list[NamedRow] = []
    for row in sorted(rows, key=lambda one: (one.location.path, one.location.line)):
        last = group[-1].location if group else None
        if last and (
            last.path != row.location.path or row.location.line - last.end_line > _CONTEXT
        ):
            yield group
            group = []
        group.append(row)
    if group:
        yield group
