"""The table of macro families: each row has a marked use in the small tree, which is answered."""

from __future__ import annotations

import re

import pytest

from indexes.linking.registrations import written_registrations
from indexes.model.idioms import IDIOMS, Idiom, idiom_of, library_block, meaning_of, stub_of
from indexes.queries.index import Index
from indexes.store.registrations import library_uses, named_macros
from tests.extension_marks import marked_lines
from tests.tree_marks import TREE, Mark, all_marks, marks


def _used(mark: Mark) -> set[Idiom | None]:
    line = (TREE / mark.path).read_bytes().decode("latin-1").split("\n")[mark.line - 1]
    return {idiom_of(word) for word in re.findall(r"\w+", line.partition("//!")[0])}


@pytest.fixture(scope="session")
def marked() -> set[Idiom | None]:
    here = {row for mark in all_marks() for row in _used(mark)}
    words = (word for line in marked_lines() for word in re.findall(r"\w+", line))
    return here | set(map(idiom_of, words))


@pytest.mark.parametrize("row", IDIOMS, ids=[row.names for row in IDIOMS])
def test_each_row_has_a_marked_use_in_the_small_tree(row: Idiom, marked: set[Idiom | None]) -> None:
    assert row in marked, f"add a use of {row.names} to tests/tree, with a mark beside it"


def test_marked_blocks_are_read_with_their_namespace_and_key(tree_index: Index) -> None:
    rows = tree_index.facts.store.query(
        "SELECT f.path,l.block_line,l.block FROM libraries l JOIN files f ON f.id=l.file"
    )
    found = {(path, line): library_block(block)[:2] for path, line, block in rows}
    for mark in marks("library"):
        namespace, key = (*mark.words, "")[:2]
        assert found.get(mark.spot) == (namespace, key), mark


def test_marked_registrations_name_operator_key_and_kernel(tree_index: Index) -> None:
    uses = library_uses(tree_index.facts)
    found = set()
    for one in written_registrations(uses, named_macros(tree_index.facts, uses)):
        made, place = one.registration, one.use.location
        found.add((place.path, place.line, made.op, made.key, made.kernel))
    expected = {(*mark.spot, *mark.words) for mark in marks("impl")}
    assert expected
    assert expected <= found


def test_marked_uses_choose_among_the_marked_dtypes(tree_index: Index) -> None:
    found = {(d.location.path, d.location.line): set(d.dtypes) for _, d in tree_index.dtype_rows()}
    for mark in marks("dtypes"):
        assert found.get(mark.spot) == set(mark.words[0].split(",")), mark


def test_the_marked_list_holds_all_scalar_types(tree_index: Index) -> None:
    (mark,) = marks("lists")
    assert tree_index.dtypes.scalar_types == set(mark.words[0].split(","))


@pytest.mark.parametrize(
    ("macro", "arguments", "stub"),
    [
        ("DECLARE_DISPATCH", "void(*)(const Tensor&, int), sum_stub", "sum_stub"),
        ("DEFINE_DISPATCH", "sum_stub", "sum_stub"),
        ("REGISTER_ARCH_DISPATCH", "cpublas::sum_stub, DEFAULT, &sum", "cpublas::sum_stub"),
        ("VALUE_AS_DISPATCH", "c10::qint8, QInt8", ""),
        ("AT_DISPATCH_V2", "type, name", ""),
    ],
)
def test_the_stub_of_a_line_is_told_by_its_macro(macro: str, arguments: str, stub: str) -> None:
    assert stub_of(macro, arguments) == stub


def test_the_function_of_a_registration_is_its_last_argument() -> None:
    row = idiom_of("REGISTER_CUDA_DISPATCH")
    assert row is not None
    assert row.argument("function", ["sum_stub", "&sum"]) == "&sum"
    assert row.argument("function", ["sum_stub"]) == ""
    assert row.argument("key", ["sum_stub", "&sum"]) == ""


def test_a_block_without_a_key_has_a_namespace_and_a_library() -> None:
    assert library_block("aten, CPU, m") == ("aten", "CPU", "m")
    assert library_block("quantized, lib") == ("quantized", "", "lib")


@pytest.mark.parametrize("macro", ["AT_DISPATCH_V2", "THO_DISPATCH_V2", "THO_DISPATCH_SWITCH"])
def test_switches_over_dtypes_of_both_families(macro: str) -> None:
    assert meaning_of(macro) == "dtypes"
    assert meaning_of("THO_DISPATCH_CASE") == meaning_of("AT_DISPATCH_CASE") == "cases"
