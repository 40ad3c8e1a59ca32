"""Text for a terminal: nothing that steers it, nothing wider than its place."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from indexes.model.vocabulary import Location
from navigator.tui.text import (
    clean,
    one_line,
    place,
    short_symbol,
    shorten,
    shorten_path,
    shorten_start,
    source_lines,
)
from navigator.tui.widgets.line_list import cut, fill

PATH = "aten/src/ATen/native/cuda/SoftMax.cu:1274"


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (60, PATH),
        (41, PATH),
        (40, "aten/…/ATen/native/cuda/SoftMax.cu:1274"),
        (34, "aten/…/native/cuda/SoftMax.cu:1274"),
        (27, "aten/…/cuda/SoftMax.cu:1274"),
        (22, "aten/…/SoftMax.cu:1274"),
        (17, "…/SoftMax.cu:1274"),
        (15, "SoftMax.cu:1274"),
        (10, "…x.cu:1274"),
        (1, "…"),
        (0, ""),
    ],
)
def test_a_path_loses_folders_before_its_name_and_its_name_before_its_line(
    width: int, expected: str
) -> None:
    assert shorten_path(PATH, width) == expected


def test_every_width_is_kept() -> None:
    for width in range(60):
        assert len(shorten_path(PATH, width)) <= width
        assert len(shorten("aten::softmax", width)) <= width


def test_escape_sequences_and_direction_marks_become_visible() -> None:
    text = clean("a\x1b]52;c;cm0=\x07b\u202ec\x9bd\u200b\u2028e")
    assert "\x1b" not in text
    assert "\x9b" not in text
    assert "\u202e" not in text
    assert "\u2028" not in text
    assert [letter for letter in text if letter in "abcde"][:2] == ["a", "c"]
    assert len(text) == len("a\x1b]52;c;cm0=\x07b\u202ec\x9bd\u200b\u2028e")


def test_ordinary_text_is_left_alone() -> None:
    assert clean("Tensor ∂ über 張量") == "Tensor ∂ über 張量"


def test_lines_end_at_a_newline_and_nowhere_else() -> None:
    assert source_lines("a\r\nb\x0cc\u2028d\n\tx\n") == ["a", "b␌c�d", "    x"]
    assert source_lines("") == [""]
    assert source_lines("no newline at the end") == ["no newline at the end"]


def test_many_lines_become_one() -> None:
    assert one_line("error:\n  at\tline 3\n") == "error: at line 3"


@pytest.mark.parametrize(
    ("symbol", "short"),
    [
        ("at::native::(anonymous)::add_kernel", "add_kernel"),
        ("at::native::Foo::~Foo", "~Foo"),
        ("REGISTER_DISPATCH(add_stub, &at::native::add_kernel)",) * 2,
        ("self: grad * at::ones(other)",) * 2,
        ("relu", "relu"),
    ],
)
def test_a_symbol_without_its_namespaces(symbol: str, short: str) -> None:
    assert short_symbol(symbol) == short


def test_a_place_without_a_line_is_the_file() -> None:
    assert place(Location("c10/core/TensorImpl.h", 0)) == "c10/core/TensorImpl.h"
    assert place(None) == ""


@pytest.mark.parametrize("text", ["日本語の関数名_kernel", "e\u0301" * 20, "abc日本", "plain_name"])
@pytest.mark.parametrize("width", range(13))
def test_wide_characters_and_marks_stay_in_their_cells(text: str, width: int) -> None:
    for short in (shorten, shorten_start, shorten_path):
        found = short(text, width)
        assert cell_len(found) <= width
        assert found == text or "…" in found or not width
    assert sum(cell_len(part) for part, _ in cut([(text, "")], width)) <= width
    assert sum(cell_len(part) for part, _ in fill([(text, "")], [("right", "")], width + 5)) == (
        width + 5
    )
