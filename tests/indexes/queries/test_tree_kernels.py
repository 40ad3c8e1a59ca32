"""Each kernel of the small tree against the marks in its text and against torchgen."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from indexes.model.vocabulary import KernelRow
from indexes.queries.index import Index
from tests.tree_marks import NATIVE, TREE, YAML, Spot, expected_kernels, marks

GENERATED = {
    # view_copy kernels that torchgen writes, and one whose symbol exists only there
    ("view_copy", "CompositeExplicitAutogradNonFunctional"),
    ("view_as_real_copy", "CompositeExplicitAutogradNonFunctional"),
    ("detach_copy", "CompositeExplicitAutogradNonFunctional"),
    ("_nested_get_values_copy", "CompositeExplicitAutogradNonFunctional"),
    ("narrow_copy", "CompositeExplicitAutogradNonFunctional"),
}
"""Rows of entries in the YAML for which torchgen writes the kernel."""


@cache
def torchgen_parse() -> Any:
    from torchgen.gen import parse_native_yaml

    return parse_native_yaml(str(TREE / YAML), str(TREE / NATIVE / "tags.yaml"))


@cache
def torchgen_rows() -> dict[tuple[str, str], str]:
    """What torchgen registers: (operator, key) -> symbol."""
    parsed = torchgen_parse()
    by_name = {str(f.func.name): f for f in parsed.native_functions}
    rows: dict[tuple[str, str], str] = {}
    for name, function in by_name.items():
        delegate = by_name.get(str(function.structured_delegate))
        for key, index in parsed.backend_indices.items():
            own = index.get_kernel(function)
            lent = delegate and index.get_kernel(delegate)
            if lent and lent.structured:
                rows[name, key.name] = lent.kernel
            if own:
                rows[name, key.name] = own.kernel
    return rows | _torchgen_metas()


def _torchgen_metas() -> dict[tuple[str, str], str]:
    from torchgen.api import meta
    from torchgen.gen import get_grouped_native_functions
    from torchgen.model import NativeFunctionsGroup

    groups = get_grouped_native_functions(torchgen_parse().native_functions)
    return {
        (str(function.func.name), "Meta"): f"structured_{meta.name(group)}::meta"
        for group in groups
        if isinstance(group, NativeFunctionsGroup) and group.structured
        for function in group.functions()
        if function.structured or function.structured_delegate
    }


@pytest.fixture(scope="session")
def rows(tree_index: Index) -> dict[tuple[str, str], KernelRow]:
    listed = list(tree_index.kernel_rows())
    found = {(row.op, row.key): row for row in listed}
    assert len(found) == len(listed), "a row is there twice"
    return found


def spots(row: KernelRow) -> frozenset[Spot]:
    return frozenset((d.location.path, d.location.line) for d in row.definitions)


Rows = dict[tuple[str, str], KernelRow]


def test_the_tree_is_valid_for_torchgen() -> None:
    from torchgen.gen import get_grouped_by_view_native_functions

    functions = torchgen_parse().native_functions
    assert len(functions) > 150
    assert get_grouped_by_view_native_functions(functions)


def test_schemas_are_where_torchgen_finds_them(tree_index: Index) -> None:
    functions = torchgen_parse().native_functions
    found = {op.full_name: op.location for op in tree_index.all_natives()}
    written = {str(f.func.name): f.loc.line for f in functions if "generated" not in f.tags}
    generated = {str(f.func.name) for f in functions if "generated" in f.tags}
    assert set(found) == set(written) | generated
    assert {name: found[name].line for name in written} == written
    assert {place.path for place in found.values()} == {YAML}
    for name in generated:
        field, _, names = _line(YAML, found[name].line).partition(":")
        assert field.strip() == "autogen"
        assert name in names.replace(",", " ").split()


def test_the_rows_are_those_that_torchgen_registers(rows: Rows) -> None:
    assert {key: row.symbol for key, row in rows.items()} == torchgen_rows()


@pytest.mark.parametrize("path", sorted({mark.path for mark in marks("kernel", "meta")}))
def test_each_marked_line_is_the_answer(path: str, rows: Rows) -> None:
    wrong = {
        key: sorted(spots(rows[key]) ^ expected.spots)
        for key, expected in expected_kernels().items()
        if any(p == path for p, _ in expected.spots) and spots(rows[key]) != expected.spots
    }
    assert wrong == {}


def test_each_answer_has_its_mark(rows: Rows) -> None:
    found = {key for key, row in rows.items() if row.definitions}
    assert found == set(expected_kernels())


def test_what_has_no_source_line_is_generated_and_says_by_what(rows: Rows) -> None:
    functions = torchgen_parse().native_functions
    generated = {str(f.func.name) for f in functions if "generated" in f.tags}
    autogen = {key for key in rows if key[0] in generated}
    bare = {key: row for key, row in rows.items() if not row.definitions}
    assert set(bare) == autogen | GENERATED
    assert {row.kind for row in bare.values()} == {"generated"}
    assert all("torchgen" in row.rule + row.reason for row in bare.values())


def test_no_namesake_is_an_answer(rows: Rows) -> None:
    answers = {spot: row.op for row in rows.values() for spot in spots(row)}
    namesakes = {mark.spot: mark.words[0] for mark in marks("not-kernel")}
    assert len(namesakes) > 25
    assert {spot: answers[spot] for spot in namesakes if spot in answers} == {}


def test_kinds_say_how_the_kernel_is_made(rows: Rows) -> None:
    wrong = {
        key: row.kind
        for key, row in rows.items()
        if row.definitions and row.kind != _kind(key, row.symbol)
    }
    assert wrong == {}


def _kind(key: tuple[str, str], symbol: str) -> str:
    if symbol.startswith("ufunc_"):
        return "ufunc"
    if expected_kernels()[key].macro:
        return "macro"
    if key[1].startswith("Composite"):
        return "composite"
    return "structured" if _is_structured(key) else "plain"


def _is_structured(key: tuple[str, str]) -> bool:
    if torchgen_rows()[key].endswith("::meta"):
        return True
    parsed = torchgen_parse()
    by_name = {str(f.func.name): f for f in parsed.native_functions}
    function = by_name[key[0]]
    out = by_name.get(str(function.structured_delegate), function)
    index = {k.name: index for k, index in parsed.backend_indices.items()}[key[1]]
    own = index.get_kernel(function)
    lent = index.get_kernel(out)
    return bool((own and own.structured) or (lent and lent.structured and not own))


def test_the_macro_and_the_line_that_defines_it_are_named(rows: Rows) -> None:
    for key, expected in expected_kernels().items():
        if not expected.macro:
            continue
        for definition in rows[key].definitions:
            assert definition.macro == expected.macro, key
            place = definition.macro_location
            assert place is not None, key
            assert f"#define {expected.macro}" in _line(place.path, place.line)


def _line(path: str, number: int) -> str:
    return (TREE / path).read_text("latin-1").split("\n")[number - 1]


def test_several_definitions_stand_under_different_conditions(rows: Rows) -> None:
    several = {
        key: [d.guard for d in row.definitions]
        for key, row in rows.items()
        if len(row.definitions) > 1 and row.kind != "ufunc"
    }
    assert len(several) > 15
    same = {key: guards for key, guards in several.items() if len(set(guards)) != len(guards)}
    assert same == {}


def test_no_answer_is_ambiguous(rows: Rows) -> None:
    assert {key: row.rule for key, row in rows.items() if row.confidence == "ambiguous"} == {}


@pytest.mark.parametrize("op", ["_nested_get_values", "_nested_get_offsets"])
def test_an_empty_dispatch_has_no_kernel_and_none_is_invented(op: str, tree_index: Index) -> None:
    assert [row for row in tree_index.kernel_rows() if row.op == op] == []
    summary = tree_index.summary(op)
    assert summary is not None
    assert (summary.kind, summary.keys) == ("no kernel", ())
    chain = tree_index.chain(op)
    assert [hop for hop in chain.hops if hop.role == "kernel"] == []


def test_every_definition_is_where_its_name_is(rows: Rows) -> None:
    for row in rows.values():
        for definition in row.definitions:
            text = _line(definition.location.path, definition.location.line)
            assert (definition.macro or definition.name.split("::")[0]) in text, row


def test_a_file_of_noise_costs_no_answer(tree_index: Index, tree: Path) -> None:
    noise = NATIVE + "RandomBytes.cpp"
    assert (tree / noise).exists()
    assert tree_index.at(NATIVE + "NoFinalNewline.cpp", 4)[0].name.endswith("last_helper")
