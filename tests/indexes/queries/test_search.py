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
from indexes.store.catalogue import Found, KnownNames, Lines

_WORDS = ("a", "m", "mul", "mul_", "_mul", "mul.out", "out", "ad", "dd", "tns", "m.o", "_", "zz")


def _ranked(word: str, operators: Sequence[OperatorSummary]) -> list[OperatorSummary]:
    """Operators that fit, each ranked by itself."""
    rank = Wanted(word).rank_lowered
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


def test_a_narrowed_line_is_searched_on_where_the_last_search_ended() -> None:
    lines = Lines("\nab\nabc\nxab\nabcd\nzabc\n")
    assert lines.holding("ab", 3) == [(1, 1, 3), (4, 4, 7), (8, 9, 11)]
    assert lines.holding("abc", 2) == [(4, 4, 7), (12, 12, 16)]
    assert lines.holding("abc", 9) == [(4, 4, 7), (12, 12, 16), (17, 18, 21)]
    assert lines.holding("bc", 9) == [(4, 5, 7), (12, 13, 16), (17, 19, 21)]
    assert lines.holding("abcd", 9) == [(12, 12, 16)]
    assert lines.holding("b\nx", 9) == []


def test_a_letter_whose_small_form_is_longer_moves_no_name() -> None:
    names = KnownNames(["ABC", "abcd", "aİb"])
    assert _texts(names, names.lines.holding("abc", 9)) == ["ABC", "abcd"]
    assert _texts(names, names.lines.holding("İb", 9)) == ["aİb"]
    assert _texts(names, names.beginning("a", 9)) == ["aİb", "abcd"]


def test_names_that_begin_with_a_word_are_the_shortest_ones() -> None:
    names = KnownNames(["Ab", "a", "ab", "abc", "ac", "b", "bb"])
    assert _texts(names, names.beginning("a", 9)) == ["a", "ab", "ac", "abc"]
    assert _texts(names, names.beginning("a", 2)) == ["a", "ab"]
    assert _texts(names, names.beginning("ab", 9)) == ["ab", "abc"]
    assert names.beginning("ab\nac", 9) == names.beginning("c", 9) == []


def _texts(names: KnownNames, found: Sequence[Found]) -> list[str]:
    return [names.lines.text[start:end] for start, _, end in found]


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


def test_of_very_many_definitions_the_first_by_their_place_are_found(crowded: Index) -> None:
    hits = crowded.find("same", limit=1000)
    places = [(hit.location.path[-5:], hit.location.line) for hit in hits]
    assert places == [("x.cpp", at) for at in range(1, 251)] + [
        ("y.cpp", at) for at in range(1, 151)
    ]
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


_ODD = ("a.b.c", "x.mul", ".mul", "_mul_", "MUL", "mul2", "a/b.cpp", "_", "__", "mul__.mul", "a._b")
_ODD_WORDS = ("__", "mul_.", "a.b", ".", "_mul_", "a._", "L2", "cpp", "._", "mul__")


@pytest.mark.parametrize("word", [*_WORDS, *_ODD_WORDS])
def test_names_ranked_where_they_stand_have_their_own_ranks(wheel_index: Index, word: str) -> None:
    names = [*(operator.full_name for operator in wheel_index.operators()), *_ODD]
    lines, wanted = Lines("\n".join(["", *names, ""])), Wanted(word)
    found = lines.holding(word, len(names))
    alone = [wanted.rank(lines.text[start:end]) for start, _, end in found]
    assert lines.ranks(wanted, word, found) == alone


@pytest.mark.parametrize("name", ["a::mul", "mulİ"])
def test_where_a_name_holds_a_word_may_not_tell_its_rank(name: str) -> None:
    lines = Lines(f"\n{name}\n")
    assert lines.ranks(Wanted("mul"), "mul", lines.holding("mul", 9)) is None


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
