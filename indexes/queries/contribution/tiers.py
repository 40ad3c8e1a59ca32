"""Which tests to run before a pull request; CI runs the rest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from indexes.queries.operator_tests import NOW, OperatorTests, Selection

_WRITTEN = 2
"""Files with handwritten tests of an operator, before those made from its OpInfos."""


def run_now(tests: Sequence[tuple[str, OperatorTests]]) -> tuple[Selection, ...]:
    """The few tests to run now: for each operator in turn handwritten ones, then those from
    OpInfos."""
    turns = [[*t.named[:_WRITTEN], *t.files, *t.named[_WRITTEN:]] for _, t in tests]
    in_turn = (one for row in zip_longest(*turns) for one in row if one is not None)
    once: dict[str, Selection] = {}
    for one in in_turn:
        once.setdefault(one.command, one)
    return tuple(once.values())[:NOW]
