"""Which lists an operator joins when it gets a thing, and which it leaves.

No list is known by its name. One whose operators all have the thing, more surely than they have
anything else, is a list of what has it: where the operators like ours stand in there, ours joins.
One whose operators mostly lack it is a list of what is missing: ours leaves it."""

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
"""Operators of a list from which on its share says something."""
_SURER = 3.0
"""So many times more often than elsewhere an operator of the list lacks it."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a list has to speak of, in its path, its title or the comment of a row, to be about a
    thing."""

    kind: str
    words: str
    """A regular expression."""
    shown: frozenset[tuple[str, int]] = frozenset()
    """The lines that a gap was found by: what stands there says that it is missing."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A list to join, by the row of an operator that is like ours."""

    row: NamedRow
    operators: int
    """Those that the list names."""
    having: int
    """Those of them that have the thing."""
    usual: bool
    """Whether most of the operators like ours stand in there: else ours may or may not."""


class Memberships:
    """The lists of one tree that are about what operators have and lack."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.lists = Lists(tree)
        self.traits = Traits(tree, self.lists)

    def rows(
        self, own: Collection[str], near: Collection[Near], subject: Subject
    ) -> tuple[NamedRow, ...]:
        """The rows of all lists that name our operator, and of those outside of tests that name
        operators like it, where such things are spoken of."""
        mine = frozenset(own)
        others = frozenset(one.name for one in near) - mine
        found = self.lists.naming(mine, subject.words, beside=others)
        return tuple(sorted(found, key=lambda row: row.name not in mine))

    def joined(
        self, kind: str, own: Collection[str], near: Collection[Near], rows: Collection[NamedRow]
    ) -> Iterator[Joined]:
        """The lists that name the operators most like ours and not ours, all of whose operators
        have the thing; each by the nearest one's row."""
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
        """The rows of ours that say it is missing."""
        for row in self._about(subject, own, rows):
            if self._says_missing(subject, row):
                yield row

    def doubtful(
        self, subject: Subject, own: Collection[str], rows: Collection[NamedRow]
    ) -> Iterator[NamedRow]:
        """The rows of ours that say that a test of such things fails, for another reason or for
        this one."""
        for row in self._about(subject, own, rows):
            if _is_of_tests(row) and not self._says_missing(subject, row):
                yield row

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
        return self._tree.line(row.location).partition("#")[2]

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
        """The operators that want for nothing: meta tensors have several ways."""
        return self.traits.traced if kind == "meta" else self.traits.having(kind)

    @cached_property
    def _usual(self) -> dict[str, float]:
        """The share of tested operators that lack a thing."""
        tested = self.traits.having("opinfo")
        return {
            kind: 1 - len(tested & self._complete(kind)) / max(1, len(tested))
            for kind in self.traits.kinds
        }


_MISSING = regex(
    r"couldn't find|not implemented|no .*(?:rule|kernel|decomp|meta)|missing|NYI", IGNORECASE
)


def _is_of_tests(row: NamedRow) -> bool:
    """Whether it is a row of expected failures, not a table that code works with."""
    return row.list.fails and bool(regex(r"^test/|/test/|/testing/").search(row.list.path))


def _key(found: OperatorList) -> tuple[str, int]:
    return found.path, found.line
