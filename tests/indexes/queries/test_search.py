"""Searching by parts of names: whatever is asked before, and however much is asked at once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from indexes.model.vocabulary import Location, OperatorSummary
from indexes.queries.index import Index
from indexes.queries.search import BEGINS, MADE, PRIVATE, OperatorFilter, Wanted, standing
from indexes.source.source import Source
from tests.indexing import opened, write
from tests.tree_marks import NATIVE

_WORDS = ("a", "m", "mul", "mul_", "_mul", "mul.out", "out", "ad", "dd", "tns", "m.o", "_", "zz")


def _ranks(word: str, operators: Sequence[OperatorSummary]) -> list[tuple[int, int]]:
    """How each fits, and what tells those apart that fit alike: of those that begin with a word or
    hold it whether they are made."""
    found = []
    for op in operators:
        rank = Wanted(word).rank_holding(op.full_name.lower())
        assert rank is not None, op.full_name
        found.append((rank[0], standing(op) == MADE if rank[0] >= BEGINS else rank[1]))
    return found


@pytest.mark.parametrize("word", _WORDS)
def test_operators_stand_in_the_order_of_their_ranks(wheel: Index, word: str) -> None:
    found = wheel.filter(word)
    ranks = _ranks(word, found)
    assert ranks == sorted(ranks)
    rank = Wanted(word).rank_holding
    every = {op.full_name for op in wheel.operators() if rank(op.full_name.lower())}
    assert {op.full_name for op in found} == every


@pytest.mark.parametrize(("first", "second"), [("out", "a"), ("add", "_"), ("o", "m")])
def test_a_second_word_keeps_what_fits_the_first(wheel: Index, first: str, second: str) -> None:
    found = wheel.filter(f"{first} {second}")
    assert found
    assert set(found) == set(wheel.filter(first)) & set(wheel.filter(second))
    ranks = _ranks(second, found)
    assert ranks == sorted(ranks)


def _summary(name: str, arguments: str, **facts: Any) -> OperatorSummary:
    schema = f"{name}({arguments}) -> Tensor"
    what = {"keys": ("CPU",), "tags": (), "python_module": None, "kind": "plain", **facts}
    where = Location("native_functions.yaml", 1)
    return OperatorSummary(name, schema, where, has_derivative=False, **what)


_OPERATORS = [
    _summary("_cast_Byte", "Tensor self"),
    _summary("set_data", "Tensor(a!) self, Tensor other"),
    _summary("matmul.out", "Tensor self, Tensor other, *, Tensor(a!) out"),
    _summary("add_made", "Tensor self", kind="autogen"),
    _summary("no_code", "Tensor self", kind="no kernel"),
    _summary("convolution", "Tensor self", tags=("core",)),
    _summary("lib::scale", "Tensor self"),
    _summary("matmul", "Tensor self, Tensor other"),
    _summary("linalg_det", "Tensor self", python_module="linalg"),
    _summary("mul_.Tensor", "Tensor(a!) self, *, Scalar alpha"),
    _summary("_softmax", "Tensor self", tags=("core",)),
    _summary("abs", "Tensor self", tags=("core",)),
]


def test_what_people_mean_comes_before_what_is_private_made_or_for_out_arguments() -> None:
    documented = ["torch.matmul", "torch.linalg.det", "torch.abs", "torch.Tensor.mul_"]
    found = [op.full_name for op in OperatorFilter(_OPERATORS, documented)("")]
    assert found == [
        "abs",
        *("matmul", "linalg_det", "mul_.Tensor"),
        "convolution",
        *("set_data", "lib::scale"),
        *("_cast_Byte", "_softmax"),
        *("matmul.out", "add_made", "no_code"),
    ]


def test_among_names_that_hold_a_word_alike_the_likely_ones_come_first() -> None:
    names = ["add_sparse.out", "addmm", "_sparse_add_out", "add.out", "add.Tensor", "addmm_long"]
    operators = [
        _summary(name, "Tensor self, *, Tensor(a!) out" if "out" in name else "Tensor self")
        for name in names
    ]
    found = [op.full_name for op in OperatorFilter(operators, ["torch.addmm_long"])("add")]
    wanted = "add.Tensor add.out addmm_long addmm add_sparse.out _sparse_add_out"
    assert found == wanted.split()


def test_initials_come_before_letters_that_are_scattered() -> None:
    names = ["nested_to_padded_tensor", "scaled_dot_product_attention", "all_gather_copy_in"]
    found = OperatorFilter([_summary(name, "Tensor self") for name in names])("sdpa")
    assert [op.full_name for op in found] == names[1::-1]


def test_the_list_begins_with_what_the_tree_documents(tree_index: Index) -> None:
    everything = tree_index.filter("")
    assert sorted(map(repr, everything)) == sorted(map(repr, tree_index.operators()))
    names = [op.full_name for op in everything]
    first_private = next(at for at, name in enumerate(names) if name.startswith("_"))
    assert all(standing(op) < PRIVATE for op in everything[:first_private])
    assert names.index("mul.Tensor") < first_private < names.index("mul.out")


def test_what_was_asked_before_changes_no_answer(tree: Path, tree_index: Index) -> None:
    typed = ["m", "mu", "mul", "mul_", "mul_k", "mul", "ul", "ul_s", "BinaryO", "BinaryOps.c"]
    for text in typed:
        alone = Index.as_left(Source.find(str(tree)), tree_index.cache)
        with contextlib.closing(alone):
            alone.find("x")
            assert tree_index.find(text) == alone.find(text), text


def _tree(root: Path, files: Mapping[str, str]) -> Path:
    """A tree of one operator and some files of kernels."""
    entries = {"native_functions.yaml": "- func: other(Tensor self) -> Tensor\n"}
    return write(root, {f"{NATIVE}{name}": text for name, text in {**entries, **files}.items()})


@pytest.fixture
def crowded(tmp_path: Path) -> Iterator[Index]:
    """An index of three files that hold 250 methods each with the same name."""
    lines = (f"struct S{at} {{ int same() {{ return {at}; }} }};\n" for at in range(250))
    files = dict.fromkeys(("z.cpp", "x.cpp", "y.cpp"), "".join(lines))
    with opened(_tree(tmp_path / "tree", files), tmp_path / "cache") as index:
        yield index


def test_very_many_definitions_are_found_by_their_place(crowded: Index) -> None:
    hits = crowded.find("same", limit=1000)
    places = [(hit.location.path[-5:], hit.location.line) for hit in hits]
    assert places == [(f"{name}.cpp", at) for name in "xyz" for at in range(1, 251)]
    assert crowded.find("same", limit=3) == hits[:3]


def test_the_first_of_many_definitions_are_the_same_when_asked_for_again(crowded: Index) -> None:
    alone = crowded.find("same", limit=1000)
    crowded.find("S")
    assert crowded.find("same", limit=1000) == alone


def test_a_function_of_a_long_name_comes_before_many_classes_of_short_ones(tmp_path: Path) -> None:
    classes = [f"same{at}" for at in range(10, 50)]
    lines = [f"struct {name} {{}};\n" for name in reversed(classes)]
    lines += [f"int same_{at}() {{ return {at}; }}\n" for at in range(10, 15)]
    tree = _tree(tmp_path / "tree", {"a.cpp": "".join(lines)})
    with opened(tree, tmp_path / "cache") as index:
        hits = [hit.name for hit in index.find("same", limit=30)]
    assert hits == [*(f"same_{at}" for at in range(10, 15)), *classes[:-26:-1]]


@pytest.mark.parametrize("word", _WORDS)
def test_names_are_found_in_the_order_of_their_ranks(wheel: Index, word: str) -> None:
    hits = [hit for hit in wheel.find(word, limit=2000) if hit.kind == "operator"]
    ranks = [Wanted(word).rank(hit.name) for hit in hits]
    assert ranks == sorted(rank for rank in ranks if rank is not None)


def test_definitions_in_a_name_that_is_no_ascii_are_found(tmp_path: Path) -> None:
    files = {"Ünder.cpp": "int under() { return 1; }\nint _under() { return 2; }\n"}
    with opened(_tree(tmp_path / "tree", files), tmp_path / "cache") as index:
        for _ in range(2):
            assert [hit.name for hit in index.find("under")] == ["under", "_under"]
            assert [hit.name[-9:] for hit in index.find("ünd")] == ["Ünder.cpp"]


@pytest.mark.parametrize("word", ["codeowners", "CODEOWNERS"])
def test_the_file_of_that_name_comes_before_many_that_begin_so(tmp_path: Path, word: str) -> None:
    lines = [f"int {word}{at}() {{ return {at}; }}\n" for at in range(9)]
    tree = _tree(tmp_path / "tree", {"codeowners.cpp": "".join(lines)})
    (tree / "CODEOWNERS").write_text("/aten/ @someone\n")
    with opened(tree, tmp_path / "cache") as index:
        for _ in range(2):
            found = [hit.name for hit in index.find(word, limit=4)]
            assert "CODEOWNERS" in found
            assert not any("/" in name for name in found)
            every = {hit.name for hit in index.find(word)}
            assert {"CODEOWNERS", "aten/src/ATen/native/codeowners.cpp"} <= every
