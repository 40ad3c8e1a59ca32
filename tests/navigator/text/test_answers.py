"""Plain text answers: safe on a terminal, 80 columns, every hop shown once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from indexes.model.answers import Chain, Hop, Unresolved
from indexes.model.vocabulary import (
    Choice,
    Confidence,
    Location,
    NativeFunction,
    OperatorSummary,
    Role,
    SourceInfo,
)
from indexes.queries.impact.answers import Impacts
from indexes.queries.index import Index
from navigator.text.answers import source_lines, wrap
from navigator.text.chains import chain_lines, choice_note
from navigator.text.clean import clean
from navigator.text.impact import callers_lines


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain é 漢", "plain é 漢"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]52;c;AAAA\x07", "\\x1b]52;c;AAAA\\x07"),
        ("a\nb\tc", "a b c"),
        ("\x9b1m", "\\x9b1m"),
        ("a\rb", "a\\x0db"),
        ("\u202etxt.exe", "\\u202etxt.exe"),
        ("\ud800", "\\ud800"),
    ],
)
def test_nothing_reaches_the_terminal_as_a_command(raw: str, shown: str) -> None:
    assert clean(raw) == shown


def test_wrapping_keeps_within_80_columns_but_never_cuts_a_word() -> None:
    path = "x" * 100
    lines = list(wrap(f"{'word ' * 40}{path} end", "    "))
    assert all(len(line) <= 80 or path in line for line in lines)
    assert " ".join(lines).split() == [*["word"] * 40, path, "end"]


def hop(
    number: int, parent: int | None, role: Role, symbol: str, confidence: Confidence = "exact"
) -> Hop:
    where = Location("aten/a.cpp", 10 + number)
    return Hop(number, parent, role, symbol, where, "because \x1b[2J", confidence)


def chain(*hops: Hop) -> Chain:
    where = Location("n.yaml", 1)
    op = OperatorSummary(
        "relu", "relu(Tensor self) -> Tensor", where, ("CPU",), (), None, True, "plain"
    )
    native = NativeFunction("relu", "", op.schema, where, {}, None)
    unresolved = (Unresolved("kernel", "relu_mps", "not in this tree", ("MPS",)),)
    source = SourceInfo("wheel", "/x", "2.7", "b" * 40, True, ("kernels: torchnav clone",))
    return Chain(source, op, native, None, hops, unresolved)


def test_children_stand_indented_under_their_parents() -> None:
    tree = chain(
        hop(0, None, "schema", "relu"),
        hop(1, 0, "kernel", "at::native::relu", "by rule"),
        hop(2, 1, "stub", "relu_stub"),
        hop(3, 0, "derivative", "relu"),
        hop(9, 77, "test", "orphan"),
    )
    lines = list(chain_lines(tree))
    names = [
        line
        for line in lines
        if line.strip().split(" ")[0] in ("schema", "kernel", "stub", "derivative", "test")
    ]
    assert names[:5] == [
        "schema relu",
        "  kernel at::native::relu",
        "    stub relu_stub",
        "  derivative relu",
        "test orphan",
    ]
    assert "      aten/a.cpp:11  (inferred)  because \\x1b[2J" in lines
    assert lines[-3:] == ["not resolved", "  kernel [MPS] relu_mps", "      not in this tree"]
    assert not any("\x1b" in line for line in lines)


def test_what_is_not_listed_is_counted_and_says_where_it_is_shown() -> None:
    call = replace(hop(2, 1, "call", "at::copy_"), continues="torchnav op copy_")
    kernel = replace(hop(1, 0, "kernel", "k"), folded={"checks": 3, "allocates": 1})
    lines = list(chain_lines(chain(hop(0, None, "schema", "relu"), kernel, call)))
    assert "      ... torchnav op copy_" in lines
    assert "    ... 3 checks, 1 allocation" in lines


def test_calls_of_one_thing_stand_together() -> None:
    tree = chain(
        hop(0, None, "kernel", "k"),
        hop(1, 0, "call", "f"),
        hop(2, 0, "call", "g"),
        hop(5, 0, "call", "f"),
    )
    lines = [line.strip() for line in chain_lines(tree)]
    assert "aten/a.cpp:11, 15  because \\x1b[2J" in lines
    assert sum(line == "call f" for line in lines) == 1


def test_a_chain_is_shown_however_deep_it_is() -> None:
    tree = chain(*(hop(n, n - 1 if n else None, "call", f"f{n}") for n in range(15)))
    assert any("f14" in line for line in chain_lines(tree))


def test_a_cycle_of_parents_ends() -> None:
    assert list(chain_lines(chain(hop(0, 1, "call", "a"), hop(1, 0, "call", "b"))))


def test_source_and_what_it_lacks() -> None:
    assert list(source_lines(chain().source)) == [
        "source: PyTorch 2.7 (wheel) at bbbbbbbbbbbb, with uncommitted edits",
        "  not here: kernels",
        "    -> torchnav clone",
    ]


@pytest.mark.parametrize(
    ("choices", "note"),
    [
        ([], ""),
        ([("if (use_mkldnn)", "then", 42)], "if use_mkldnn (:42)"),
        ([("if (!a || b)", "else", 7)], "if !(!a || b) (:7)"),
        ([("true", "otherwise", 9)], "never reached (:9)"),
        (
            [("if (a)", "otherwise", 86), ("switch (k) case K::one", "case", 90)],
            "if !a (:86) and switch (k) case K::one (:90)",
        ),
        (
            [("if (a)", "then", 1), ("if (b())", "else", 2), ("if (c)", "then", 3)],
            "if !b() (:2) and c (:3); inside of 1 more",
        ),
    ],
)
def test_a_condition_is_told_as_code_with_its_line(
    choices: list[tuple[str, str, int]], note: str
) -> None:
    told = [Choice(text, arm, Location("a.cpp", line)) for text, arm, line in choices]
    assert choice_note(told) == note


def test_a_function_of_a_library_has_no_place(tree_index: Index) -> None:
    lines = list(callers_lines(Impacts(tree_index).callers("cudaMemcpyAsync")))
    assert lines[:2] == ["function cudaMemcpyAsync", "    not defined in this tree"]


def test_the_callers_of_a_stub_are_listed_once_below_its_places(tree_index: Index) -> None:
    found = Impacts(tree_index).callers("mul_stub")
    lines = list(callers_lines(found))
    assert lines.count("stub mul_stub") == 1
    assert len([step for step in found.steps if step.parent is None]) > 1
    assert sum("BinaryOps.cpp" in line for line in lines) == 1
    assert not {*found.source.missing} & {line.strip() for line in lines}
