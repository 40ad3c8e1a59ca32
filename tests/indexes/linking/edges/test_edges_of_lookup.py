"""C++'s lookup of names, overloads by their arguments, and signs between tensors."""

from __future__ import annotations

from indexes.queries.index import Index
from tests.indexes.linking.edges.reading import edges, said


def test_names_are_looked_up_in_scopes_and_overloads_chosen_by_arguments(index: Index) -> None:
    assert said(index, "edges_of_names") == [
        ("call", "detail::helper", "helper:4"),
        ("call", "other", "other:6"),
        ("call", "other", "other:5"),
        ("call", "run_graph", "run_graph:25"),
        ("call", "Runner", "Runner:8"),
        ("call", "run", "run:9"),
    ]


def test_functions_of_which_a_build_has_one_are_told_by_rule(index: Index) -> None:
    """Their conditions exclude each other; those that may both hold leave it open."""
    found = edges(index, "edges_of_twins")
    assert [(e.symbol, e.confidence, e.candidates) for e in found] == [
        *[("twin", "by rule", 2)] * 2,
        *[("no_twin", "ambiguous", 2)] * 2,
    ]


def test_operators_are_told_by_their_arguments(index: Index) -> None:
    assert [one for one in said(index, "edges_of_operators") if one[0] != "macro"] == [
        ("operator", "mul", "mul.Tensor"),
        ("accessor", "is_floating_point", "is_floating_point"),
        ("operator", "at::native_dropout", "native_dropout"),
        ("operator", "mul", "mul.Tensor"),
    ]


def test_what_torchgen_declares_once_more_dispatches(index: Index) -> None:
    assert said(index, "edges_of_generated_namespaces") == [
        ("operator", "at::redispatch::add", "add.Tensor"),
        ("operator", "at::symint::mul", "mul.Tensor"),
    ]


def test_a_header_that_a_file_does_not_include_hides_none_that_it_does(index: Index) -> None:
    (edge,) = edges(index, "edges_of_headers")
    known = index.facts.by_id(int(edge.target))
    assert known
    assert known.definition.location.path.endswith("native/Edges.h")


def test_an_operator_takes_a_tensor_before_a_template_of_any_type(index: Index) -> None:
    of_number, of_tensor = said(index, "edges_of_templates")
    assert (of_number[0], of_tensor) == ("call", ("operator", "at::relu", "relu"))


def test_signs_between_tensors_are_calls(index: Index) -> None:
    found = edges(index, "edges_of_signs")
    called = [index.facts.by_id(e.target) for e in found if isinstance(e.target, int)]
    signs = [(one.definition.name, one.definition.parameters) for one in called if one]
    assert ("operator*", "const Tensor& x, const Scalar& y") in signs
    assert ("operator-", "const Tensor& x, const Tensor& y") in signs


def test_a_namespace_has_another_name_in_a_body(index: Index) -> None:
    assert said(index, "edges_of_local_aliases") == [
        ("call", "local::run_graph", "run_graph:25"),
        ("library", "local::runMPSGraph", "MPSGraph"),
    ]


def test_an_optional_that_is_compared_with_nothing_is_no_tensor(index: Index) -> None:
    assert said(index, "edges_of_optionals") == []


def test_signs_behind_calls_that_return_tensors(index: Index) -> None:
    signs = [e for e in edges(index, "edges_of_signs_behind_calls") if "operator" in e.symbol]
    (times,) = (index.facts.by_id(e.target) for e in signs if isinstance(e.target, int))
    assert times
    assert times.definition.name == "operator*"
    assert times.definition.parameters == "const Tensor& x, const Tensor& y"


def test_signs_behind_numbers_are_calls(index: Index) -> None:
    found = edges(index, "edges_of_numbers")
    called = [index.facts.by_id(e.target) for e in found if isinstance(e.target, int)]
    signs = [(one.definition.name, one.definition.parameters) for one in called if one]
    taking = "const Scalar& x, const Tensor& y"
    assert signs == [("operator-", taking), ("operator*", taking)]


def test_which_operators_signs_call(index: Index) -> None:
    assert index.facts.called_by_signs == {"mul", "sub", "add_"}


def test_outputs_stand_first_or_last(index: Index) -> None:
    targets = [edge.target for edge in edges(index, "edges_of_outputs")]
    assert targets == ["add.out", "add.out"]


def test_what_is_brought_into_the_global_scope_is_one_of_several(index: Index) -> None:
    (edge,) = edges(index, "edges_of_the_global_scope")
    assert (edge.symbol, edge.confidence, edge.candidates) == ("::sqrt", "ambiguous", 2)


def test_all_that_a_call_can_mean_is_kept(index: Index) -> None:
    found = [edge for edge in edges(index, "edges_of_many") if edge.symbol == "many"]
    assert [edge.candidates for edge in found] == [30] * 30


def test_an_edge_knows_its_branch(index: Index) -> None:
    (inside,) = [e for e in edges(index, "edges_of_operators") if e.symbol == "at::native_dropout"]
    branches = index.facts.branches(inside.caller)
    assert branches[inside.branch - 1].text == "if (self.is_floating_point())"


def test_a_function_is_found_in_the_namespace_of_its_arguments_type(index: Index) -> None:
    assert said(index, "edges_of_arguments") == [
        ("call", "name_of_dtype", "name_of_dtype:2"),
        ("call", "is_odd_tensor", "is_odd_tensor:5"),
    ]
