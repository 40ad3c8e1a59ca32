"""Calls into vendors' libraries, and functions that only another build has."""

from __future__ import annotations

import pytest

from indexes.queries.index import Index
from tests.indexes.linking.edges.reading import edges, said


def test_a_class_of_the_tree_in_a_librarys_namespace_is_no_librarys(index: Index) -> None:
    assert said(index, "edges_into_a_library") == [
        ("functor", "cutlass::epilogue::Rescale", "operator():123"),
        ("library", "cutlass::epilogue::Linear", "CUTLASS"),
    ]


@pytest.mark.parametrize(
    ("caller", "run"),
    [
        ("edges_of_braces", [("functor", "EdgeSum", "operator()")]),
        ("edges_of_aliases", [("library", "cutlass::gemm::device::Adapter", "CUTLASS")]),
        ("edges_of_runs", [("library", "cutlass::gemm::device::Adapter", "CUTLASS")]),
        ("edges_of_included", [("library", "vendor_gemm::grouped", "vendor_gemm")]),
        ("edges_of_not_included", []),
    ],
)
def test_calls_of_vendors_and_of_objects(
    index: Index, caller: str, run: list[tuple[str, str, str]]
) -> None:
    found = [(kind, symbol, to.partition(":")[0]) for kind, symbol, to in said(index, caller)]
    assert found == run


def test_what_a_vendors_function_returns_is_no_tensor(index: Index) -> None:
    found = said(index, "edges_of_vendors_results")
    assert ("library", "execute", "oneDNN") in found


def test_a_vendors_object_executes(index: Index) -> None:
    assert ("library", "execute", "cuDNN") in said(index, "edges_of_front_ends")
    assert ("library", "execute", "cuDNN") in said(index, "edges_of_typed_front_ends")
    assert ("library", "execute", "oneDNN") in said(index, "edges_of_held_results")
    assert said(index, "edges_of_plain_results") == []


def test_a_template_that_only_a_missing_header_can_declare(index: Index) -> None:
    assert said(index, "edges_of_a_submodule") == [
        ("library", "run_attention_", "fast_attention.h")
    ]


def test_a_library_whose_header_is_in_no_folder(index: Index) -> None:
    libraries = [one for one in said(index, "edges_of_data") if one[0] == "library"]
    assert libraries == [("library", "vendorModular::add", "vendorModular")]


def test_a_namespace_that_the_build_names_is_of_any_build(index: Index) -> None:
    fused = [edge for edge in edges(index, "edges_of_builds") if "fused" in edge.symbol]
    assert [(edge.symbol, edge.confidence, edge.candidates) for edge in fused] == [
        ("EDGE_NAMESPACE::fused", "ambiguous", 2),
        ("EDGE_NAMESPACE::fused", "ambiguous", 2),
        ("plain_fused", "exact", 1),
    ]
