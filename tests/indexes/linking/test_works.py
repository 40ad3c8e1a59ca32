"""What each place on a way does."""

from __future__ import annotations

import pytest

from indexes import Index
from indexes.linking.facts import Edge
from indexes.linking.graph import Node
from indexes.linking.works import Works, moves, runs_library
from indexes.model.schema import parse_schema


@pytest.fixture
def works(tree_index: Index) -> Works:
    return Works(tree_index.facts)


def number(index: Index, name: str, path: str = "", kind: str = "function") -> int:
    (found,) = (
        known
        for known in index.facts.named(name)
        if known.definition.kind == kind and known.definition.location.path.endswith(path)
    )
    return found.id


@pytest.mark.parametrize(
    ("operator", "work"),
    [
        ("mul.Tensor", "dispatches"),
        ("copy_", "moves"),
        ("_cast_Float", "moves"),
        ("empty.memory_format", "allocates"),
        ("empty.out", "allocates"),
        ("empty_like", "allocates"),
        ("new_empty_strided", "allocates"),
        ("view", "helps"),
        ("is_floating_point", "helps"),
        ("bernoulli_.float", "dispatches"),
        ("_foreach_exp_", "dispatches"),
    ],
)
def test_an_operators_schema_tells_its_work(works: Works, operator: str, work: str) -> None:
    assert works.of(Node("operator", operator, "CPU")) == work


def test_a_function_that_gives_its_work_to_a_template_of_a_header_computes(
    works: Works, tree_index: Index
) -> None:
    kernel = number(tree_index, "mul_kernel_cuda")
    assert works.computing(kernel) == "launch"
    assert works.of(Node("definition", kernel, "CUDA")) == "computes"


def test_a_function_that_calls_a_library_computes(works: Works, tree_index: Index) -> None:
    (gemm, *_) = (k.id for k in tree_index.facts.named("gemm") if works.computing(k.id))
    assert works.of(Node("definition", gemm)) == "computes"


def test_a_kernel_above_a_stub_leads_to_what_computes(works: Works, tree_index: Index) -> None:
    kernel = Node(
        "definition", number(tree_index, "mul_out", "/BinaryOps.cpp", "impl_func"), "CUDA"
    )
    assert works.computing(kernel.what) is None
    assert works.leads(kernel)
    assert works.of(kernel) in ("dispatches", "chooses")


@pytest.mark.parametrize(
    ("symbol", "library", "computes"),
    [
        ("cublasSgemm", "cuBLAS", True),
        ("cublasSetStream", "cuBLAS", False),
        ("cublasLtMatmul", "cuBLAS", True),
        ("cublasLtMatmulAlgoGetHeuristic", "cuBLAS", False),
        ("cusolverDnXgeqrf", "cuSOLVER", True),
        ("cusolverDnXgeqrf_bufferSize", "cuSOLVER", False),
        ("ideep::matmul_forward::compute", "oneDNN", True),
        ("ideep::tensor", "oneDNN", False),
        ("runMPSGraph", "MPSGraph", True),
        ("MPSGraphCache", "MPSGraph", False),
        ("fbgemm::FindMinMax", "FBGEMM", False),
        ("thrust::sort_by_key", "Thrust", True),
        ("thrust::make_counting_iterator", "Thrust", False),
        ("at::native::runMPSGraph", "MPSGraph", True),
    ],
)
def test_a_librarys_function_computes_or_prepares(
    symbol: str, library: str, computes: bool
) -> None:
    assert runs_library(Edge(1, 1, "library", symbol, library)) is computes


def test_what_has_a_destination_copies() -> None:
    assert moves(parse_schema("_copy_from_and_resize(Tensor self, Tensor dst) -> Tensor"))
    assert not moves(parse_schema("mul(Tensor self, Tensor other) -> Tensor"))
