"""``-k`` expressions, judged by pytest's own evaluation of them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from _pytest.mark.expression import Expression as PytestExpression

from indexes.linking.python.test_expressions import (
    Made,
    joined,
    named_expression,
    opinfo_expression,
    readable,
)

TESTS = ("test_out", "test_numpy_ref", "test_non_standard_bool_values")
OPINFOS = (
    "add",
    "addmm",
    "index_add",
    "_refs_add",
    "scatter_add",
    "_foreach_add",
    "t",
    "T",
    "nn_functional_relu",
    "nn_functional_relu6",
    "div_floor_rounding",
    "div",
)


def _selects(expression: str, text: str) -> bool:
    compiled = PytestExpression.compile(expression)
    return compiled.evaluate(lambda word, /, **_: word.lower() in text.lower())


def _selected(expression: str, names: set[str]) -> set[str]:
    return {name for name in names if _selects(expression, f"TestCommonCPU {name}")}


def _names(opinfos: tuple[str, ...]) -> set[str]:
    return {
        f"{test}_{one}_cpu{dtype}"
        for test in TESTS
        for one in opinfos
        for dtype in ("", "_float32")
    }


def _made(opinfos: Iterable[str], *, ending: str | None = None) -> list[tuple[Made, str]]:
    return [(Made(test, ending), one) for test in TESTS for one in opinfos]


@pytest.mark.parametrize(
    "wanted",
    [
        ("add", "_refs_add"),
        ("nn_functional_relu",),
        ("div", "div_floor_rounding"),
        ("div",),
        ("_foreach_add",),
        ("scatter_add",),
    ],
)
def test_it_selects_the_tests_of_these_opinfos_and_no_others(wanted: tuple[str, ...]) -> None:
    others = set(OPINFOS) - set(wanted)
    named = ("test_add", "test_masked_div")
    found = opinfo_expression(_made(wanted), _made(others), named)
    assert found.runner == "pytest"
    universe = _names(OPINFOS) | {"test_add_cpu_int64", "test_masked_div_cpu"}
    assert _selected(found.arguments[1], universe) == _names(wanted)


@pytest.mark.parametrize(
    ("ending", "rest"), [("layout", "layout0_cpu"), ("", "SparseCSR_cpu_float32")]
)
@pytest.mark.parametrize("wanted", [("add", "_refs_add"), ("div",), ("_foreach_add",)])
def test_parameters_stand_between_an_opinfo_and_the_device(
    wanted: tuple[str, ...], ending: str, rest: str
) -> None:
    others = set(OPINFOS) - set(wanted)
    found = opinfo_expression(_made(wanted, ending=ending), _made(others, ending=ending), ())
    names = {f"{test}_{one}_{rest}" for test in TESTS for one in wanted}
    universe = names | {f"{test}_{one}_{rest}" for test in TESTS for one in others}
    assert found.runner == "pytest"
    assert _selected(found.arguments[1], universe) == names


def test_one_word_leaves_out_all_tests_of_another_opinfo() -> None:
    tests = [(Made("test_out", ending), "add") for ending in (None, "layout")]
    others = [(test, "scatter_add") for test, _ in tests]
    found = opinfo_expression(tests, others, ())
    assert found.arguments == ("-k", "(_add_cpu or _add_layout) and not _scatter_add")


def test_tests_with_values_that_only_a_run_tells_are_taken_out() -> None:
    found = opinfo_expression(_made(("sin",)), (), (), unknown=["test_refs", "test_out"])
    assert found.arguments == ("-k", "_sin_cpu and not test_refs")
    assert found.also == ("test_out",)


def test_a_test_by_hand_has_its_name_for_itself() -> None:
    found = opinfo_expression(_made(("add",)), (), ["test_out_add"])
    assert _selected(found.arguments[1], {"test_out_add_cpu", "test_numpy_ref_add_cpu"}) == {
        "test_numpy_ref_add_cpu"
    }


def test_names_that_differ_in_case_are_told_apart_by_unittest() -> None:
    import fnmatch

    found = opinfo_expression(_made(("t",)), _made(set(OPINFOS) - {"t"}), ())
    assert found.runner == "unittest"
    patterns = [one for one in found.arguments if one != "-k"]
    selected = {
        name
        for name in _names(OPINFOS)
        if any(fnmatch.fnmatchcase(f"__main__.TestCommonCPU.{name}", one) for one in patterns)
    }
    assert selected == _names(("t",))


@pytest.mark.parametrize(
    ("cls", "name"), [("TestTorch", "test_add"), ("TestTorchDevice", "test_add"), ("", "test_sum")]
)
def test_a_named_test_alone(cls: str, name: str) -> None:
    others = [
        ("TestTorch", "test_add"),
        ("TestTorch", "test_add_out"),
        ("", "test_sum_to"),
        ("TestTorchDevice", "test_add"),
        ("Other", "test_add"),
        ("", "test_sum"),
    ]
    found = named_expression(cls, name, others)
    assert found.also == ()
    selected = [other for other in others if _selects(found.arguments[1], " ".join(other))]
    assert selected == [(cls, name)]


def test_many_cases_of_a_test_run_with_it() -> None:
    cases = [("TestA", f"test_softmax_{one}") for one in ("cpu", "half", "double", "grad")]
    found = named_expression("TestA", "test_softmax", [*cases, ("TestA", "test_log_test_softmax")])
    assert found.arguments == ("-k", "TestA and test_softmax and not test_log_test_softmax")
    assert found.also == tuple(".".join(one) for one in cases)


def test_tests_that_nothing_tells_apart_are_named() -> None:
    found = named_expression("TestA", "test_x", [("testa", "TEST_X"), ("TestA", "test_x")])
    assert found.also == ("testa.TEST_X",)


def test_a_name_that_the_file_has_too_is_asked_for_by_patterns() -> None:
    others = [("TestSort", "test_sort"), ("TestSort", "test_sort_large"), ("TestSort", "test_a")]
    found = named_expression("TestSort", "test_sort", others, "test/test_sort_and_select.py")
    assert found.runner == "unittest"
    assert found.arguments == ("-k", "*.TestSort*.test_sort", "-k", "*.TestSort*.test_sort_*")
    assert found.also == ("TestSort.test_sort_large",)


def test_a_device_behind_a_shorter_name() -> None:
    found = named_expression("TestA", "test_relu_", [("TestA", "test_relu")])
    assert found.also == ("TestA.test_relu",)


def test_a_long_filter_of_names_is_one_by_classes() -> None:
    named = [
        f"test_index_put_{word}" for word in ("src_datatype", "large_indices", "deterministic")
    ]
    names = [
        *(("TestIndexing", name) for name in named),
        ("TestOther", "test_put"),
        ("TestOther", "test_take"),
    ]
    others = [("TestIndexing", "test_index_put_empty"), ("TestIndexing", "test_index")]
    exact = joined([named_expression(cls, name, others) for cls, name in names[:3]])
    assert readable(exact, names[:3], others) == exact
    names += [("TestIndexing", f"test_index_put_accumulate_{at}") for at in ("large", "small")]
    exact = joined([named_expression(cls, name, others) for cls, name in names])
    made = readable(exact, names, others)
    wanted = "(TestIndexing and test_index_put) or (TestOther and (test_put or test_take))"
    assert made.arguments == ("-k", wanted)
    assert made.also == ("TestIndexing.test_index_put_empty",)
