"""The lists that an operator joins when it gets a property, and those that it leaves.

No list is known by name. One whose operators all have the property, more surely than any other, is
joined if it contains similar operators. One whose operators mostly lack it is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from indexes.model.regex import IGNORECASE, regex
from indexes.queries.changes.python.lists import PUBLIC, Lists, NamedRow
from indexes.queries.changes.python.nearest import Near
from indexes.queries.changes.python.traits import Traits
from indexes.queries.gaps.tree import Tree
from indexes.readers.python.operator_lists import OperatorList

_ALL = 0.9
_FEW = 0.15
_FEWEST = 20
"""Fewest operators of a list for conclusions."""
_SURER = 3.0
"""How many times more often a list's operators must lack it."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a list's path, title or comments must match to be about a property."""

    kind: str
    words: str
    """A regular expression."""
    shown: frozenset[tuple[str, int]] = frozenset()
    """The gap's lines, which say that it is missing."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A list to join, with a similar operator's row."""

    row: NamedRow
    operators: int
    """Those in the list."""
    having: int
    """Those of them with the property."""
    usual: bool
    """Whether most similar operators are listed; otherwise optional."""


class Memberships:
    """One tree's lists about what operators have and lack."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.lists = Lists(tree)
        self.traits = Traits(tree, self.lists)

    def rows(
        self, own: Collection[str], near: Collection[Near], subject: Subject
    ) -> tuple[NamedRow, ...]:
        """The rows of our operator in all lists, and of similar ones outside tests, about the
        subject."""
        mine = frozenset(own)
        others = frozenset(one.name for one in near) - mine
        found = self.lists.naming(mine, subject.words, beside=others)
        return tuple(sorted(found, key=lambda row: row.name not in mine))

    def joined(
        self, kind: str, own: Collection[str], near: Collection[Near], rows: Collection[NamedRow]
    ) -> Iterator[Joined]:
        """The lists of similar operators without ours, all of whose operators have the property;
        each with the most similar one's row."""
        order = [one.name for one in near]
        there = {_key(row.list) for row in rows if row.name in own}
        counted = Counter(_key(r.list) for r in {(_key(r.list), r.name): r for r in rows}.values())
        seen: set[tuple[str, int]] = set()
        named = [row for row in rows if row.name in order]
        for row in sorted(named, key=lambda row: order.index(row.name)):
            key = _key(row.list)
            enough = row.name == order[0] or 2 * counted[key] >= len(order)
            if key not in there | seen and not row.list.fails and row.list.title != PUBLIC:
                seen.add(key)
                if found := self._of_those_having(kind, row, enough):
                    yield found

    def _of_those_having(self, kind: str, row: NamedRow, usual: bool) -> Joined | None:
        operators = self.lists.operators(row.list)
        having = len(operators & self.traits.having(kind))
        share = having / max(1, len(operators))
        if len(operators) < _FEWEST or share < _ALL:
            return None
        others = (
            len(operators & self.traits.having(one)) for one in self.traits.kinds if one != kind
        )
        return Joined(row, len(operators), having, usual) if having >= max(others) else None

    def left(
        self, subject: Subject, own: Collection[str], rows: Collection[NamedRow]
    ) -> Iterator[NamedRow]:
        for row in self._about(subject, own, rows):
            if self._says_missing(subject, row):
                yield row

    def doubtful(
        self, subject: Subject, own: Collection[str], rows: Collection[NamedRow]
    ) -> Iterator[NamedRow]:
        """The rows of ours about failing tests of the subject, perhaps for another reason."""
        for row in self.failing(subject, own, rows):
            if not self._says_missing(subject, row):
                yield row

    def failing(
        self, subject: Subject, own: Collection[str], rows: Collection[NamedRow]
    ) -> Iterator[NamedRow]:
        """The rows of ours about failing tests of the subject."""
        return filter(_is_of_tests, self._about(subject, own, rows))

    def _about(
        self, subject: Subject, own: Collection[str], rows: Collection[NamedRow]
    ) -> Iterator[NamedRow]:
        words = regex(subject.words, IGNORECASE)
        for row in rows:
            text = f"{row.list.path} {row.list.title} {self._comment(row)}"
            shown = (row.location.path, row.location.line) in subject.shown
            if row.name in own and (shown or words.search(text)):
                yield row

    def _comment(self, row: NamedRow) -> str:
        """What its lines say; that of a call over several is often behind the last."""
        lines = self._tree.lines_of(row.location)
        return " ".join(filter(None, (line.partition("#")[2].strip() for line in lines)))

    def _says_missing(self, subject: Subject, row: NamedRow) -> bool:
        if (row.location.path, row.location.line) in subject.shown:
            return True
        comment = self._comment(row)
        if comment and _MISSING.search(comment):
            return bool(regex(subject.words, IGNORECASE).search(comment))
        operators = self.lists.operators(row.list)
        if not operators or not (row.list.fails or row.list.path.endswith(".expect")):
            return False
        lacking = 1 - len(operators & self._complete(subject.kind)) / len(operators)
        return lacking >= 1 - _FEW or lacking >= max(_FEW, _SURER * self._usual[subject.kind])

    def _complete(self, kind: str) -> frozenset[str]:
        """The operators that lack nothing; meta tensors work in several ways."""
        return self.traits.traced if kind == "meta" else self.traits.having(kind)

    @cached_property
    def _usual(self) -> dict[str, float]:
        """The share of tested operators without a property."""
        tested = self.traits.having("opinfo")
        return {
            kind: 1 - len(tested & self._complete(kind)) / max(1, len(tested))
            for kind in self.traits.kinds
        }


_MISSING = regex(
    r"couldn't find|not implemented|no .*(?:rule|kernel|decomp|meta)|missing|NYI", IGNORECASE
)


def _is_of_tests(row: NamedRow) -> bool:
    """Whether it is a row of expected failures, not of a table used by code."""
    return row.list.fails and bool(regex(r"^test/|/test/|/testing/").search(row.list.path))


def _key(found: OperatorList) -> tuple[str, int]:
    return found.path, found.line
