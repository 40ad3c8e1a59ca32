"""Notes and the comments that refer to them."""

from __future__ import annotations

from functools import partial

import pytest

from indexes.readers.notes import read_notes
from tests.growth import least_seconds, takes_less

_HEADED = """\
// Note [Order of keys]
// ~~~~~~~~~~~~~~~~~~~~
// Keys have an order.
//
// It is that of bits.

void f(); // [order]
"""
_TWO = """\
/**
 * Note [One]
 * Note [Other]
 * They share this.
 */
int x;
"""
_DOCSTRING = '''\
def f():
    """
    NOTE: [ Of   f ]

    What it does.
    """
    return "See Note [Of f]"
'''


def test_a_note_goes_to_the_last_line_with_words_of_its_comment() -> None:
    assert read_notes(_HEADED) == [("note", "Order of keys", 1, "5")]


def test_titles_above_each_other_head_the_same_comment() -> None:
    assert [(one.name, one.line, one.detail) for one in read_notes(_TWO)] == [
        ("One", 2, "4"),
        ("Other", 3, "4"),
    ]


def test_a_docstring_holds_a_note_and_a_literal_refers_to_it() -> None:
    assert read_notes(_DOCSTRING) == [("note", "Of f", 3, "5"), ("mention", "Of f", 7, "")]


def test_words_behind_the_title_are_its_text_and_the_next_note_ends_it() -> None:
    text = "# NOTE [Aa]. Because.\n# More.\n# Note [Bb]\n# Said.\n"
    assert [(one.name, one.detail) for one in read_notes(text)] == [("Aa", "2"), ("Bb", "4")]


@pytest.mark.parametrize(
    "text",
    [
        "// See Note [Ab c]\n// and more\n",
        "// for details see\n// Note [Ab c]\n// it says how\n",
        "x = 1  # this is Note [Ab c]\n",
        "// See Note [Ab\n// c]\n",
    ],
)
def test_what_refers_to_a_note_heads_none(text: str) -> None:
    assert [(one.kind, one.name) for one in read_notes(text)] == [("mention", "Ab c")]


def test_of_two_titles_on_a_line_the_second_refers() -> None:
    found = read_notes("# Note [Aa] says it, as See Note [Bb]\n")
    assert [(one.kind, one.name) for one in found] == [("note", "Aa"), ("mention", "Bb")]


@pytest.mark.parametrize(
    "text", ["// Note [Aa]\n", "x Note [Aa] ", "// Note [Aa]\n// It.\n", "[Note: Aa] "]
)
def test_many_titles_take_no_square_of_them(text: str) -> None:
    texts = [text * 4000, text * 32_000]
    assert [len(read_notes(one)) for one in texts] == [4000, 32_000]
    few, many = (partial(read_notes, one) for one in texts)
    assert takes_less(many, 24 * least_seconds(few))


@pytest.mark.parametrize("head", ["[Note: Ab c]", "[NOTE] [Ab c]", "note(somebody): [Ab c]"])
def test_the_word_may_be_in_brackets_or_name_its_author(head: str) -> None:
    assert read_notes(f"x;\n  // {head}\n  // It.\n") == [("note", "Ab c", 2, "3")]
    assert read_notes(f"// as in {head}\n") == [("mention", "Ab c", 1, "")]


def test_a_title_alone_has_no_text() -> None:
    assert read_notes("# NOTE [Core]\n- tag: core\n") == [("note", "Core", 1, "")]


@pytest.mark.parametrize(
    "text", ["denote[x]", "notes [x]", "[Note]", "note: []", "Note [a", "f(x): [a b]"]
)
def test_other_brackets_are_none(text: str) -> None:
    assert read_notes(text) == []
