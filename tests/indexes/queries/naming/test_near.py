"""Names that a text may be a slip of the keyboard for."""

from __future__ import annotations

import pytest

from indexes.queries.naming.near import near


class TestNear:
    names = ("softmax", "log_softmax", "addmm", "addmv", "relu", "relu_", "convolution")

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("sofmax", "softmax"),
            ("addm", "addmm"),
            ("Relu", "relu"),
            ("convolutoin", "convolution"),
        ],
    )
    def test_slips(self, text: str, name: str) -> None:
        assert name in near(text, self.names)[:2]

    def test_part_of_a_longer_name(self) -> None:
        assert near("g_s", self.names) == ("log_softmax",)

    def test_nothing_like_it(self) -> None:
        assert near("xyzzy", self.names) == ()

    def test_limit(self) -> None:
        assert len(near("relu", self.names, limit=1)) == 1
