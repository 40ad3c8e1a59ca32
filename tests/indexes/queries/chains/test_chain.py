"""Chains of the small tree: every marked place is a hop, and every hop is a real place."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from indexes.model.answers import Chain, Hop
from indexes.queries.chains.chain import for_key
from indexes.queries.index import Index
from tests.tree_marks import TREE, Mark, Spot, marks

_FUNCTION = {"call", "device_kernel", "launch"}
"""What a function on the way is called, by what it does."""


@pytest.fixture(scope="session")
def chains(tree_index: Index) -> dict[str, Chain]:
    return {op.full_name: tree_index.chain(op.full_name) for op in tree_index.operators()}


@pytest.fixture(scope="session")
def full_chains(tree_index: Index) -> dict[str, Chain]:
    names = (op.full_name for op in tree_index.operators())
    return {name: tree_index.chain(name, full=True) for name in names}


def _spot(hop: Hop) -> Spot | None:
    return (hop.location.path, hop.location.line) if hop.location else None


def _evidence(hop: Hop) -> set[Spot]:
    return {(place.path, place.line) for place in hop.evidence}


def _answers(hop: Hop, mark: Mark) -> bool:
    if len(mark.words) == 1:
        return mark.spot == _spot(hop) or mark.spot in _evidence(hop)
    roles = _FUNCTION if mark.words[1] == "function" else {mark.words[1]}
    return mark.spot == _spot(hop) and hop.role in roles


def _role(mark: Mark) -> str:
    return mark.words[1] if mark.words[1:] else "any"


def _roles() -> list[str]:
    return sorted({_role(mark) for mark in marks("hop")})


@pytest.mark.parametrize("role", _roles())
def test_each_marked_place_is_in_its_chain(role: str, full_chains: dict[str, Chain]) -> None:
    """What only helps is listed in full, and folded otherwise."""
    of_role = [mark for mark in marks("hop") if _role(mark) == role]
    missing = [m for m in of_role if not any(_answers(h, m) for h in full_chains[m.words[0]].hops)]
    assert missing == []


@pytest.mark.parametrize("role", sorted({*_roles()} - {"any", "call", "function"}))
def test_what_is_folded_is_no_step_to_what_computes(role: str, chains: dict[str, Chain]) -> None:
    of_role = [mark for mark in marks("hop") if _role(mark) == role]
    missing = [m for m in of_role if not any(_answers(h, m) for h in chains[m.words[0]].hops)]
    assert missing == []


def test_what_is_marked_as_foreign_is_in_no_chain(chains: dict[str, Chain]) -> None:
    for mark in marks("not-hop"):
        assert not any(mark.spot == _spot(h) for h in chains[mark.words[0]].hops), mark


def test_no_namesake_is_a_kernel_of_a_chain(chains: dict[str, Chain]) -> None:
    namesakes = {mark.spot for mark in marks("not-kernel")}
    wrong = {
        (op, _spot(hop))
        for op, chain in chains.items()
        for hop in chain.hops
        if hop.role in {"kernel", "meta"} and _spot(hop) in namesakes
    }
    assert wrong == set()


def test_every_hop_is_a_line_of_the_tree(chains: dict[str, Chain]) -> None:
    for op, chain in chains.items():
        for hop in chain.hops:
            for place in (hop.location, *hop.evidence):
                if place:
                    assert place.line <= _length(place.path), (op, hop)
            assert hop.symbol, (op, hop)
            assert hop.rule, (op, hop)


@cache
def _length(path: str) -> int:
    return (TREE / path).read_bytes().count(b"\n") + 1


def test_parents_come_before_their_children(chains: dict[str, Chain]) -> None:
    for op, chain in chains.items():
        seen: set[int] = set()
        for hop in chain.hops:
            assert hop.parent is None or hop.parent in seen, (op, hop)
            assert hop.id not in seen, (op, hop)
            seen.add(hop.id)
        assert all(u.parent is None or u.parent in seen for u in chain.unresolved), op


def test_each_chain_begins_with_the_schema(chains: dict[str, Chain]) -> None:
    for op, chain in chains.items():
        first = chain.hops[0]
        assert (first.role, first.symbol, first.parent) == ("schema", op, None)
        assert first.location
        assert first.location.line == chain.op.location.line


def test_what_cannot_be_linked_says_why(chains: dict[str, Chain]) -> None:
    for op, chain in chains.items():
        for gap in chain.unresolved:
            assert gap.symbol, op
            assert len(gap.reason) > 10, (op, gap)


def test_the_devices_of_a_chain_are_those_of_its_registrations(chains: dict[str, Chain]) -> None:
    """The same stub, told apart by the file and the macro of its registration."""
    devices = {h.device for h in chains["index.Tensor"].hops if h.role == "registration"}
    assert devices == {"CPU", "CUDA", "MPS"}
    for role, path in (("registration", "/cpu/"), ("device_kernel", "/cpu/")):
        hops = chains["mul.Tensor"].hops
        places = [h.location for h in hops if (h.role, h.device) == (role, "CPU")]
        assert places
        assert all(place and path in place.path for place in places)


@pytest.mark.parametrize(
    ("op", "delegate"), [("mul_.Tensor", "mul.out"), ("sin", "sin.out"), ("cat", "cat.out")]
)
def test_a_delegate_is_followed(op: str, delegate: str, chains: dict[str, Chain]) -> None:
    hops = [h.symbol for h in chains[op].hops if h.role == "delegate"]
    assert delegate in hops


def test_the_two_stubs_of_one_name_are_told_apart(chains: dict[str, Chain]) -> None:
    """at::native::copy_stub, and at::native::cpublas::copy_stub."""
    paths = {h.location.path for h in chains["copy_"].hops if h.location}
    assert any(path.endswith("cpu/CopyKernel.cpp") for path in paths)
    assert not any("Blas" in path for path in paths)


def test_a_branch_at_run_time_shows_both_ways(chains: dict[str, Chain]) -> None:
    stubs = {h.symbol for h in chains["_softmax"].hops if h.role == "stub"}
    assert {"softmax_lastdim_kernel", "softmax_kernel"} <= stubs
    libraries = [h for h in chains["addmm"].hops if h.role == "library"]
    named = " ".join(h.symbol + h.rule + h.note for h in libraries)
    assert "cublas" in named.lower()


@pytest.mark.parametrize(
    ("op", "library"),
    [
        ("cudnn_convolution", "cudnn"),
        ("_fft_c2c", "cufft"),
        ("mkldnn_convolution", "onednn"),
        ("miopen_convolution", "miopen"),
        ("nonzero", "cub"),
        ("_mps_convolution", "mpsgraph"),
        ("_scaled_dot_product_flash_attention", "flashattention"),
    ],
)
def test_a_library_is_named(op: str, library: str, chains: dict[str, Chain]) -> None:
    chain = chains[op]
    words = [h.symbol + h.rule + h.note for h in chain.hops if h.role == "library"]
    words += [u.symbol + u.reason for u in chain.unresolved if u.role == "library"]
    assert library in " ".join(words).lower()


def test_a_binding_written_by_hand_is_not_said_to_dispatch(full_chains: dict[str, Chain]) -> None:
    """manual_cpp_binding: torchgen makes no method, ``self.is_floating_point()`` reads a dtype."""
    chains = full_chains.values()
    hops = [h for chain in chains for h in chain.hops if h.symbol == "is_floating_point"]
    calls = [hop for hop in hops if hop.role == "call"]
    assert calls
    assert {hop.confidence for hop in calls} == {"by rule"}
    assert all("manual_cpp_binding" in hop.rule and "anew" not in hop.rule for hop in calls)


def test_what_is_named_like_a_vendors_function_is_the_trees_own(chains: dict[str, Chain]) -> None:
    """A variable that is made with arguments, and a function in a namespace of PyTorch."""
    hops = [hop for op in ("_fft_c2c", "addmm") for hop in chains[op].hops]
    symbols = {hop.symbol for hop in hops if hop.role == "library"}
    assert {"DftiComputeForward", "cblas_dgemm_batch"} <= symbols
    assert not symbols & {"mkl_istrides", "mkl_gemm_batched"}


def test_the_dtypes_that_a_kernel_covers_are_said(chains: dict[str, Chain]) -> None:
    hops = chains["clamp_min.out"].hops
    (kernel,) = (h for h in hops if (h.role, h.device) == ("device_kernel", "CPU"))
    (dispatch,) = kernel.dtypes
    assert dispatch.macro == "AT_DISPATCH_ALL_TYPES_AND2"
    assert dispatch.dtypes[:4] == ("Byte", "Long", "Double", "Float")


def test_without_dtypes_a_chain_has_the_same_hops(
    tree_index: Index, chains: dict[str, Chain]
) -> None:
    plain = tree_index.chain("clamp_min.out", dtypes=False).hops
    assert plain == tuple(replace(hop, dtypes=()) for hop in chains["clamp_min.out"].hops)
    assert plain != chains["clamp_min.out"].hops


def test_generated_overloads_say_what_they_are_made_from(chains: dict[str, Chain]) -> None:
    chain = chains["relu.out"]
    made = [h for h in chain.hops if h.role == "generated"]
    made_words = " ".join(h.symbol + h.rule + h.note for h in made)
    assert "relu" in made_words
    assert any("torchgen" in h.rule + h.note for h in made) or any(
        "torchgen" in u.reason for u in chain.unresolved
    )


_CALLED = re.compile(r"(?<![\w.:>])([a-z_]\w*)\s*\(")


def test_each_function_of_a_formula_is_linked_or_its_absence_told(
    chains: dict[str, Chain], tree_index: Index
) -> None:
    missing = set()
    for entry in tree_index.derivative_rows():
        chain = chains[entry.op]
        names = {h.symbol.split("::")[-1] for h in chain.hops}
        names |= {u.symbol for u in chain.unresolved}
        for formula in (f for one in entry.sets for f in one.formulas if one.key == "Default"):
            called = set(_CALLED.findall(formula.text))
            missing |= {(entry.op, name) for name in called if not _named(name, names)}
    assert missing == set()


def _named(function: str, names: set[str]) -> bool:
    base = function.removesuffix("_symint")
    return any(base == name.partition(".")[0].removesuffix("_symint") for name in names)


def test_the_page_that_lists_a_function_is_told(chains: dict[str, Chain]) -> None:
    pages = [str(h.location) for h in chains["addmm"].hops if h.role == "docs"]
    assert "docs/source/torch.rst:11" in pages
    assert not any(h.role == "docs" for h in chains["mm"].hops)


def test_a_chain_shows_the_choice_between_backends(tree_index: Index) -> None:
    texts = {
        hop.symbol: [one.text for one in hop.choices]
        for hop in tree_index.chain("scaled_dot_product_attention").hops
        if hop.role == "call" and hop.choices
    }
    switch = "switch (static_cast<sdp::SDPBackend>(choice_int)) case sdp::SDPBackend::"
    assert texts["at::_scaled_dot_product_flash_attention"] == [f"{switch}flash_attention"]
    assert texts["at::_scaled_dot_product_attention_math"] == [f"{switch}math"]
    supported = "if (_fused_sdp_choice_stub.is_device_supported(query_.device().type()))"
    assert texts["_fused_sdp_choice_stub"] == [supported]


def test_what_several_builds_register_is_one_row(
    chains: dict[str, Chain], full_chains: dict[str, Chain]
) -> None:
    def registered(chain: Chain) -> list[Hop]:
        hops = (hop for hop in chain.hops if hop.role == "registration" and hop.device == "CPU")
        return [hop for hop in hops if "_fused_sdp_choice_stub" in hop.symbol]

    op = "scaled_dot_product_attention"
    (row,) = registered(chains[op])
    assert row.note == "3 CPU builds: DEFAULT AVX2 AVX512"
    each = registered(full_chains[op])
    assert len(each) == 3
    assert [hop.location for hop in each] == [row.location, *row.evidence]


def test_nullptr_comes_last(chains: dict[str, Chain]) -> None:
    seen = 0
    for chain in chains.values():
        for parent in {hop.parent for hop in chain.hops if hop.role == "registration"}:
            rows = [h for h in chain.hops if (h.parent, h.role) == (parent, "registration")]
            empty = ["nullptr" in hop.symbol for hop in rows]
            assert empty == sorted(empty)
            seen += any(empty) and not all(empty)
    assert seen


def test_a_place_that_comes_again_names_the_hop_that_shows_it(chains: dict[str, Chain]) -> None:
    loops = 0
    for chain in chains.values():
        for hop in chain.hops:
            if hop.again is None:
                continue
            assert not any(other.parent == hop.id for other in chain.hops)
            above = set()
            parent = hop.parent
            while parent is not None:
                above.add(parent)
                parent = chain.hops[parent].parent
            loops += hop.again in above
            assert ("a loop" in hop.rule) == (hop.again in above)
    assert loops


@pytest.mark.parametrize(
    ("op", "through"),
    [("softmax.int", "_softmax"), ("matmul", "mm"), ("dropout", "native_dropout")],
)
def test_a_composite_operator_shows_the_formulas_of_what_it_calls(
    op: str, through: str, chains: dict[str, Chain]
) -> None:
    entries = [h for h in chains[op].hops if h.role == "derivative" and "through" in h.rule]
    assert through in [hop.symbol for hop in entries]
    assert not any(gap.role == "derivative" for gap in chains[op].unresolved)


def test_a_composite_operator_without_an_entry_lacks_nothing(tree_index: Index) -> None:
    names = [one.full_name for one in tree_index.operators() if not one.has_derivative]
    found = {name: tree_index.chain(name) for name in names}
    composite = {
        name
        for name, chain in found.items()
        if any("needs no entry" in hop.rule for hop in chain.hops)
    }
    assert composite
    lacking = {
        name
        for name, chain in found.items()
        if any(gap.role == "derivative" for gap in chain.unresolved)
    }
    assert lacking
    assert not composite & lacking


def test_what_belongs_to_no_key_is_left_out_for_one(tree_index: Index) -> None:
    whole = tree_index.chain("mul.Tensor")
    cuda = {hop.role for hop in for_key(whole, "CUDA").hops}
    assert {"schema", "kernel", "device_kernel"} <= cuda
    assert not cuda & {"test", "docs", "python", "opinfo", "derivative", "formula_function"}
    assert {"docs", "derivative"} <= {hop.role for hop in whole.hops}
    assert "docs" in {hop.role for hop in for_key(whole, "CUDA", "docs").hops}
    autograd = for_key(whole, "AutogradCUDA")
    assert "derivative" in {hop.role for hop in autograd.hops}
    assert not autograd.problems


def test_a_key_without_a_kernel_is_told(tree_index: Index) -> None:
    whole = tree_index.chain("sin")
    none, own = for_key(whole, "PrivateUse1"), for_key(whole, "CPU")
    assert [one.message.partition(":")[0] for one in none.problems] == ["no kernel for PrivateUse1"]
    assert own.problems == whole.problems
    shown = {hop.id for hop in none.hops}
    assert {one.parent for one in none.unresolved} <= {*shown, None}
    composite = for_key(tree_index.chain("matmul"), "PrivateUse1")
    assert not composite.problems
