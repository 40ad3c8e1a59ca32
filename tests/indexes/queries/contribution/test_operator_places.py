"""Which operators are parts of another."""

from __future__ import annotations

import pytest

from indexes.queries.contribution.operator_places import is_part


@pytest.mark.parametrize(
    ("called", "name", "expected"),
    [
        ("_cumsum_helper", "cumsum", True),
        ("tanh_backward", "tanh", True),
        ("embedding_dense_backward", "embedding_backward", True),
        ("max_pool2d_with_indices_backward.grad_input", "max_pool2d_backward", True),
        ("embedding_dense", "embedding_backward", False),
        ("norm_backward", "embedding_backward", False),
        ("embedding_backward", "embedding_dense_backward", False),
    ],
)
def test_a_part_has_the_name_of_the_whole(called: str, name: str, expected: bool) -> None:
    assert is_part(called, name) is expected
