"""Names, search, places and uses, asked of a real index: the small tree and the wheel."""

from __future__ import annotations

import contextlib

import pytest

from indexes.model.errors import NotFound
from indexes.queries.impact.answers import Impacts
from indexes.queries.index import Index
from indexes.queries.search import Wanted
from tests.tree_marks import NATIVE, YAML


@pytest.mark.parametrize(
    ("text", "kind", "meant"),
    [
        ("add", "operator", "add.Tensor"),
        ("aten::add.Tensor", "operator", "add.Tensor"),
        ("torch.ops.aten.add_.Tensor", "operator", "add_.Tensor"),
        ("AddmmBackward0", "grad_fn", "addmm"),
        ("MulBackward0", "grad_fn", "mul.Tensor"),
        ("torch.add", "operator", "add.Tensor"),
        ("torch._C._VariableFunctionsClass.add", "operator", "add.Tensor"),
        ("x.add_(y)", "operator", "add_.Tensor"),
        ("nn.Dropout", "python", "dropout"),
        ("F.cross_entropy", "python", "cross_entropy_loss"),
        ("torch.nn.functional.nll_loss", "python", "nll_loss_nd"),
        ("torch.special.expit", "python", "special_expit"),
    ],
)
def test_what_people_paste_means_an_operator(
    wheel: Index, text: str, kind: str, meant: str
) -> None:
    match = wheel.resolve(text)
    assert (match.kind, match.overloads[0]) == (kind, meant)


def test_a_name_that_is_not_there_gives_near_ones(wheel: Index) -> None:
    match = wheel.resolve("sofmax")
    assert match.kind == "none"
    assert "softmax" in match.suggestions


def test_symbols_and_stubs_lead_to_their_places(tree_index: Index) -> None:
    stub = tree_index.resolve("REGISTER_DISPATCH(mul_stub, &mul_kernel)")
    assert stub.kind == "stub"
    assert {hit.detail for hit in stub.hits} == {"declared", "defined", "registered"}
    kernel = tree_index.resolve("at::native::mul_kernel")
    assert kernel.kind == "symbol"
    assert [hit.location.path for hit in kernel.hits] == [f"{NATIVE}cpu/BinaryOpsKernel.cpp"]


def test_find_puts_the_operator_before_the_symbols(tree_index: Index) -> None:
    hits = tree_index.find("mul")
    assert hits[0].name == "mul.Tensor"
    assert {"function", "operator"} <= {hit.kind for hit in hits}
    assert tree_index.find("") == ()
    assert tree_index.find("100%_\\") == ()


@pytest.mark.parametrize("text", ["mul_stub", "REGISTER_DISPATCH(mul_stub, &mul_kernel)"])
def test_find_gives_a_stub_where_it_is_defined(tree_index: Index, text: str) -> None:
    stub = tree_index.find(text)[0]
    assert (stub.kind, stub.name, stub.detail) == ("stub", "mul_stub", "DEFINE_DISPATCH(mul_stub)")
    assert stub.location.path == f"{NATIVE}BinaryOps.cpp"
    assert (
        "DEFINE_DISPATCH(mul_stub)"
        in tree_index.read(stub.location.path).splitlines()[stub.location.line - 1]
    )


def test_find_knows_names_of_two_letters(tree_index: Index) -> None:
    assert any(hit.name.startswith("mu") for hit in tree_index.find("mu"))


def test_a_kernel_line_names_the_operators_that_reach_it(tree_index: Index) -> None:
    (kernel,) = tree_index.resolve("at::native::mul_kernel").hits
    (place,) = tree_index.at(kernel.location.path, kernel.location.line)
    assert {"mul.Tensor", "mul_.Tensor", "mul.out"} <= set(place.operators)


def test_a_yaml_line_names_its_operator(tree_index: Index) -> None:
    native = tree_index.native("mul.Tensor")
    assert native is not None
    (place, *_) = tree_index.at(YAML, native.location.line)
    assert (place.kind, place.name) == ("operator", "mul.Tensor")


def test_a_line_where_nothing_stands_is_not_found(tree_index: Index) -> None:
    with pytest.raises(NotFound, match=r"nearest is .* at line"):
        tree_index.at(f"{NATIVE}cpu/BinaryOpsKernel.cpp", 1)
    with pytest.raises(NotFound, match="no file"):
        tree_index.at("../../etc/passwd", 1)


def test_uses_lead_from_a_device_kernel_to_the_operators(tree_index: Index) -> None:
    hits = tree_index.uses("mul_kernel")
    assert ("registration", "REGISTER_DISPATCH(mul_stub, &mul_kernel)") in {
        (hit.kind, hit.name) for hit in hits
    }
    operators = [hit for hit in hits if hit.kind == "operator"]
    assert "mul.Tensor" in {hit.op for hit in operators}
    assert all("mul_kernel" in hit.detail for hit in operators)


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("key:cuda", lambda op: any("CUDA" in key for key in op.keys)),
        ("no:derivative", lambda op: not op.has_derivative),
        ("kind:structured", lambda op: op.kind == "structured"),
        ("tag:core", lambda op: any("core" in tag for tag in op.tags)),
        ("file:binaryops", lambda op: any("binaryops" in file.lower() for file in op.files)),
    ],
)
def test_terms_narrow_the_list(tree_index: Index, text: str, test: object) -> None:
    everything = tree_index.filter("")
    kept = tree_index.filter(text)
    assert callable(test)
    assert kept == tuple(op for op in everything if test(op))
    assert 0 < len(kept) < len(everything)


def test_words_and_terms_go_together(tree_index: Index) -> None:
    names = [op.full_name for op in tree_index.filter("mul key:CUDA")]
    assert names[0] == "mul.Tensor"
    assert set(tree_index.filter("")) == set(tree_index.operators())
    assert tree_index.filter("zzzzzz") == ()


def test_ranks_prefer_the_whole_name_then_a_prefix_then_letters_in_order() -> None:
    names = ["x.addmm", "add_m_m", "_addmm_x", "addmm.out", "xaddmmx", "_addmm", "addmmx", "addmm"]
    ranks = {name: Wanted("addmm").rank(name) or () for name in names}
    assert sorted(names, key=lambda name: ranks[name]) == [
        "addmm",
        "addmm.out",
        "_addmm",
        "addmmx",
        "x.addmm",
        "_addmm_x",
        "xaddmmx",
        "add_m_m",
    ]
    assert [ranks[name][:1] for name in names] == [(at,) for at in (3, 6, 3, 0, 4, 1, 2, 0)]
    assert Wanted("addmm").rank("bmm") is None


def test_a_chain_asks_for_the_uses_of_stubs_alone(tree_index: Index) -> None:
    rows = tree_index.facts.store.query("SELECT stub FROM uses WHERE stub NOT NULL")
    stubs = {stub for (stub,) in rows}
    asked: list[str] = []
    with contextlib.closing(Index.as_left(tree_index.source, tree_index.cache)) as index:
        index.facts.store.db.set_trace_callback(asked.append)
        assert any(hop.role == "stub" for hop in index.chain("mul.out").hops)
    uses = [sql.partition("u.stub='")[2].partition("'")[0] for sql in asked if "u.stub='" in sql]
    assert "mul_stub" in uses
    assert set(uses) <= stubs
    assert len(uses) == len(set(uses))


def test_a_chain_looks_no_name_up(tree_index: Index) -> None:
    """What names mean was resolved when their files were linked."""
    with contextlib.closing(Index.as_left(tree_index.source, tree_index.cache)) as index:
        asked: list[str] = []
        index.facts.store.db.set_trace_callback(asked.append)
        index.chain("mul.out")
        assert any("FROM edges" in sql for sql in asked)
        by_name = [sql for sql in asked if "FROM definitions" in sql and "d.name=" in sql]
        assert not [sql for sql in by_name if "d.scope=" in sql]
        assert len(by_name) == len(set(by_name))  # definitions again, each name once


def test_a_definition_is_a_kernel_of_the_operators_that_name_it(tree_index: Index) -> None:
    facts = tree_index.facts
    asked = 0
    for row in facts.all_kernels():
        for known in filter(None, map(facts.known, row.definitions)):
            assert row.op in facts.kernel_of(known), row
            assert row in facts.kernel_rows_of(known.id)
            asked += 1
    assert asked > 20


def test_a_function_of_a_library_leads_to_who_calls_it(tree_index: Index) -> None:
    match = tree_index.resolve("cudaMemcpyAsync")
    assert [hit.name for hit in match.hits] == ["at::native::copy_kernel_cuda"]
    assert match.note.startswith("no definition of it is indexed; it is called in one place")
    caller, operator, *_ = tree_index.uses("cudaMemcpyAsync")
    assert (caller.kind, caller.name) == ("caller", "at::native::copy_kernel_cuda")
    assert operator.op == "copy_"
    assert operator.detail.endswith("copy_stub <- copy_kernel_cuda <- cudaMemcpyAsync")
    impacts = Impacts(tree_index)
    start, called = impacts.callers("cudaMemcpyAsync").steps
    assert (start.symbol, called.symbol) == ("cudaMemcpyAsync", "at::native::copy_kernel_cuda")
    assert "copy_" in {one.name for one in impacts.impact("cudaMemcpyAsync").operators}
