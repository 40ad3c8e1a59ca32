"""Spans, headings and tables of Markdown."""

from __future__ import annotations

from indexes.model.vocabulary import Location, SourceInfo
from navigator.text.markdown import code, heading, place, table, words


def test_nothing_of_the_tree_becomes_markup() -> None:
    assert code("a`b\n| c") == "`a'b | c`"
    assert words("<script> *x* [y](z)\x1b[2J") == (
        r"\<script\> \*x\* \[y\](z)\\x1b\[2J"  # the escape itself is shown, not sent
    )


def test_a_place_is_linked_where_its_commit_is_published() -> None:
    plain = SourceInfo("checkout", "/tree", "2.7.0", None, dirty=False)
    assert place(plain, Location("aten/a.cpp", 3)) == "`aten/a.cpp:3`"


def test_a_table_has_a_line_for_its_head_and_for_each_row() -> None:
    rows = [("`add`", "2"), ("`mul`", "3")]
    assert list(table(("operator", "calls"), rows)) == [
        "| operator | calls |",
        "|---|---|",
        "| `add` | 2 |",
        "| `mul` | 3 |",
    ]
    assert heading(2, "Tests") == ("", "## Tests", "")
