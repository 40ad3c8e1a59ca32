"""Lines of files as people name them."""

from __future__ import annotations

import pytest

from indexes.model.lines import placed


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
