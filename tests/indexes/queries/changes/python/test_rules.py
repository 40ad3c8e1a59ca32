"""What Python registers for an operator: where, in which words, and which lists it leaves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.linking.python.paths import place_of
from indexes.queries.changes.model import Change, ChangeStep, Plan
from indexes.queries.changes.planning import Changes
from indexes.queries.changes.python.opinfo import python_ref
from indexes.queries.changes.python.rules import RulePlan
from indexes.queries.contribution.plan import Contributions
from indexes.queries.gaps.find import find_gaps
from indexes.queries.gaps.model import GapFilter
from indexes.queries.index import Index
from tests.indexing import append, opened, write
from tests.tree_marks import TREE, YAML

OPINFOS = "torch/testing/_internal/common_methods_invocations.py"


def _steps(plan: Plan | None, path: str) -> list[ChangeStep]:
    assert plan is not None
    return [step for step in plan.steps if step.location.path == path and step.touches]


def _line_of(step: ChangeStep) -> str:
    lines = (TREE / step.location.path).read_text().splitlines()
    return lines[step.location.line - 1]


def test_a_decomposition_stands_after_the_nearest_one(changes: Changes) -> None:
    plan = changes.of_id("decomposition/lonely")
    (step,) = _steps(plan, "torch/_decomp/decompositions.py")
    assert step.action == "add"
    assert "+@register_decomposition(aten.lonely)" in step.code
    assert any(line.startswith("+def lonely(self") for line in step.code)
    assert plan is not None
    assert plan.neighbours
    assert plan.there is None


def test_a_decomposition_may_be_the_ref_or_stand_in_the_other_file(changes: Changes) -> None:
    mean = changes.of_op("mean", "decomposition")
    (found,) = [step for step in mean.steps if step.what.startswith("Register the ref of mean")]
    assert "def mean(" in _line_of(found)
    total = changes.of_op("sum", "decomposition")
    places = [s.location.path for s in total.steps if "dd " in s.what and "after" in s.what]
    added, other, _ = places  # the last is for its OpInfo
    assert (added, other) == ("torch/_refs/__init__.py", "torch/_decomp/decompositions.py")
    assert not [step for step in total.steps if "Register the ref" in step.what]


def test_a_decomposition_has_the_opinfo_whose_inputs_test_it(changes: Changes) -> None:
    plan = changes.of_id("decomposition/lonely")
    assert plan is not None
    ((path, fact),) = changes.tree.opinfos("lonely")[:1]
    (step,) = [one for one in plan.steps if one.what.startswith("See its OpInfo")]
    assert (step.action, step.location[:2]) == ("read", (path, fact.line))


def test_the_expect_file_is_written_by_its_test(changes: Changes) -> None:
    path = "test/expect/HasDecompTest.test_has_decomposition.expect"
    (step,) = _steps(changes.of_id("decomposition/lonely"), path)
    assert step.action == "remove"
    assert "-aten::lonely" in step.code
    assert "-aten::lonely_backward" not in step.code


def test_a_lowering_replaces_the_fallback(changes: Changes) -> None:
    steps = _steps(changes.of_id("lowering/lonely"), "torch/_inductor/lowering.py")
    assert any("make_fallback(aten.lonely)" in line for step in steps for line in step.code)


def test_what_is_there_is_said(changes: Changes) -> None:
    plan = changes.of_op("whole", "decomposition")
    assert plan.there is not None
    assert plan.there.path == "torch/_decomp/decompositions.py"
    assert plan.steps[0].action == "edit"
    assert plan.steps[0].location == plan.there
    assert plan.tests


def test_a_row_of_what_is_there_is_not_removed(tree_copy: Path, cache: Path) -> None:
    rows = "SKIPS = {\n    xfail('_softmax'),  # no decomposition\n}\n"
    append(tree_copy, {"test/test_decomp.py": rows})
    with opened(tree_copy, cache) as index:
        plan = Changes(index).of_op("_softmax", "decomposition")
    assert plan.there is not None
    assert {step.action for step in plan.steps[1:]} == {"read"}
    assert any("drop the row if it passes" in step.what for step in plan.steps)


def test_a_ref_takes_no_opinfo_away(changes: Changes) -> None:
    plan = changes.of_id("ref/lonely")
    assert plan is not None
    assert plan.change.gap is not None
    (tested,) = [one for one in plan.change.gap.evidence if "common_methods" in one.path]
    assert not [one for one in plan.steps if one.location == tested or one.action == "remove"]


@pytest.fixture
def with_prims(tree_copy: Path, cache: Path) -> Iterator[Index]:
    """A tree whose refs call a prim each, and are tested by entries of their own."""
    refs = tree_copy / "torch/_refs/__init__.py"
    text = refs.read_text().replace("torch.ops.prims.", "prims.")
    text = text.replace("    return prims.", "    utils.checked(a)\n    return prims.")
    imports = "import torch\nimport torch._prims as prims\nimport torch._prims_common as utils\n"
    listed = '__all__ = [\n    "abs",\n    "ceil",\n    "sin",\n]\n'
    refs.write_text(text.replace("import torch\n", imports) + listed)
    write(tree_copy, {"torch/_prims_common/__init__.py": "def checked(a):\n    pass\n"})
    infos = tree_copy / "torch/testing/_internal/common_methods_invocations.py"
    for name in ("abs", "sin", "ceil"):
        made = f'{name} = _make_unary(\n    "{name}",\n    impl_aten=torch.{name},\n)\n\n'
        append(tree_copy, {"torch/_prims/__init__.py": made})
    entry = (
        '    UnaryPythonRefInfo(\n        "_refs.{0}",\n        torch_opinfo_name="{0}",\n    ),\n'
    )
    entries = "".join(map(entry.format, ("abs", "sin", "ceil")))
    rows = '    UnaryUfuncInfo("sigmoid"),\n    UnaryUfuncInfo("ceil"),\n'
    rows += '    UnaryUfuncInfo("sigmoid", variant_test_name="large"),\n'
    infos.write_text(
        infos.read_text().replace("op_db: list[OpInfo] = [\n", f"op_db: list[OpInfo] = [\n{rows}")
        + f"python_ref_db = [\n{entries}]\n"
    )
    with opened(tree_copy, cache) as index:
        yield index


def test_a_ref_that_is_registered_and_not_listed_is_there(tree_copy: Path, cache: Path) -> None:
    append(tree_copy, {"torch/_refs/__init__.py": '\n\n__all__ = ["sin", "ceil"]\n'})
    with opened(tree_copy, cache) as index:
        there = Changes(index).of_op("abs", "ref").there
        gaps = find_gaps(index, GapFilter(("ref",))).gaps
    assert there is not None
    assert there.path == "torch/_refs/__init__.py"
    assert "abs" not in {gap.name for gap in gaps}


def test_a_ref_has_its_prim_and_the_entry_of_its_tests(with_prims: Index) -> None:
    plan = Changes(with_prims).of_op("sigmoid", "ref")
    near = plan.neighbours[0].name
    (prim,) = _steps(plan, "torch/_prims/__init__.py")
    assert '+    "sigmoid",' in prim.code
    assert "+    impl_aten=torch.sigmoid," in prim.code
    (entry,) = _steps(plan, "torch/testing/_internal/common_methods_invocations.py")
    assert {'+        "_refs.sigmoid",', '+        torch_opinfo_name="sigmoid",'} <= {*entry.code}
    assert entry.code.count('+        "_refs.sigmoid",') == 2
    assert '+        torch_opinfo_variant_name="large",' in entry.code
    (own,) = [one for one in Contributions(with_prims).of(near).steps if "_prims." in one.symbol]
    assert own.location == prim.like


def test_a_ref_whose_models_are_made_of_others_has_the_entry_of_its_tests(
    with_prims: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RulePlan, "_is_made_of_another", lambda self, near: True)
    plan = Changes(with_prims).of_op("sigmoid", "ref")
    assert _steps(plan, "torch/testing/_internal/common_methods_invocations.py")


def test_the_entry_of_a_ref_stands_with_others_where_no_model_has_one(with_prims: Index) -> None:
    tree = Changes(with_prims).tree
    (step,) = python_ref(tree, Change("ref", "sigmoid", "", op="sigmoid"), ())
    entries = [place_of(one) for name in ("abs", "sin", "ceil") for one in tree.opinfos(name)]
    assert step.like == max(entries)
    assert step.location.line == max(entries).end_line


def test_the_entry_of_a_ref_that_another_module_has_is_shown(with_prims: Index) -> None:
    tree = Changes(with_prims).tree
    (step,) = python_ref(tree, Change("ref", "abs", "", op="abs"), ())
    assert (step.action, step.location.path.rpartition("/")[2]) == (
        "read",
        "common_methods_invocations.py",
    )
    assert "_refs.abs" in step.what


def test_a_ref_has_the_modules_that_its_neighbours_call(with_prims: Index) -> None:
    plan = Changes(with_prims).of_op("sigmoid", "ref")
    (called,) = [one for one in plan.steps if one.location.path.startswith("torch/_prims_common/")]
    assert (called.action, called.location.line) == ("read", 1)
    assert called.what == "See checked, and what stands beside it."
    assert f"torch._refs.{plan.neighbours[0].name} calls it" in called.why


def test_a_change_of_a_ref_may_be_one_of_the_modules_that_it_calls(with_prims: Index) -> None:
    found = {step.location.path: step for step in Contributions(with_prims).of("sin").steps}
    assert found["torch/_prims_common/__init__.py"].symbol == "torch._prims_common.checked"
    assert "calls it" in found["torch/_prims_common/__init__.py"].rule
    assert found["torch/_prims/__init__.py"].symbol == "torch._prims.sin"


def test_a_ref_has_the_decorators_of_its_neighbour_and_is_a_public_name(with_prims: Index) -> None:
    plan = Changes(with_prims).of_op("sigmoid", "ref")
    written, listed = _steps(plan, "torch/_refs/__init__.py")
    added = [line for line in written.code if line.startswith("+")]
    assert any(line.startswith("+@_make_elementwise_unary_reference(") for line in added)
    assert listed.code[listed.code.index('+    "sigmoid",') - 1] == '     "ceil",'
    assert listed.what == f"Add sigmoid to __all__, which has {plan.neighbours[0].name}."


def test_a_ref_may_replace_a_decomposition_and_be_made_in_a_statement_of_several_lines(
    with_prims: Index, tmp_path: Path
) -> None:
    root = tmp_path / "pytorch"
    made = "\n\n@register_decomposition(aten.sigmoid)\ndef sigmoid(x):\n    return x\n"
    append(root, {"torch/_decomp/decompositions.py": made})
    refs = root / "torch/_refs/__init__.py"
    text = re.sub(
        r"@_make_elementwise_unary[^@]*?\ndef (\w+)[^@]*?(?=@|\n\n\w)", _MADE, refs.read_text()
    )
    refs.write_text(text)
    with opened(root, tmp_path / "again") as index:
        plan = Changes(index).of_op("sigmoid", "ref")
    written = next(s for s in _steps(plan, "torch/_refs/__init__.py") if "the ref of" in s.what)
    assert any(line.startswith("+sigmoid = _make_elementwise") for line in written.code)
    (replaced,) = [s for s in plan.steps if s.location.path == "torch/_decomp/decompositions.py"]
    assert replaced.what == "See the decomposition of sigmoid, which the ref may replace."


_MADE = """\\1 = _make_elementwise_unary_reference(
    prims.\\1,
    type_promotion_kind="int_to_float",
)

"""


@pytest.mark.parametrize("arguments", ["Tensor self", "Tensor self, bool upper"])
def test_a_ref_is_in_each_module_that_mirrors_a_public_one(
    with_prims: Index, tmp_path: Path, arguments: str
) -> None:
    entry = f"- func: nn_sigmoid({arguments}) -> Tensor\n  python_module: nn\n"
    append(tmp_path / "pytorch", {YAML: f"\n{entry}  variants: function\n"})
    with opened(tmp_path / "pytorch", tmp_path / "mirrored") as index:
        plan = Changes(index).of_op("sigmoid", "ref")
    said = [(step.what, step.why) for step in _steps(plan, "torch/_refs/nn/__init__.py")]
    mirror = ("Add sigmoid here too, for torch.nn.sigmoid.", "torch._refs.nn mirrors torch.nn")
    assert said == [mirror] * (arguments == "Tensor self")


def test_tests_by_hand_do_not_stand_for_those_that_are_made_for_each_ref(
    tree_copy: Path, cache: Path
) -> None:
    by_hand = "\nclass TestByHand:\n    def test_sigmoid(self):\n        torch.sigmoid(x)\n"
    append(tree_copy, {"test/test_unary_ufuncs.py": by_hand})
    with opened(tree_copy, cache) as index:
        plan = Changes(index, histories=0).of_op("sigmoid", "ref")
    commands = [run.command for run in plan.tests]
    assert commands[0] == "pytest test/test_unary_ufuncs.py -k 'TestByHand and test_sigmoid'"
    assert "python test/test_ops.py" in commands


def test_files_that_import_the_module_test_its_functions_by_hand(
    tree_copy: Path, cache: Path
) -> None:
    files = {
        "test/test_prims.py": "import torch._refs as refs\n",
        "test/test_named.py": "from torch import _refs\n",
        "test/test_speaking.py": "# of torch._refs\n",
    }
    append(tree_copy, {path: f"{text}\n\ndef test_it(): ...\n" for path, text in files.items()})
    with opened(tree_copy, cache) as index:
        plan = Changes(index).of_op("sum", "ref")
    runs = {one.path: one.command for one in plan.tests if one.why == "it imports torch._refs"}
    assert runs == {path: f"python {path}" for path in ("test/test_named.py", "test/test_prims.py")}


def test_a_function_of_what_has_no_opinfo_asks_for_one(tree_copy: Path, cache: Path) -> None:
    append(
        tree_copy,
        {YAML: "\n- func: untested(Tensor self) -> Tensor\n  dispatch:\n    CPU: untested\n"},
    )
    with opened(tree_copy, cache) as index:
        changes = Changes(index)
        new, known = (
            changes.of_op("untested", "decomposition"),
            changes.of_op("cumsum", "decomposition"),
        )
    assert [one.action for one in _steps(new, OPINFOS)]
    assert not [one for one in _steps(known, OPINFOS) if one.what.startswith("Add the OpInfo")]
