"""Five commands to run now: of each operator in turn, those written for it first."""

from __future__ import annotations

from indexes.linking.python.test_expressions import Expression
from indexes.model.vocabulary import Location
from indexes.queries.contribution.tiers import run_now
from indexes.queries.operator_tests import OperatorTests, Selection


def _selection(path: str) -> Selection:
    where = (Location(path, 1),)
    return Selection(path, Expression("pytest", (path,)), where, ("T.test_x",), "")


def _whole(path: str) -> Selection:
    return Selection(path, Expression("pytest", (path,)), (Location(path, 0),), (path,), "")


def _tests(files: str, named: str) -> OperatorTests:
    return OperatorTests((), tuple(map(_selection, files)), tuple(map(_selection, named)))


def test_each_operator_in_turn_and_each_command_once() -> None:
    found = run_now([("a", _tests("fgh", "abc")), ("b", _tests("fx", "a")), ("c", _tests("", ""))])
    assert [one.path for one in found] == ["a", "b", "f", "x", "g"]
    assert run_now([]) == ()


def test_whole_files_come_after_tests_that_are_chosen_by_name() -> None:
    of_module = OperatorTests((), (), (_whole("test_nn.py"),))
    found = run_now([("a", _tests("", "ab")), ("torch/nn/functional.py", of_module)])
    assert [one.path for one in found] == ["a", "b", "test_nn.py"]
