"""Functors, methods, and the classes of the objects that they are called on."""

from __future__ import annotations

import pytest

from indexes.linking.facts import Call, Known
from indexes.linking.functors import of_functors, of_specialization
from indexes.model.vocabulary import Definition, Location
from indexes.queries.index import Index
from tests.indexes.linking.edges.reading import EDGES, edges, said


def test_objects_and_macros_are_followed_and_strings_are_not(index: Index) -> None:
    found = said(index, "edges_of_objects")
    assert ("functor", "Twice", "operator():13") in found
    assert ("functor", "SmallSort", "sort:6") in found
    assert ("call", "detail::helper", "helper:4") in found
    lines = (EDGES / "aten/src/ATen/native/Edges.cpp").read_text().split("\n")
    checked = next(n for n, line in enumerate(lines, 1) if "TORCH_CHECK" in line)
    assert not [
        e for e in edges(index, "edges_of_objects") if e.line == checked and e.kind == "call"
    ]


def test_a_template_runs_what_it_calls_on_the_type_it_is_given(index: Index) -> None:
    found = [one for one in said(index, "edges_of_given_types") if one[0] == "functor"]
    assert [(symbol, target.partition(":")[0]) for _, symbol, target in found] == [
        ("each_of", "map")
    ]


def functors(index: Index, name: str) -> list[str]:
    found = said(index, f"edges_of_{name}_functors")
    return [
        f"{symbol} {target.partition(':')[0]}"
        for kind, symbol, target in found
        if kind == "functor"
    ]


def test_functors_run_wherever_they_are_declared(index: Index) -> None:
    assert functors(index, "declared") == ["EdgeSum operator()", "EdgeAssign operator()"]
    assert functors(index, "file") == ["EdgeScatter operator()", "EdgeAssign operator()"]


def test_a_functor_runs_the_inherited_methods_that_its_folder_calls(index: Index) -> None:
    once = ["EdgeGreatest EdgeGreatest", "EdgeGreatest reduce"]
    assert functors(index, "inherited") == once * 2


@pytest.mark.parametrize("caller", ["an_object_alone", "an_object_and_no_tensor"])
def test_an_object_is_called_where_nothing_else_is(index: Index, caller: str) -> None:
    ((kind, symbol, target),) = said(index, f"edges_of_{caller}")
    assert (kind, symbol, target.partition(":")[0]) == ("functor", "EdgeCell", "operator()")


def test_each_name_of_a_declaration_is_declared(index: Index) -> None:
    assert said(index, "edges_of_a_name_among_several") == []


def test_an_element_is_a_tensor_where_what_it_is_of_holds_tensors(index: Index) -> None:
    assert "operator!=" not in [symbol for _, symbol, _ in said(index, "edges_of_names_of_parts")]
    (relu,) = (one for one in edges(index, "edges_of_elements") if one.symbol == "relu")
    assert (relu.kind, relu.confidence) == ("operator", "exact")


def test_a_switch_picks_by_what_a_call_returns(index: Index) -> None:
    found = said(index, "edges_of_choosers")
    assert [(kind, symbol) for kind, symbol, _ in found] == [
        ("call", "edge_size"),
        ("chooser", "edge_pick"),
        ("chooser", "edge_pick"),
    ]
    assert "chooser" not in [kind for kind, _, _ in said(index, "edges_of_a_switch_in_a_macro")]


def test_an_object_that_is_called_runs_the_method_of_its_class(index: Index) -> None:
    assert said(index, "edges_of_called_objects") == [("call", "operator()", "operator():13")]


def test_a_method_of_an_unknown_object_is_said_to_be_unknown(index: Index) -> None:
    (edge,) = edges(index, "edges_of_the_unknown")
    assert (edge.kind, edge.symbol) == ("unknown", "sub")
    assert "a tensor or on an object of a class" in str(edge.target)


def test_a_method_that_classes_of_one_family_define_is_one_of_theirs(index: Index) -> None:
    found = [edge for edge in edges(index, "edges_of_overriders") if edge.symbol == "quant"]
    assert [(edge.kind, edge.confidence) for edge in found] == [("call", "ambiguous")] * 2


def test_what_a_function_returns_tells_whose_method_is_called(index: Index) -> None:
    """A virtual method may be that of any class that derives; another one is the class's own."""
    found: dict[str, list[tuple[str, str]]] = {}
    for edge in edges(index, "edges_of_results"):
        known = index.facts.by_id(edge.target) if isinstance(edge.target, int) else None
        target = known.definition.scope.rpartition("::")[2] if known else str(edge.target)
        found.setdefault(edge.symbol, []).append((target, edge.confidence))
    assert found["serve"] == [
        ("Backing", "ambiguous"),
        ("NearBacking", "ambiguous"),
        ("FarBacking", "ambiguous"),
    ]
    assert found["plain"] == [("Backing", "by rule")]
    assert found["sub"] == [("sub.Tensor", "exact")]


def test_an_object_of_a_templates_own_type_is_of_a_class_in_its_file(index: Index) -> None:
    found = edges(index, "edges_of_cells")
    owners = [index.facts.by_id(int(edge.target)) for edge in found]
    assert [one and one.definition.scope.rpartition("::")[2] for one in owners] == [
        "Weights",
        "Wrapped",
    ]
    assert {(edge.kind, edge.confidence) for edge in found} == {("call", "ambiguous")}


def test_a_class_of_a_nearer_scope_hides_another(index: Index) -> None:
    found = edges(index, "edges_of_the_nearest_class")
    owners = [index.facts.by_id(int(edge.target)) for edge in found]
    assert [one and one.definition.scope.rpartition("::")[2] for one in owners] == ["HeldElsewhere"]


@pytest.mark.parametrize("caller", ["edges_of_a_pointer", "edges_of_a_pointer_elsewhere"])
def test_the_class_of_a_pointers_name_does_not_depend_on_the_caller(
    index: Index, caller: str
) -> None:
    assert [target.partition(":")[0] for _, _, target in said(index, caller)] == ["shelved"]


def test_a_vectors_method_is_no_class_of_that_name(index: Index) -> None:
    assert said(index, "edges_of_vectors") == []


def test_what_an_unknown_objects_method_returns_is_no_tensor(index: Index) -> None:
    assert not [edge for edge in edges(index, "edges_of_chains") if edge.confidence == "exact"]


def test_a_list_in_braces_goes_to_the_method_that_takes_one(index: Index) -> None:
    (listed,) = edges(index, "edges_of_lists")
    assert listed.kind == "call"
    (method,) = [k for k in index.facts.named("index") if k.id == listed.target]
    assert method.definition.scope == "at::Tensor"
    (other,) = edges(index, "edges_without_lists")
    assert (other.kind, other.target) == ("operator", "index.Tensor")


@pytest.mark.parametrize(
    ("template", "run"), [("at::Half", [2]), ("scalar_t", [1, 2]), ("double", [1, 2])]
)
def test_methods_of_a_class_that_is_written_anew_for_a_type(template: str, run: list[int]) -> None:
    place = Location("Atomic.cuh", 1)
    general = Known(1, Definition("operator()", "Op", "function", place, "T *address, T value"))
    half = Known(2, Definition("operator()", "Op", "function", place, "at::Half *address"))
    call = Call("Op", "", 1, "call", template)
    assert [one.id for one in of_specialization(call, [[general], [half]])] == run


@pytest.mark.parametrize(
    ("functor", "run"), [("ReduceMean", [2]), ("ReduceAdd", [1]), ("?", [1, 2])]
)
def test_an_overload_for_a_class_of_functors_is_for_no_other(functor: str, run: list[int]) -> None:
    place = Location("Scatter.cpp", 1)
    template = Definition(
        "operator()", "Op", "function", place, "const Tensor& self, func_t& f", template=True
    )
    mean = Definition("operator()", "Op", "function", place, "const Tensor& self, ReduceMean& f")
    call = Call("Op", "", 1, "call", "", f"T {functor}")
    found = of_functors(call, [Known(1, template), Known(2, mean)])
    assert [one.id for one in found] == run


def test_an_object_that_is_made_and_called_runs_the_method_for_what_it_is_given(
    index: Index,
) -> None:
    found = [
        one for one in edges(index, "edges_of_overloaded_functors") if one.symbol == "EdgeOver"
    ]
    methods = [index.facts.by_id(int(one.target)) for one in found]
    assert [one and one.definition.parameters for one in methods] == [
        "const Tensor& x, const Tensor& y, const F& f"
    ]
