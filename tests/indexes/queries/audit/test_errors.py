"""What tests expect errors to say, as texts."""

from __future__ import annotations

import pytest

from indexes.queries.audit.errors import error_measure, expected_errors, filled
from indexes.queries.index import Index
from indexes.readers.messages import HOLE


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (r"mat1 .* multiplied \(\d+x3", f"mat1 {HOLE} multiplied (7x3"),
        ("Expected (a|b) to", "Expected a to"),
        (r"only (?:one|two) \[nan\]", "only one [nan]"),
        ("a first|b", "a first"),
        (r"range of \[-?\d+, 1\]\.", "range of [-7, 1]."),
        ("^[Cc]annot do$", "Cannot do"),
        (r"size {2}a+?b", "size ab"),
        (r"(?s)one size.", "one size"),
    ],
)
def test_a_text_that_an_expression_matches(expression: str, text: str) -> None:
    assert filled(expression) == text


def test_the_texts_of_a_tree_lead_to_lines(tree_index: Index) -> None:
    expected = {one.text: one for one in expected_errors(tree_index)}
    assert set(expected) == {
        "self must be a matrix",
        f"has to be between {HOLE} and 1",
        "the tests say this",
        "no such message anywhere",
    }
    assert expected["the tests say this"].is_own
    measure = error_measure(tree_index)
    assert measure.counts == {
        "one line": 2,
        "several": 0,
        "raised by the test itself": 1,
        "not found": 1,
    }
    assert measure.met is False
