"""Arguments that a docstring leaves out, and wrong ones that an OpInfo does not try."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from indexes.model.vocabulary import Location
from indexes.queries.changes.model import Action, ChangeStep
from indexes.queries.changes.planning import Changes, change_of
from indexes.queries.changes.python.arguments import error_inputs
from indexes.queries.gaps.model import Gap, GapList
from indexes.queries.gaps.tree import Tree
from tests.indexing import opened


def test_a_missing_argument_is_added_after_the_last_entry(changes: Changes) -> None:
    plan = changes.of_id("docstring/torch.words.said.leaves")
    assert plan is not None
    step = plan.steps[0]
    assert step.what == "Document two."
    assert "+        two: what it is for" in step.code
    (line,) = changes.tree.lines(step.location.path, step.location.line, step.location.line)
    assert line == "        one: the first"


def test_a_wrong_entry_is_shown_at_its_line(changes: Changes) -> None:
    plan = changes.of_id("docstring/torch.words.said.Said.well")
    assert plan is not None
    place = plan.steps[0].location
    assert "Default: ``0.25``" in changes.tree.lines(place.path, place.line, place.line)[0]


def test_error_inputs_are_named_in_the_opinfo_and_tried(changes: Changes, answer: GapList) -> None:
    gap = next(one for one in answer.gaps if one.id == "error-inputs/lonely")
    plan = changes.of_id(gap.id)
    assert plan is not None
    assert [step.action for step in plan.steps] == ["read", "add", "edit"]
    assert "+def error_inputs_lonely(op_info, device, **kwargs):" in plan.steps[1].code
    assert "+        error_inputs_func=error_inputs_lonely," in plan.steps[2].code
    assert [run.command for run in plan.tests] == [
        "pytest test/test_ops.py -k 'test_errors and lonely'"
    ]


def _steps(root: Path, cache: Path, text: str, entry: Location, action: Action) -> list[ChangeStep]:
    """The planned steps of one kind for an entry of a file of OpInfos."""
    (root / "infos.py").write_text(text)
    places = (entry, Location("infos.py", 1))
    gap = Gap(entry, "the OpInfo of one tries nothing", "", places, name="one")
    with opened(root, cache) as index:
        parts = error_inputs(Tree(index), change_of(replace(gap, kind="error-inputs")))
    return [step for step in parts.steps if step.action == action]


def test_error_inputs_are_named_above_the_last_field(tree_copy: Path, cache: Path) -> None:
    infos = 'op_db = [\n    OpInfo("one",\n           sample_inputs_func=sample_inputs_one),\n]\n'
    text = f"def sample_inputs_one():\n    pass\n\n\n{infos}"
    (edit,) = _steps(tree_copy, cache, text, Location("infos.py", 6, 7), "edit")
    assert edit.code[-4:-1] == (
        '     OpInfo("one",',
        "+           error_inputs_func=error_inputs_one,",
        "            sample_inputs_func=sample_inputs_one),",
    )


_INFOS = """\
from elsewhere import *


def sample_inputs_one(*, variant):
    pass


# The database
op_db = [
    OpInfo("one",
           sample_inputs_func={},
           op=one),
]
"""
_ONE = Location("infos.py", 10, 12)


@pytest.mark.parametrize("samples", ["partial(sample_inputs_one, variant=1)", "written_elsewhere"])
def test_error_inputs_are_written_wherever_sample_inputs_are(
    tree_copy: Path, cache: Path, samples: str
) -> None:
    (step,) = _steps(tree_copy, cache, _INFOS.format(samples), _ONE, "add")
    assert step.what == "Write error_inputs_one, which the OpInfo then names."
    assert step.code.index("+") == step.code.index("     pass") + 1
    assert "+def error_inputs_one(op_info, device, **kwargs):" in step.code


def test_error_inputs_are_named_in_no_other_entry(tree_copy: Path, cache: Path) -> None:
    text = _INFOS.format("sample_inputs_one").replace("sample_inputs_func", "sampled_by")
    other = '    OpInfo("two",\n           sample_inputs_func=sample_inputs_two),\n]\n'
    edits = _steps(tree_copy, cache, text.removesuffix("]\n") + other, _ONE, "edit")
    assert [step.code for step in edits] == [()]


def test_missing_arguments_are_added_in_the_order_of_the_signature(
    tree_copy: Path, cache: Path
) -> None:
    entries = [
        "    Args:",
        "        two: the second,",
        "            said on two lines",
        "        four: it",
    ]
    head = 'def orders(one, two, three, four):\n    """Orders.\n\n'
    (tree_copy / "torch/orders.py").write_text(f'{head}{chr(10).join(entries)}\n    """\n')
    with opened(tree_copy, cache) as index:
        plan = Changes(index).of_id("docstring/torch.orders.orders")
    assert plan is not None
    told = [line[1:] for line in plan.steps[0].code[3:]]
    said = [f"        {name}: what it is for" for name in ("one", "three")]
    start = told.index(entries[0])
    assert told[start : start + 6] == [entries[0], said[0], *entries[1:3], said[1], entries[3]]


@pytest.mark.parametrize(
    ("entry", "added"),
    [
        ("old_scale (float): old_scale to set", ["+        new_factor (float): old_scale to set"]),
        ("old_scale[int, float]: what to set", []),
    ],
)
def test_the_only_unknown_name_is_that_of_the_only_parameter_left(
    tree_copy: Path, cache: Path, entry: str, added: list[str]
) -> None:
    head = 'def scaled(one, new_factor):\n    """Scaled.\n\n    Args:\n        one: it\n'
    (tree_copy / "torch/scales.py").write_text(f'{head}        {entry}\n    """\n')
    with opened(tree_copy, cache) as index:
        plan = Changes(index).of_id("docstring/torch.scales.scaled")
    code = plan.steps[0].code if plan else ()
    assert [line for line in code if line.startswith("+  ")] == added
