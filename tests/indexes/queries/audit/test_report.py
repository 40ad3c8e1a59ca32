"""The audit keeps its promises on the small tree, and notices answers that are wrong."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.model.errors import SourceError
from indexes.model.vocabulary import KernelRow, Location
from indexes.queries.audit.acceptance import score_all
from indexes.queries.audit.checks import (
    SourceLines,
    misplaced_formulas,
    misplaced_kernels,
    misplaced_registrations,
)
from indexes.queries.audit.measure import Measure
from indexes.queries.audit.report import measures, pairs
from indexes.queries.index import Index


def moved(place: Location, lines: int) -> Location:
    return Location(place.path, place.line + lines, place.end_line + lines)


@pytest.fixture(scope="module")
def done(tree_index: Index) -> dict[str, Measure]:
    return {measure.name: measure for measure in measures(tree_index)}


def test_every_promise_is_kept_on_the_small_tree(done: dict[str, Measure]) -> None:
    assert len(done) == 10
    assert {name: m.short for name, m in done.items() if m.met is not True} == {}
    assert all(measure.total for measure in done.values())


def test_kernels_behind_stubs_are_followed(done: dict[str, Measure]) -> None:
    reach = done["operators whose kernel calls a stub: stub and device kernels"]
    assert reach.counts["linked"] > 30


@pytest.mark.parametrize("lines", [-1, 1, 3])
def test_a_line_that_is_off_is_noticed(tree_index: Index, lines: int) -> None:
    rows = [row for row in tree_index.kernel_rows() if row.definitions]
    wrong = 0
    for row in rows:
        shifted = tuple(d._replace(location=moved(d.location, lines)) for d in row.definitions)
        total, found = misplaced_kernels(
            [row._replace(definitions=shifted)], SourceLines(tree_index)
        )
        assert total == len(shifted)
        wrong += bool(found)
    # A neighbouring line may well be another use of the same macro.
    assert wrong > 0.7 * len(rows)


def test_a_declaration_is_no_definition(tree_index: Index) -> None:
    rows = (row for row in tree_index.kernel_rows() if row.kind == "plain" and row.definitions)
    row: KernelRow = next(rows)
    header = "torch/csrc/autograd/FunctionsManual.h"
    text = enumerate(tree_index.read(header).split("\n"), 1)
    number, name = next((n, x[1]) for n, line in text if (x := re.match(r".*?(\w+)\(.*\);$", line)))
    declared = row.definitions[0]._replace(
        name=name, macro="", macro_location=None, location=Location(header, number)
    )
    _, wrong = misplaced_kernels([row._replace(definitions=(declared,))], SourceLines(tree_index))
    assert len(wrong) == 1


def test_a_registration_that_is_off_is_noticed(tree_index: Index) -> None:
    row = next(r for r in tree_index.stub_rows() if r.definition and not r.definition.macro)
    assert row.definition
    lines = SourceLines(tree_index)
    assert list(misplaced_registrations([row], lines)) == []
    off = replace(
        row, definition=row.definition._replace(location=moved(row.definition.location, 2))
    )
    assert len(list(misplaced_registrations([off], lines))) == 1


def test_an_entry_that_is_missing_is_noticed(tree_index: Index) -> None:
    entries = list(tree_index.derivative_rows())
    total, wrong = misplaced_formulas(entries, tree_index)
    assert total > len(entries) > 20
    assert wrong == []
    _, wrong = misplaced_formulas(entries[1:], tree_index)
    assert len(wrong) == 1
    assert entries[0].op in wrong[0]


def test_a_kernel_that_no_file_names_is_elsewhere(tree_index: Index) -> None:
    row = next(r for r in tree_index.kernel_rows() if r.kind == "plain" and r.definitions)
    lost = row._replace(definitions=(), kind="missing")  # the tree has it
    away = lost._replace(symbol="at::native::kernel_of_another_repository")
    measure = pairs(tree_index, [lost, away])
    assert (measure.counts["missing"], measure.counts["elsewhere"]) == (1, 1)
    assert len(measure.short) == 1


def test_tables_of_right_answers(tree_index: Index, tmp_path: Path) -> None:
    row = next(r for r in tree_index.kernel_rows() if len(r.definitions) == 1)
    place = str(row.definitions[0].location)
    head = "op_overload\tdispatch_key\tsymbol\tkind\tdefinitions\n"
    lines = [
        f"{row.op}\t{row.key}\t{row.symbol}\t{row.kind}\t{d}\n" for d in (place, "a.cpp:1", "")
    ]
    gone = f"no_such\tCPU\tx\tplain\t{place}\n"
    (tmp_path / "kernels.tsv").write_text(head + "".join(lines) + gone)
    decoys = "symbol\tdefinition\tnamespace\treason\n"
    (tmp_path / "decoys.tsv").write_text(f"{decoys}{row.symbol}\t{place}\tx\ty\n")
    kernels, decoy = score_all(tree_index, tmp_path)
    assert (kernels.right, len(kernels.wrong), len(kernels.open)) == (1, 2, 1)
    assert (decoy.right, len(decoy.wrong)) == (0, 1)
    assert (kernels.met, decoy.met) == (False, False)


def test_a_folder_without_tables_is_an_error(tree_index: Index, tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        list(score_all(tree_index, tmp_path))
