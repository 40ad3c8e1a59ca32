"""Lines of files as people name them."""

from __future__ import annotations

import pytest

from indexes.model.lines import length_in_common, listed, placed


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a/b.cpp:12", ("a/b.cpp", 12)),
        ("a/b.cpp:12:7", ("a/b.cpp", 12)),
        ("a/b.cpp:12:", ("a/b.cpp", 12)),
        ("C:\\a\\b.cpp:12", ("C:\\a\\b.cpp", 12)),
        ("CODEOWNERS:3", ("CODEOWNERS", 3)),
        ("at::add:3", None),
        ("a/b.cpp", None),
        ("a/b.cpp:", None),
        (":3", None),
        ("a/b.cpp:" + "9" * 19, None),
        ("a/b.cpp:" + "9" * 5000, None),
    ],
)
def test_a_place(text: str, place: tuple[str, int] | None) -> None:
    assert placed(text) == place


def test_a_list_of_names_is_cut_and_the_others_are_counted() -> None:
    assert listed(["a", "b"], 2) == "a, b"
    assert listed((name for name in "abcde"), 2) == "a, b and 3 more"
    assert listed(["a", "b"], 1, " ") == "a and 1 more"


def test_how_much_two_texts_or_lists_begin_alike() -> None:
    assert length_in_common("freeze", "freezing") == 5
    assert length_in_common(["add", "out"], ["add", "in"]) == 1
    assert length_in_common("", "a") == 0
