"""The caching allocator of one CUDA device, from the history in a memory snapshot.

A snapshot says what there is at its end, and what happened before, as far as that was kept: what
there was at any moment is found from the end backwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from navigator.trace.table import Table

_SEGMENTS = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
"""What the allocator takes from the device (1) and gives back."""

Change = tuple[int, int, int]
"""(position of the entry, address, bytes; negative for memory that is given back)"""


class Allocator:
    """One device of a snapshot."""

    def __init__(self, device: int, snapshot: dict[str, Any]) -> None:
        self._place = f"cuda:{device}"
        segments = snapshot.get("segments")
        mine = [
            one
            for one in (segments if isinstance(segments, list) else [])
            if isinstance(one, dict) and one.get("device", 0) == device
        ]
        self._allocated = sum(number(one.get("allocated_size")) for one in mine)
        """At the end, in bytes, as what it has reserved."""
        self._reserved = sum(number(one.get("total_size")) for one in mine)

    def tell(self, table: Table, rows: Sequence[int], entries: Sequence[dict[str, Any]]) -> None:
        """Allocations for the rows of its entries: blocks, and segments as a place of their own."""
        segments = list(_segments(entries))
        reserved = _before(self._reserved, segments)
        held = _before(self._allocated, blocks := list(_blocks(entries)))
        for position, address, change in sorted([*segments, *blocks]):
            row, name = rows[position], str(entries[position].get("action"))
            start, is_segment = table.start[row], name in _SEGMENTS
            reserved += change if is_segment else 0
            held += 0 if is_segment else change
            place = f"{self._place} reserved" if is_segment else self._place
            total = reserved if is_segment else held
            one = table.allocations.append(start, change, place, address, total, reserved)
            table.allocations.assign(one, row)
            if change > 0 and not is_segment:
                table.allocated[row] = change


def number(value: Any) -> int:
    """A size or an address; 0 for what is none."""
    return value if isinstance(value, int) and 0 <= value < 2**63 else 0


def word(value: Any) -> str:
    """A text or a number; lists that hold each other twice would be written out without end."""
    return str(value) if isinstance(value, (str, int, float)) else "?"


def _before(after: int, changes: Iterable[Change]) -> int:
    """What there was before them. A snapshot without segments says nothing of it."""
    return max(after - sum(change for *_, change in changes), 0)


def _segments(entries: Sequence[dict[str, Any]]) -> Iterator[Change]:
    for position, entry in enumerate(entries):
        sign = _SEGMENTS.get(word(entry.get("action")))
        if sign:
            yield position, number(entry.get("addr")), sign * number(entry.get("size"))


def _blocks(entries: Sequence[dict[str, Any]]) -> Iterator[Change]:
    """A block is free when that is asked for; that it is done may come later."""
    asked: set[int] = set()
    for position, entry in enumerate(entries):
        action, address = entry.get("action"), number(entry.get("addr"))
        if action == "alloc":
            asked.discard(address)
            yield position, address, number(entry.get("size"))
        elif action == "free_requested":
            asked.add(address)
            yield position, address, -number(entry.get("size"))
        elif action == "free_completed" and address not in asked:
            yield position, address, -number(entry.get("size"))
