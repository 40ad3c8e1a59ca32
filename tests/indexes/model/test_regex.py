from __future__ import annotations

import re

import pytest

from indexes.model.regex import ASCII, MULTILINE, VERBOSE, regex


def test_flags_are_those_of_re() -> None:
    assert (ASCII, MULTILINE, VERBOSE) == (re.ASCII, re.MULTILINE, re.VERBOSE)


def test_it_is_a_pattern_from_its_first_use() -> None:
    word = regex(r"(?P<first>[a-z])\w*", re.IGNORECASE)
    found = word.match("Add_ x")
    assert found is not None
    assert (found["first"], found.end()) == ("A", 4)
    assert word.findall("a b") == ["a", "b"]
    assert [m.start() for m in word.finditer("a b")] == [0, 2]
    assert word.sub("-", "a b") == "- -"
    assert (word.groups, word.pattern) == (1, r"(?P<first>[a-z])\w*")
    assert regex(rb"\d").search(b"a1") is not None


def test_a_wrong_one_is_an_error_when_it_is_used() -> None:
    wrong = regex("(")
    with pytest.raises(re.error):
        wrong.match("")
