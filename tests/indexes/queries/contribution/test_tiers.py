"""Five commands to run now: of each operator in turn, those written for it first."""

from __future__ import annotations

from indexes.linking.python.test_expressions import Expression
from indexes.model.vocabulary import Location
from indexes.queries.contribution.tiers import run_now
from indexes.queries.operator_tests import OperatorTests, Selection


def _selection(path: str) -> Selection:
    where = (Location(path, 1),)
    return Selection(path, Expression("pytest", (path,)), where, ("T.test_x",), "")


def _tests(files: str, named: str) -> OperatorTests:
    return OperatorTests((), tuple(map(_selection, files)), tuple(map(_selection, named)))


def test_each_operator_in_turn_and_each_command_once() -> None:
    found = run_now([("a", _tests("fgh", "abc")), ("b", _tests("fx", "a")), ("c", _tests("", ""))])
    assert [one.path for one in found] == ["a", "b", "f", "x", "g"]
    assert run_now([]) == ()
