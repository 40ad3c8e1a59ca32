"""Each kind of gap is found for the operator that lacks it, and for none that lacks nothing."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from indexes.queries.gaps.find import find_gap, find_gaps, fits, with_ages
from indexes.queries.gaps.kinds import KINDS
from indexes.queries.gaps.model import Gap, GapFilter, GapList
from indexes.queries.index import Index
from indexes.serialize.answers import dumps
from indexes.serialize.gaps import gaps_json
from tests.indexing import append, opened
from tests.tree_marks import YAML

LONELY = [
    "docs-signature",
    "docs",
    "error-message",
    "todo",
    "kernel",
    "dtype",
    "batch-rule",
    "forward-mode",
    "decomposition",
    "meta",
    "lowering",
]


def of(answer: GapList, kind: str) -> list[Gap]:
    return [gap for gap in answer.gaps if gap.kind == kind]


def named(answer: GapList, kind: str, name: str) -> list[Gap]:
    return [gap for gap in of(answer, kind) if gap.op == name or gap.name == name]


@pytest.mark.parametrize("kind", LONELY)
def test_what_lonely_lacks_is_found_once(answer: GapList, kind: str) -> None:
    assert len(named(answer, kind, "lonely")) == 1


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
@pytest.mark.parametrize("name", ["whole", "_hidden", "lonely_backward", "ignored"])
def test_what_nobody_wants_is_only_possible(answer: GapList, kind: str, name: str) -> None:
    assert {gap.confidence for gap in named(answer, kind, name)} <= {"possible"}


def test_an_operator_of_which_only_out_variants_are_listed_lacks_no_decomposition(
    answer: GapList,
) -> None:
    names = {gap.name for gap in answer.gaps if gap.kind == "decomposition"}
    assert "lonely" in names
    assert "linear" not in names


@pytest.mark.parametrize("kind", ["batch-rule", "meta", "lowering"])
def test_what_internal_operators_lack_is_possible(answer: GapList, kind: str) -> None:
    assert [gap.confidence for gap in named(answer, kind, "_hidden")] == ["possible"]


@pytest.mark.parametrize("kind", ["batch-rule", "forward-mode", "decomposition", "kernel"])
def test_what_whole_has_is_not_listed(answer: GapList, kind: str) -> None:
    assert not named(answer, kind, "whole")


def test_each_gap_names_lines_that_show_it(answer: GapList, grown: Index) -> None:
    shown = {
        "docs-signature": "add_docstr(torch.lonely",
        "error-message": "TORCH_CHECK(size > 0);",
        "todo": "TODO: take negative sizes too,",
        "kernel": "lonely",
        "dtype": "Tensor lonely(",
        "batch-rule": "- func: lonely(",
        "forward-mode": "- name: lonely(",
        "lowering": "make_fallback(aten.lonely)",
    }
    for kind, text in shown.items():
        gap = named(answer, kind, "lonely")[0]
        line = grown.read(gap.location.path).splitlines()[gap.location.line - 1]
        assert text in line, kind


def test_ids_are_unique_and_lead_back_to_their_gaps(answer: GapList, grown: Index) -> None:
    ids = [gap.id for gap in answer.gaps]
    assert len(ids) == len(set(ids))
    expected = {
        "kernel/MPS/lonely",
        "docs-signature/Tensor.everywhere",
        "error-message/at::native::lonely",
        "batch-rule/lonely",
    }
    assert expected <= set(ids)
    for one in expected:
        found = find_gap(grown, one)
        assert found in answer.gaps
        assert found.contribute == f"torchnav contribute {one}"


@pytest.mark.parametrize("unknown", ["kernel/MPS/whole", "kernel", "nothing/lonely", "lonely"])
def test_what_is_no_id_of_a_gap_leads_to_none(grown: Index, unknown: str) -> None:
    assert find_gap(grown, unknown) is None


def test_gaps_of_one_subject_are_numbered_by_place(answer: GapList) -> None:
    found = {gap.id: gap.what for gap in named(answer, "todo", "twice")}
    assert found == {
        "todo/at::native::twice": "TODO: one",
        "todo/at::native::twice:2": "TODO: another",
    }


def test_statements_of_pytorch_s_own_tests_are_evidence(answer: GapList, grown: Index) -> None:
    said = {
        "batch-rule": "xfail(",
        "forward-mode": "NYI: forward-AD for lonely",
        "kernel": "'lonely': None",
        "decomposition": "aten::lonely",
    }
    for kind, text in said.items():
        gap = named(answer, kind, "lonely")[0]
        lines = [grown.read(e.path).splitlines()[e.line - 1] for e in gap.evidence]
        assert gap.stated
        assert any(text in line for line in lines), kind


def test_a_todo_is_read_to_its_end_and_not_in_strings(answer: GapList) -> None:
    words = [gap.what for gap in named(answer, "todo", "lonely")]
    assert words == ["TODO: take negative sizes too, as whole does"]


def test_a_check_of_something_else_than_an_argument_is_no_gap(answer: GapList) -> None:
    gap = named(answer, "error-message", "lonely")[0]
    assert gap.what == "no message when an argument fails: size > 0"


@pytest.mark.parametrize(("key", "found"), [("CompositeImplicitAutograd", 0), ("CPU", 1)])
def test_what_a_composite_operator_calls_is_differentiated(
    tree_copy: Path, cache: Path, key: str, found: int
) -> None:
    entry = (
        f"\n- func: halve(Tensor self) -> Tensor\n  variants: method\n  dispatch:\n    {key}: x\n"
    )
    formula = '\n- name: halve(Tensor self) -> Tensor\n  self: not_implemented("halve")\n'
    append(tree_copy, {YAML: entry, "tools/autograd/derivatives.yaml": formula})
    with opened(tree_copy, cache) as index:
        gaps = find_gaps(index, GapFilter(("derivative",)), owners=False).gaps
    assert len([gap for gap in gaps if gap.name == "halve"]) == found


def test_a_formula_that_says_not_implemented(answer: GapList) -> None:
    gap = named(answer, "derivative", "twice")[0]
    assert gap.what == "no derivative of twice for other"


def test_a_docstring_of_another_function(answer: GapList) -> None:
    gap = named(answer, "docs-signature", "twice")[0]
    assert "begins with thrice(...)" in gap.what


def test_a_documented_default_that_is_another(answer: GapList) -> None:
    found = named(answer, "docs-signature", "everywhere")
    assert [gap.what for gap in found] == ["torch.Tensor.everywhere documents size=None"]


def test_only_dtypes_being_unimplemented_is_no_missing_kernel(answer: GapList) -> None:
    assert not named(answer, "kernel", "twice")


def test_a_fallback_called_impossible_is_no_gap(answer: GapList) -> None:
    assert not named(answer, "lowering", "twice")
    assert named(answer, "lowering", "lonely")[0].difficulty == "medium"


def test_a_fallback_without_a_heading_is_stated_too(answer: GapList) -> None:
    gap = named(answer, "lowering", "nonzero")[0]
    assert (gap.stated, gap.confidence, gap.difficulty) == (True, "likely", "medium")


def test_a_stub_under_a_composite_key(answer: GapList) -> None:
    assert [gap.op for gap in of(answer, "composite-stub")] == ["everywhere"]


def test_kernels_among_structured_ones_could_be_structured(answer: GapList) -> None:
    gap = named(answer, "structured", "twice")[0]
    assert "4 of 4" in gap.rule


def test_a_todo_that_wants_a_structured_kernel(answer: GapList) -> None:
    gap = named(answer, "structured", "everywhere")[0]
    assert gap.stated
    assert "Make this structured, for speed" in gap.rule


def test_a_documented_function_without_an_opinfo(answer: GapList) -> None:
    assert named(answer, "opinfo", "twice")
    assert not named(answer, "opinfo", "lonely")


def test_functions_that_are_the_same_but_for_comments(answer: GapList) -> None:
    gap = next(gap for gap in of(answer, "duplicate") if gap.name == "count_here")
    assert "count_there" in gap.what


def test_counts_stand_for_the_gaps_and_say_what_cannot_be_told(answer: GapList) -> None:
    assert {one.kind for one in answer.counts} == {kind.name for kind in KINDS}
    for one in answer.counts:
        assert one.count == len(of(answer, one.kind))


def test_what_is_large_or_needs_a_device_is_not_easy(answer: GapList) -> None:
    kinds = {kind.name: kind for kind in KINDS}
    for gap in answer.gaps:
        if gap.difficulty == "easy":
            assert set(gap.needs) <= {"build"}, gap.id
            assert not kinds[gap.kind].few or gap.size <= kinds[gap.kind].few, gap.id
    kernel = named(answer, "kernel", "lonely")[0]
    assert kernel.effort.endswith("needs a build and a Mac")


def test_easy_ones_come_first(answer: GapList) -> None:
    levels, sure = ["easy", "medium", "hard"], ["likely", "possible"]
    order = [(sure.index(gap.confidence), levels.index(gap.difficulty)) for gap in answer.gaps]
    assert order == sorted(order)
    assert len({confidence for confidence, _ in order}) == 2


@pytest.mark.parametrize(
    ("wanted", "kinds"),
    [
        (GapFilter(kinds=("kernel",)), {"kernel"}),
        (GapFilter(key="mps"), {"kernel"}),
        (GapFilter(("todo",), text="NEGATIVE sizes"), {"todo"}),
        (GapFilter(difficulty="hard", text="everywhere lonely_stub"), {"composite-stub"}),
        (GapFilter(module="torch/_inductor"), {"lowering", "typing"}),
    ],
)
def test_filters(grown: Index, wanted: GapFilter, kinds: set[str]) -> None:
    found = find_gaps(grown, wanted)
    assert {gap.kind for gap in found.gaps} == kinds
    assert all(fits(gap, wanted) for gap in found.gaps)


def test_owners_are_those_of_the_file(answer: GapList) -> None:
    todo = named(answer, "todo", "lonely")[0]
    assert [one for one in todo.owners if "people" in one.lower()] == ["@kernel-people"]
    assert fits(todo, GapFilter(("todo",), owner="Kernel-People"))
    assert not fits(todo, GapFilter(owner="nobody"))
    assert not fits(named(answer, "lowering", "lonely")[0], GapFilter(owner="kernel-people"))


def test_a_docstring_whose_twin_alone_is_listed(answer: GapList) -> None:
    assert [gap.what for gap in of(answer, "docs-page")] == ["no page lists torch.Tensor.relu_"]


def test_json_is_one_line_of_ascii_with_every_gap(answer: GapList) -> None:
    text = dumps(gaps_json(answer))
    assert text.isascii()
    assert text.count('"contribute": "torchnav contribute ') == len(answer.gaps)


def test_the_documented_object_has_the_keys_that_are_written(answer: GapList) -> None:
    text = (Path(__file__).parents[4] / "docs/json.md").read_text()
    block = text.split("<!-- gap -->")[1].split("```")[1].removeprefix("json")
    written = json.loads(dumps(gaps_json(answer)))["gaps"][0]
    assert list(json.loads(block)) == list(written)


def test_without_history_no_age_is_made_up(answer: GapList, grown: Index) -> None:
    aged, note = with_ages(grown, answer.gaps[:2], date(2026, 1, 1))
    assert [gap.age_days for gap in aged] == [None, None]
    assert note


def test_a_wheel_says_what_it_cannot_tell(wheel: Index) -> None:
    found = find_gaps(wheel, GapFilter(kinds=("todo", "batch-rule", "docs")))
    lacks = {one.kind: one.lacks for one in found.counts}
    assert "torchnav clone" in lacks["todo"]
    assert lacks["batch-rule"]
    assert not lacks["docs"]
    assert found.gaps
