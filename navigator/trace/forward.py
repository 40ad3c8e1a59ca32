"""Which operator a Node computes the gradient of."""

from __future__ import annotations

from navigator.trace.table import NONE, Table

_LIMIT = 1_000_000


class ForwardLinks:
    """Remembers the last started operator of every sequence number, by thread.

    Sequence numbers count Nodes per thread, and every operator shows the number that the
    next Node will get: the last operator to show it is the one that made the Node.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._last: dict[int, int] = {}
        self._others: dict[int, dict[int, int]] = {}
        """Sequence numbers that several threads used: thread -> row."""
        self._threads: dict[int, int] = {}
        """The profiler's number of a forward thread -> ours, once a link has shown it."""

    def started(self, row: int) -> None:
        """An operator with a sequence number started. Call in order of time."""
        sequence, thread = self._table.sequence[row], self._table.thread[row]
        before = self._last.get(sequence, NONE)
        if before >= 0 and self._table.thread[before] != thread:
            others = self._others.setdefault(sequence, {self._table.thread[before]: before})
            others[thread] = row
        elif sequence in self._others:
            self._others[sequence][thread] = row
        self._last[sequence] = row
        if len(self._last) > _LIMIT:
            self._forget()

    def of_node(self, node: int, forward_thread: int) -> int:
        """The row of the forward operator, NONE when it is unknown or not certain."""
        sequence = self._table.sequence[node]
        others = self._others.get(sequence)
        if others is not None:
            known = self._threads.get(forward_thread, NONE)
            return others.get(known, NONE)
        row = self._last.get(sequence, NONE)
        if row >= 0 and forward_thread:
            self._threads.setdefault(forward_thread, self._table.thread[row])
        return row

    def _forget(self) -> None:
        """Graphs of long ago are gone; numbers only grow."""
        for sequence in sorted(self._last)[: _LIMIT // 2]:
            del self._last[sequence]
            self._others.pop(sequence, None)
