"""Who uses a Python name, on the small tree, and what of that can't be told."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.queries.impact.answers import Impacts
from indexes.queries.index import Index
from tests.indexing import opened
from tests.tree_marks import marks


@pytest.mark.parametrize(
    "name", ["torch.optim._adam.adam", "torch.optim.Adam", "torch.optim.Optimizer.step"]
)
def test_each_use_is_found_and_no_namesake(name: str, tree_index: Index) -> None:
    found = Impacts(tree_index).callers(name)
    root, *users = found.steps
    assert root.kind == "python"
    lines = {(step.evidence.path, step.evidence.line) for step in users if step.evidence}
    expected = {mark.spot for mark in marks("uses") if name in mark.words[0].split(",")}
    assert expected
    assert lines == expected


def test_calls_on_unknown_values_are_counted(tree_index: Index) -> None:
    found = Impacts(tree_index).callers("torch.optim.Optimizer.step")
    assert any("2 calls of .step() on values" in told for told in found.unresolved)
    assert any("only files named test_*" in told for told in found.unresolved)


def test_the_binding_of_an_operator_shows_what_calls_the_operator_too(tree_index: Index) -> None:
    found = Impacts(tree_index).callers("torch.mul")
    kinds = [step.kind for step in found.steps if step.parent is None]
    assert kinds[0] == "python"
    assert "operator" in kinds[1:]


def test_code_below_a_function_is_of_its_module_and_an_assignment_is_no_use(
    tree_copy: Path, cache: Path
) -> None:
    text = "def later(x):\n    return x\n\n\ndef last(x):\n    return later(x)\n\n\n"
    (tree_copy / "torch/_later.py").write_text(f"{text}made = call(\n    later,\n    later=1)\n")
    with opened(tree_copy, cache) as index:
        found = Impacts(index).callers("torch._later.later").steps[1:]
    lines = [(step.symbol, step.evidence and step.evidence.line) for step in found]
    assert lines == [("torch._later.last", 6), ("torch._later", 10)]
