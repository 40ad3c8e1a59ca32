"""Kernels of Metal by their names, attributes and strings, and what graphs call."""

from __future__ import annotations

import pytest

from indexes.queries.index import Index
from tests.indexes.linking.edges.reading import edges, said


def test_a_string_names_the_kernels_that_begin_with_it(index: Index) -> None:
    shaders = [one for one in said(index, "edges_of_named_kernels") if one[0] == "shader"]
    assert [target.partition(":")[0] for _, _, target in shaders] == ["operator()", "each_of"]
    assert ("shader", "pivots", "pivots:6") in said(index, "edges_of_whole_names")


@pytest.mark.parametrize("name", ["scan_float", "turned_float", "wave_dense_float", "pivots"])
def test_the_name_of_a_metal_kernel_leads_to_it(index: Index, name: str) -> None:
    """By the name that its library gives it, or by that of its function."""
    answer = index.kernel_name(name)
    assert answer.source is not None
    assert answer.source.name == name
    assert (answer.confidence, answer.rule) == ("exact", "the Metal kernel of that name")


def test_a_string_is_put_into_another(index: Index) -> None:
    (edge,) = (one for one in edges(index, "edges_of_names_put_in") if one.kind == "shader")
    assert edge.confidence == "by rule"
    assert said(index, "edges_of_names_put_in")[-1][-1].startswith("cubic:")
    asked = [one for one in edges(index, "run_named") if one.kind == "shader"]
    assert [(one.confidence, one.candidates) for one in asked] == [("ambiguous", 3)] * 3
    (longer,) = (one for one in said(index, "edges_of_longer_names_put_in") if one[0] == "shader")
    assert longer[2].startswith("cubic_wide:")
    back = said(index, "edges_of_the_same_name_put_elsewhere")
    assert back[-1][-1].startswith("cubic_back:")


def test_a_name_is_handed_to_a_file_with_a_shader_library(index: Index) -> None:
    """From a file of graphs, whose own names, as ``"bump"``, ask for no kernel."""
    found = [one for one in edges(index, "edges_of_handed_names") if one.kind == "shader"]
    assert [(one.symbol, one.confidence) for one in found] == [
        ("rise", "by rule"),
        ("fall", "by rule"),
    ]
    shown = [one for one in said(index, "edges_of_handed_names") if one[0] == "shader"]
    assert [one[2].partition(":")[0] for one in shown] == ["rise", "fall"]


def test_a_name_is_handed_on_by_a_function_beside(index: Index) -> None:
    found = [one for one in edges(index, "edges_of_names_handed_on") if one.kind == "shader"]
    assert [(one.symbol, one.confidence) for one in found] == [("leap", "by rule")]
    for caller in ("edges_of_keys_of_graphs", "edges_of_words_kept_beside"):
        assert "shader" not in [one.kind for one in edges(index, caller)]


def test_a_kernel_whose_name_tells_its_padding_is_the_only_one(index: Index) -> None:
    found = [one for one in edges(index, "edges_of_padded_names") if one.kind == "shader"]
    assert {one.confidence for one in found} == {"by rule"}
    places = [place for kind, _, place in said(index, "edges_of_padded_names") if kind == "shader"]
    assert {place.partition(":")[0] for place in places} == {"stretch", "pad"}


def test_no_tensor_is_made_of_an_iterator(index: Index) -> None:
    """``sort(x.begin(), x.end(), less)`` is the algorithm of std, by argument-dependent lookup."""
    assert [one.symbol for one in edges(index, "edges_of_iterators")] == ["between", "counted"]


def test_a_kernel_may_have_its_words_in_the_other_order(index: Index) -> None:
    (found,) = (one for one in said(index, "edges_of_void_kernels") if one[0] == "shader")
    assert found[2].startswith("turned:")


@pytest.mark.parametrize(
    ("caller", "run"),
    [
        ("edges_of_macro_wave", ["operator()", "each_one"]),  # a string that a macro makes
        ("edges_of_attributes", ["total", "identity", "combine"]),  # not what it is compared with
        ("edges_of_included_kernels", ["merge"]),
        ("edges_of_limits", ["limited"]),
        ("edges_of_empty_names", ["scan"]),
    ],
)
def test_kernels_by_attribute_of_macros_and_of_headers(
    index: Index, caller: str, run: list[str]
) -> None:
    found = [target for kind, _, target in said(index, caller) if kind == "shader"]
    assert [target.partition(":")[0] for target in found] == run


def test_a_message_to_a_blit_encoder_runs_on_the_device(index: Index) -> None:
    assert said(index, "edges_of_blits") == [("library", "copyFromBuffer", "Metal")]


def test_a_shader_stands_in_a_string(index: Index) -> None:
    shaders = [one for one in said(index, "edges_into_a_string") if one[0] == "shader"]
    assert shaders == [("shader", "inside_a_string", "inside_a_string:3")]


def test_what_a_message_is_given_is_called(index: Index) -> None:
    called = [one[1] for one in said(index, "edges_of_messages") if one[0] == "call"]
    assert called == ["shape_of", "at::native::shape_of"]


def test_a_shader_calls_no_operator_and_nothing_of_another_file(index: Index) -> None:
    assert said(index, "edge_shader") == []
    assert said(index, "edges_of_shaders") == [("call", "edge_shader", "edge_shader:2")]
    assert said(index, "edges_of_other_shaders") == []
