"""Each stub of the small tree: declared, defined, registered, implemented, as its marks say."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from indexes.model.vocabulary import StubRow
from indexes.queries.index import Index
from tests.tree_marks import Spot, marks

NO_KERNEL = "nullptr"


@pytest.fixture(scope="session")
def rows(tree_index: Index) -> list[StubRow]:
    return list(tree_index.stub_rows())


def spot(row: StubRow) -> Spot:
    return row.registration.path, row.registration.line


def _bare(function: str) -> str:
    """``qadd_kernel`` of ``&CPU_CAPABILITY::qadd_kernel<true>``."""
    return function.partition("<")[0].split("::")[-1].lstrip("&")


def test_the_registrations_are_those_marked_and_no_others(rows: list[StubRow]) -> None:
    expected = Counter((*m.spot, *m.words) for m in marks("registers"))
    found = Counter((*spot(r), r.stub, r.device, _bare(r.function)) for r in rows)
    assert len(expected) > 60
    assert found == expected


def test_each_registration_leads_to_a_marked_function(rows: list[StubRow]) -> None:
    implementations = defaultdict(set)
    for mark in marks("implements"):
        implementations[mark.words].add(mark.spot)
    wrong = {}
    for row in rows:
        if _bare(row.function) == NO_KERNEL:
            continue
        place = row.definition and (row.definition.location.path, row.definition.location.line)
        same_file = {s for s in implementations[row.stub, row.device] if s[0] == spot(row)[0]}
        if place not in same_file:
            wrong[spot(row), row.stub] = (place, same_file, row.reason)
    assert wrong == {}


def test_each_marked_function_is_found_from_its_stub(
    rows: list[StubRow], tree_index: Index
) -> None:
    """Also the second one, where two stand under different conditions."""
    chains = {
        "mul_stub": "mul.out",
        "bernoulli_scalar_stub": "bernoulli_.float",
        "GeluKernel": "gelu.out",
        "softmax_lastdim_kernel": "_softmax.out",
        "cumsum_stub": "cumsum.out",
        "index_stub": "index.Tensor_out",
        "LayerNormKernel": "native_layer_norm",
        "gru_cudnn_stub": "gru.input",
        "copy_stub": "copy_",
        "abs_stub": "abs.out",
        "sin_stub": "sin.out",
        "gemm_stub": "addmm.out",
    }
    missing = {}
    for stub, op in chains.items():
        hops = tree_index.chain(op).hops
        found = {(h.location.path, h.location.line) for h in hops if h.location}
        wanted = {m.spot for m in marks("implements") if m.words[0] == stub}
        # of the two stubs called copy_stub, this operator calls the tensors' one
        wanted = {s for s in wanted if stub != "copy_stub" or "Blas" not in s[0]}
        if wanted - found:
            missing[op] = wanted - found
    assert missing == {}


def test_a_namesake_of_the_registered_function_is_not_the_answer(rows: list[StubRow]) -> None:
    namesakes = {mark.spot for mark in marks("not-implements")}
    assert namesakes
    found = {(r.definition.location.path, r.definition.location.line) for r in rows if r.definition}
    assert not namesakes & found


def test_nothing_is_registered_says_so(rows: list[StubRow]) -> None:
    empty = [row for row in rows if _bare(row.function) == NO_KERNEL]
    assert len(empty) == sum(m.words[2] == NO_KERNEL for m in marks("registers"))
    for row in empty:
        assert row.definition is None
        assert "nullptr" in row.reason


def test_the_macro_at_the_registration_is_named(rows: list[StubRow]) -> None:
    macros = {(row.stub, row.device): row.macro for row in rows}
    assert macros["mul_stub", "CPU"] == "REGISTER_DISPATCH"
    assert macros["GeluKernel", "CPU"] == "ALSO_REGISTER_AVX512_DISPATCH"
    assert macros["cumsum_stub", "CUDA"] == "REGISTER_CUDA_DISPATCH"
    assert macros["index_put_with_sort_stub", "CPU"] == "REGISTER_NO_CPU_DISPATCH"
    archs = {row.macro for row in rows if row.stub == "_fused_sdp_choice_stub"}
    assert {"REGISTER_AVX2_DISPATCH", "REGISTER_AVX512_DISPATCH"} < archs


def test_a_registration_under_a_condition_keeps_it(rows: list[StubRow]) -> None:
    guards = {row.guard for row in rows if row.stub == "qrelu_stub"}
    assert len(guards) == 2
    assert all("_WIN32" in guard for guard in guards)
    assert {row.guard for row in rows if row.stub == "mul_stub"} == {""}


@pytest.mark.parametrize("verb", ["declares", "defines"])
def test_a_stub_leads_to_where_it_is_declared_and_defined(verb: str, tree_index: Index) -> None:
    expected: dict[str, set[Spot]] = defaultdict(set)
    for mark in marks(verb):
        expected[mark.words[0]].add(mark.spot)
    assert len(expected) > 20
    missing = {}
    for stub, wanted in expected.items():
        match = tree_index.resolve(stub)
        found = {(hit.location.path, hit.location.line) for hit in match.hits}
        if match.kind != "stub" or wanted - found:
            missing[stub] = (match.kind, wanted - found)
    assert missing == {}


def test_text_that_looks_like_a_stub_is_none(rows: list[StubRow], tree_index: Index) -> None:
    """In a comment, in a raw string, in the header that defines the macros."""
    names = {row.stub for row in rows}
    assert not {"comment_stub", "sub_stub", "name", "max_elementwise_stub", "qdropout_stub"} & names
    assert tree_index.resolve("comment_stub").kind == "none"


def test_a_chain_says_that_the_cpu_has_no_kernel(tree_index: Index) -> None:
    chain = tree_index.chain("mean.out")
    registration = next(h for h in chain.hops if h.role == "registration" and h.device == "CPU")
    reasons = [u.reason for u in chain.unresolved if u.parent == registration.id]
    assert len(reasons) == 1
    assert "nullptr" in reasons[0]


def test_a_stub_that_torchgen_defines_ends_in_the_inner_loop(tree_index: Index) -> None:
    """Nothing in the tree registers add_stub; two operators call it."""
    loops = {m.spot for m in marks("kernel") if m.path.endswith("ufunc/add.h")}
    kernels = [h for h in tree_index.chain("sub.out").hops if h.role == "device_kernel"]
    found = {(h.location.path, h.location.line) for h in kernels if h.location}
    assert loops <= found
    assert all(h.confidence == "by rule" and "torchgen" in h.rule for h in kernels)
