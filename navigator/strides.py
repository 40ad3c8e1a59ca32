"""Memory formats from sizes and strides, without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

ORDERS: Mapping[int, Mapping[str, tuple[int, ...]]] = {
    4: {"channels_last": (0, 2, 3, 1)},
    5: {"channels_last_3d": (0, 2, 3, 4, 1)},
}
"""Memory formats by number of dimensions, besides the contiguous one: dimensions from outermost to
innermost in memory."""


def orders(dimensions: int) -> dict[str, tuple[int, ...]]:
    """The memory formats for a number of dimensions."""
    return {"contiguous_format": tuple(range(dimensions)), **ORDERS.get(dimensions, {})}


def mismatch(sizes: Sequence[int], strides: Sequence[int], order: Sequence[int]) -> str:
    """The innermost dimension whose stride does not fit a format; empty if all do."""
    if 0 in sizes:
        return ""
    expected = 1
    for dim in reversed(order):
        if sizes[dim] != 1 and strides[dim] != expected:
            return f"dimension {dim} of size {sizes[dim]} has stride {strides[dim]}, not {expected}"
        expected *= sizes[dim]
    return ""
