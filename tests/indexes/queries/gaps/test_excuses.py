"""Kinds of gaps that the tree's own files excuse: in rows, lists and first lines."""

from __future__ import annotations

import pytest

from indexes.queries.changes.planning import Changes
from indexes.queries.gaps.expectations.opinfo_rows import rows
from indexes.queries.gaps.find import find_gaps
from indexes.queries.gaps.model import Gap, GapFilter, GapList
from indexes.queries.gaps.python.deprecated import deprecated_names
from indexes.queries.index import Index


def of(answer: GapList, kind: str) -> dict[str, Gap]:
    return {gap.subject or gap.name: gap for gap in answer.gaps if gap.kind == kind}


def test_throws_of_a_function_are_one_gap_and_comments_none(answer: GapList) -> None:
    gap = of(answer, "runtime-error")["at::native::thrower"]
    assert "in 2 places" in gap.what
    assert "this file uses TORCH_CHECK" in gap.rule


def test_what_its_own_file_catches_may_have_to_stay_a_runtime_error(answer: GapList) -> None:
    gaps = {gap.name: gap for gap in answer.gaps if gap.kind == "runtime-error"}
    assert gaps["thrower"].confidence == "likely"
    assert gaps["guarded"].confidence == "possible"
    assert "Caught.cpp:9 catches std::runtime_error" in gaps["guarded"].rule


def test_a_comment_holds_for_the_rows_that_follow_it() -> None:
    text = """
    skips=(
        # TypeError: no float64
        DecorateInfo(unittest.expectedFailure, "TestCommon", "test_dtypes", device_type="mps"),
        DecorateInfo(unittest.expectedFailure, "TestCommon", "test_out"),  # another reason
        DecorateInfo(unittest.expectedFailure, "TestCommon", "test_variant"),
    )),
    OpInfo("other", skips=(
        DecorateInfo(unittest.expectedFailure, "TestCommon", "test_of_another"),
    )
"""
    reasons = ["TypeError: no float64", "another reason", "TypeError: no float64", ""]
    assert [row.reason for row in rows(text, "infos.py")] == reasons


def test_the_macro_shown_is_not_the_one_that_throws_the_same(grown: Index, answer: GapList) -> None:
    where = of(answer, "runtime-error")["at::native::thrower"].evidence[-1]
    line = grown.source.read(where.path).decode().splitlines()[where.line - 1]
    assert line.startswith("#define TORCH_CHECK(cond, ...) ::c10::detail::torchCheckFail(")


def test_the_macro_itself_cannot_use_itself(answer: GapList) -> None:
    found = of(answer, "runtime-error").values()
    assert not [gap for gap in found if gap.location.path == "c10/util/Exception.h"]


def test_what_is_thrown_amid_an_expression_can_be_no_check(answer: GapList) -> None:
    found = of(answer, "runtime-error").values()
    assert [gap.name for gap in found if gap.location.path.endswith("/Throws.cpp")] == ["thrower"]


@pytest.mark.parametrize("name", ["alone", "model.h", "Made.h"])
def test_a_folder_without_torch_check_may_have_to_do_without(answer: GapList, name: str) -> None:
    assert not [gap for gap in of(answer, "runtime-error").values() if gap.name == name]


def test_a_deprecated_macro_is_found_by_its_body_and_told_what_replaces_it(answer: GapList) -> None:
    found = of(answer, "deprecated-macro")
    assert list(found) == ["at::native::old_style"]
    gap = found["at::native::old_style"]
    assert gap.what == "old_style uses AT_OLD_ERROR"
    assert "use TORCH_CHECK(false, ...)" in gap.rule


def test_an_assert_about_an_argument_that_nothing_has_checked(answer: GapList) -> None:
    found = of(answer, "internal-assert")
    what = "an argument can fail an internal assert: self.numel() > 1"
    assert found["at::native::lonely"].what == what
    assert "at::native::whole" not in found


def test_a_deprecated_name_by_its_module_or_one_that_exports_it(grown: Index) -> None:
    found = find_gaps(grown, GapFilter(("deprecated-name",))).gaps
    assert [gap.subject for gap in found] == ["torch.words.said.older/test/test_words.py"]
    assert [place.line for place in found[0].evidence[:-1]] == [2, 6]
    assert '"use stars"' in found[0].rule


def test_a_function_of_which_one_overload_is_deprecated_is_not() -> None:
    text = (
        '@overload\n@deprecated("say how")\ndef one(): ...\n\n\n@deprecated("no")\ndef two(): ...\n'
    )
    assert [found.name for found in deprecated_names(text, "torch/a.py")] == ["two"]


def test_a_ref_is_missed_where_none_has_its_name(answer: GapList) -> None:
    found = of(answer, "ref")
    assert "operators tested by an OpInfo have one" in found["lonely"].rule


def test_an_opinfo_without_error_inputs_of_an_operator_that_checks(answer: GapList) -> None:
    gap = of(answer, "error-inputs")["lonely"]
    assert gap.what == "the OpInfo of lonely has no error inputs"
    assert gap.evidence[1].path.endswith("Lonely.cpp")


def test_rows_of_opinfos_give_their_reason(answer: GapList) -> None:
    failure = of(answer, "opinfo-failure")["lonely/TestJit.test_alias"]
    assert '"the result depends on the order"' in failure.rule
    assert failure.op == "lonely"
    assert failure.keys == ("CUDA",)
    skip = of(answer, "opinfo-skip")["lonely/TestCommon.test_out"]
    assert '"too slow"' in skip.rule
    assert not any("in_a_comment" in name for name in of(answer, "opinfo-failure"))


def test_a_test_that_a_list_names_is_shown_at_its_lines(answer: GapList) -> None:
    failure = of(answer, "compile-failure")["dynamo/TestOld.test_it"]
    assert (failure.location.path, failure.location.line) == ("test/test_old.py", 3)
    assert failure.evidence[0].path == "test/dynamo_expected_failures/TestOld.test_it"


@pytest.mark.parametrize(
    ("subject", "path", "line", "flag", "test"),
    [
        (
            "dynamo/CPython313-test_set-TestOld.test_len",
            "test/dynamo/cpython/3_13/test_set.py",
            5,
            "DYNAMO",
            "TestOld.test_len",
        ),
        (
            "inductor/TestOldCPU.test_it_cpu_float32",
            "test/test_old.py",
            3,
            "INDUCTOR",
            "TestOldCPU.test_it_cpu_float32",
        ),
    ],
)
def test_a_test_that_is_inherited_or_made_is_found_and_run(
    grown: Index, answer: GapList, subject: str, path: str, line: int, flag: str, test: str
) -> None:
    failure = of(answer, "compile-failure")[subject]
    assert (failure.location.path, failure.location.line) == (path, line)
    plan = Changes(grown).of_id(failure.id)
    assert plan
    command = f"PYTORCH_TEST_WITH_{flag}=1 python {path} {test}"
    assert [run.command for run in plan.tests] == [command]


def test_a_row_of_a_set_is_a_row_to_remove(grown: Index) -> None:
    plan = Changes(grown).of_id("compile-skip/dynamo/TestOlder.test_in_a_set")
    assert plan
    assert '-    "TestOlder.test_in_a_set",' in plan.steps[0].code


def test_lists_are_folders_or_sets(answer: GapList) -> None:
    assert set(of(answer, "compile-skip")) == {
        "dynamo/TestOldCUDA.test_made_cuda_float32",
        "dynamo/TestOlder.test_in_a_set",
    }


def test_only_the_file_without_an_owner_lacks_one(answer: GapList) -> None:
    found = of(answer, "test-owner")
    assert "test/test_nobody.py" in found
    assert "test/test_old.py" not in found
    assert found["test/test_nobody.py"].difficulty == "medium"  # somebody has to take it


def test_files_without_types_by_their_first_line_or_by_the_configuration(answer: GapList) -> None:
    found = of(answer, "typing")
    assert "torch/overrides.py" not in found
    assert found["torch/untyped.py"].difficulty == "easy"
    assert "(5 lines, 1 functions)" in found["torch/untyped.py"].what
    assert found["torch/functional.py"].location.path == "mypy.ini"
