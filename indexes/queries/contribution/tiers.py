"""Which tests to run before a pull request; CI runs the rest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from indexes.queries.operator_tests import NOW, OperatorTests, Selection

_WRITTEN = 2
"""Files with handwritten tests of an operator, before those made from its OpInfos."""


def in_order(tests: OperatorTests) -> list[Selection]:
    """The tests of an operator: two files of handwritten ones, those from OpInfos, the rest."""
    return [*tests.named[:_WRITTEN], *tests.files, *tests.named[_WRITTEN:]]


def run_now(tests: Sequence[tuple[str, OperatorTests]]) -> tuple[Selection, ...]:
    """The few tests to run now, of each operator in turn; whole files after those that are chosen
    by name."""
    turns = [in_order(one) for _, one in tests]
    in_turn = (one for row in zip_longest(*turns) for one in row if one is not None)
    once: dict[str, Selection] = {}
    for one in in_turn:
        once.setdefault(one.command, one)
    return tuple(sorted(once.values(), key=lambda one: one.is_whole))[:NOW]
