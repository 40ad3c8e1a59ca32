"""A trace as rows: a tree that can be folded, matching rows, or groups."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from navigator.trace.table import GONE
from navigator.trace.trace import Trace


class TraceRows:
    """Which rows of the table are shown, in order, and how deep each stands.

    A million rows are a few megabytes here: only ids and depths are kept.
    """

    def __init__(self, trace: Trace, opened: Iterable[int] | None = None) -> None:
        self._trace = trace
        self._open = set(opened or ())
        self.ids: Sequence[int] = array("i")
        self.depths: Sequence[int] = array("h")
        self._flat: Sequence[int] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def is_flat(self) -> bool:
        return self._flat is not None

    def show_tree(self) -> None:
        """All rows, what is folded left out."""
        self._flat = None
        self.refresh()

    def show_flat(self, rows: Iterable[int]) -> None:
        """Just these rows."""
        self._flat = array("i", rows)
        self.refresh()

    def refresh(self) -> None:
        """The trace has grown, or something was opened or folded."""
        if self._flat is not None:
            self.ids, self.depths = self._flat, bytes(len(self._flat))
            return
        ids, depths = array("i"), array("h")
        table, open_ = self._trace.table, self._open
        for root in self._trace.roots():
            ids.append(root)
            depths.append(0)
            if root in open_:
                self._below(root, 1, ids, depths)
        self.ids, self.depths = ids, depths
        assert len(ids) <= len(table)

    def _below(self, row: int, depth: int, ids: array[int], depths: array[int]) -> None:
        waiting = [(child, depth) for child in self._trace.children(row)][::-1]
        while waiting:
            child, level = waiting.pop()
            ids.append(child)
            depths.append(min(level, 1000))
            if child in self._open:
                below = [(one, level + 1) for one in self._trace.children(child)]
                waiting += below[::-1]

    # ------------------------------------------------------------------------ folding

    @property
    def opened(self) -> frozenset[int]:
        """The rows that are not folded."""
        return frozenset(self._open)

    def has_children(self, row: int) -> bool:
        return self._trace.table.first_child[row] >= 0

    def is_open(self, row: int) -> bool:
        return row in self._open

    def toggle(self, row: int) -> None:
        self._open ^= {row}
        self.refresh()

    def open_all(self, row: int) -> None:
        """Open everything below a row, or fold it all when it is open."""
        below = {row, *self._trace.table.descendants(row)}
        below = {one for one in below if self.has_children(one)}
        if below <= self._open:
            self._open -= below
        else:
            self._open |= below
        self.refresh()

    def reveal(self, row: int) -> None:
        """Open what a row stands under."""
        parent = self._trace.table.parent[row]
        while parent >= 0:
            self._open.add(parent)
            parent = self._trace.table.parent[parent]
        self.refresh()

    def at(self, row: int) -> int | None:
        """Where a row is shown; None when it is not."""
        if self._trace.table.kind[row] == GONE:
            return None
        try:
            return self.ids.index(row)
        except ValueError:
            return None
