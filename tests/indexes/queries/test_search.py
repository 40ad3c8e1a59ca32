"""Searching by parts of names: whatever is asked before, and however much is asked at once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from indexes.model.vocabulary import OperatorSummary
from indexes.queries.index import Index
from indexes.queries.search import Wanted
from indexes.source.source import Source

_WORDS = ("a", "m", "mul", "mul_", "_mul", "mul.out", "out", "ad", "dd", "tns", "m.o", "_", "zz")


def _ranked(word: str, operators: Sequence[OperatorSummary]) -> list[OperatorSummary]:
    """Operators that fit, each ranked by itself."""
    rank = Wanted(word).rank_holding
    ranked = [(rank(op.full_name.lower()), op) for op in operators]
    fitting = [(found, op) for found, op in ranked if found is not None]
    return [op for _, op in sorted(fitting, key=lambda one: one[0])]


@pytest.mark.parametrize("word", _WORDS)
def test_operators_stand_in_the_order_of_their_ranks(wheel_index: Index, word: str) -> None:
    operators = wheel_index.operators()
    assert list(wheel_index.filter(word)) == _ranked(word, operators)


@pytest.mark.parametrize(("first", "second"), [("out", "a"), ("add", "_"), ("o", "m")])
def test_a_second_word_keeps_the_order_of_the_first(
    wheel_index: Index, first: str, second: str
) -> None:
    found = wheel_index.filter(f"{first} {second}")
    assert found
    assert list(found) == _ranked(second, wheel_index.filter(first))


def test_what_was_asked_before_changes_no_answer(tree: Path, tree_index: Index) -> None:
    typed = ["m", "mu", "mul", "mul_", "mul_k", "mul", "ul", "ul_s", "BinaryO", "BinaryOps.c"]
    for text in typed:
        alone = Index.as_left(Source.find(str(tree)), tree_index.cache)
        with contextlib.closing(alone):
            alone.find("x")
            assert tree_index.find(text) == alone.find(text), text


@pytest.fixture
def crowded(tmp_path: Path) -> Iterator[Index]:
    """An index of three files that hold 250 methods each with the same name."""
    folder = tmp_path / "tree/aten/src/ATen/native"
    folder.mkdir(parents=True)
    for name in "zxy":
        lines = (f"struct S{at} {{ int same() {{ return {at}; }} }};\n" for at in range(250))
        (folder / f"{name}.cpp").write_text("".join(lines))
    (folder / "native_functions.yaml").write_text("- func: other(Tensor self) -> Tensor\n")
    index = Index.open(Source.find(str(tmp_path / "tree")), tmp_path / "cache")
    with contextlib.closing(index):
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
    folder = tmp_path / "tree/aten/src/ATen/native"
    folder.mkdir(parents=True)
    classes = [f"same{at}" for at in range(10, 50)]
    lines = [f"struct {name} {{}};\n" for name in reversed(classes)]
    lines += [f"int same_{at}() {{ return {at}; }}\n" for at in range(10, 15)]
    (folder / "a.cpp").write_text("".join(lines))
    (folder / "native_functions.yaml").write_text("- func: other(Tensor self) -> Tensor\n")
    index = Index.open(Source.find(str(tmp_path / "tree")), tmp_path / "cache")
    with contextlib.closing(index):
        hits = [hit.name for hit in index.find("same", limit=30)]
    assert hits == [*(f"same_{at}" for at in range(10, 15)), *classes[:-26:-1]]


@pytest.mark.parametrize("word", _WORDS)
def test_names_are_found_in_the_order_of_their_ranks(wheel_index: Index, word: str) -> None:
    hits = [hit for hit in wheel_index.find(word, limit=2000) if hit.kind == "operator"]
    ranks = [Wanted(word).rank(hit.name) for hit in hits]
    assert ranks == sorted(rank for rank in ranks if rank is not None)


def test_definitions_in_a_name_that_is_no_ascii_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "tree/aten/src/ATen/native"
    folder.mkdir(parents=True)
    (folder / "Ünder.cpp").write_text("int under() { return 1; }\nint _under() { return 2; }\n")
    (folder / "native_functions.yaml").write_text("- func: other(Tensor self) -> Tensor\n")
    index = Index.open(Source.find(str(tmp_path / "tree")), tmp_path / "cache")
    with contextlib.closing(index):
        for _ in range(2):
            assert [hit.name for hit in index.find("under")] == ["under", "_under"]
            assert [hit.name[-9:] for hit in index.find("ünd")] == ["Ünder.cpp"]


@pytest.mark.parametrize("word", ["codeowners", "CODEOWNERS"])
def test_the_file_of_that_name_comes_before_many_that_begin_so(tmp_path: Path, word: str) -> None:
    tree = tmp_path / "tree"
    folder = tree / "aten/src/ATen/native"
    folder.mkdir(parents=True)
    lines = [f"int {word}{at}() {{ return {at}; }}\n" for at in range(9)]
    (folder / "codeowners.cpp").write_text("".join(lines))
    (folder / "native_functions.yaml").write_text("- func: other(Tensor self) -> Tensor\n")
    (tree / "CODEOWNERS").write_text("/aten/ @someone\n")
    index = Index.open(Source.find(str(tree)), tmp_path / "cache")
    with contextlib.closing(index):
        for _ in range(2):
            found = [hit.name for hit in index.find(word, limit=4)]
            assert "CODEOWNERS" in found
            assert not any("/" in name for name in found)
            every = {hit.name for hit in index.find(word)}
            assert {"CODEOWNERS", "aten/src/ATen/native/codeowners.cpp"} <= every
