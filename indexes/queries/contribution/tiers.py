"""Which tests to run before a pull request; the rest is for CI."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from indexes.queries.operator_tests import NOW, OperatorTests, Selection

_WRITTEN = 2
"""Files with tests written for an operator, before those that are made from its OpInfos."""


def run_now(tests: Sequence[tuple[str, OperatorTests]]) -> tuple[Selection, ...]:
    """The few to run now: of each operator in turn those written for it, then those made from its
    OpInfos, each command once."""
    turns = [[*t.named[:_WRITTEN], *t.files, *t.named[_WRITTEN:]] for _, t in tests]
    in_turn = (one for row in zip_longest(*turns) for one in row if one is not None)
    once: dict[str, Selection] = {}
    for one in in_turn:
        once.setdefault(one.command, one)
    return tuple(once.values())[:NOW]
