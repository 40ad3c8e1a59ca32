"""Finds the forward operator that made each autograd Node.

Sequence numbers count Nodes per thread. Every operator records the number of the next Node, so the
last operator with a number made the Node that has it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from navigator.trace.columns import NONE
from navigator.trace.table import NODE, Table

_REMEMBERED = 1_000_000
"""Number of sequence numbers to remember; older graphs are gone."""
_THREADS = 20
"""Bits of a key that hold the thread."""
_ACCUMULATE = "torch::autograd::AccumulateGrad"

BY_NUMBER = "the last operator that started with the Node's sequence number"
BY_ORDER = (
    "of the Node before it: the engine runs AccumulateGrad at once behind the Node that gives it "
    "its gradient"
)
NO_NODE = "the trace does not say which Node ran it"
_UNKNOWN = "no recorded operator has the sequence number of its Node"
_SEVERAL = "several threads used the sequence number of its Node, and which one is not known"
_UNNUMBERED = "its Node has no sequence number"
_FIRST = "AccumulateGrad of a tensor that the backward pass began with, or of an unknown Node"


class ForwardLinks:
    """Remembers the last operator that started with each sequence number, by thread."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._last: dict[int, int] = {}
        """Sequence number and thread, packed into one number -> row."""
        self._showing: set[int] = set()
        """Threads with sequence numbers."""
        self._threads: dict[int, int] = {}
        """The profiler's number of a forward thread -> thread, once known."""
        self._before: dict[tuple[int, int], int] = {}
        """Thread and parent -> the last Node there, except AccumulateGrad."""
        self._arrows: dict[tuple[str, int | str], list[tuple[int, float]]] = {}
        """End of an arrow -> (thread, moment), in the open window."""

    # ---------------------------------------------------------------------- forward

    def started(self, row: int) -> None:
        """Add an operator with a sequence number. Call in order of time."""
        sequence, thread = self._table.sequence[row], self._table.thread[row]
        self._showing.add(thread)
        self._last[_key(sequence, thread)] = row
        if len(self._last) > _REMEMBERED:  # numbers never decrease
            for old in sorted(self._last)[: _REMEMBERED // 2]:
                del self._last[old]

    def add_arrow(
        self, end: Literal["s", "f"], number: int | str, thread: int, moment: float
    ) -> None:
        """Add the start or the end of one of the profiler's arrows from an operator to its Node."""
        self._arrows.setdefault((end, number), []).append((thread, moment))

    def know_thread(self, number: int, thread: int) -> None:
        """Map the profiler's number of a thread, which Nodes refer to, to the thread."""
        self._threads[number] = thread

    def learn_threads(self, nodes: Iterable[tuple[int, int]]) -> None:
        """Learn thread numbers from a window's arrows; ``nodes``: (row, forward thread)."""
        table = self._table
        found = {(table.thread[row], table.start[row]): number for row, number in nodes}
        for (end, arrow), places in self._arrows.items():
            starts = self._arrows.get(("s", arrow), ())
            if end == "f" and len(places) == len(starts) == 1 and places[0] in found:
                self._threads.setdefault(found[places[0]], starts[0][0])
        self._arrows.clear()

    # ------------------------------------------------------------------------ Nodes

    def link(self, node: int, engine: int, name: str, forward_thread: int) -> int:
        """Note in the table the forward operator of a Node that starts now, or why it is unknown.
        ``engine`` is the engine's row around it, which starts earlier and may know less.

        Returns:
            The operator whose gradient the Node computes, or NONE.
        """
        place = (self._table.thread[engine], self._table.parent[engine])
        if name.startswith(_ACCUMULATE):
            row, why = self._of_leaf(engine, self._before.get(place, NONE))
            self._note((node, engine), row, why)
            return row
        self._before[place] = engine
        row, why = self._of_number(self._table.sequence[node], forward_thread)
        self._note((node, engine), row, why)
        if row >= 0 and self._table.kind[node] == NODE:
            self._table.reverse[row] = node
        return row

    def _note(self, nodes: tuple[int, int], forward: int, why: str) -> None:
        table = self._table
        for node in nodes:
            table.forward.pop(node, None)
            table.forward_notes.pop(node, None)
            if forward >= 0:
                table.forward[node] = forward
            if why:
                table.forward_notes[node] = why

    def _of_leaf(self, engine: int, before: int) -> tuple[int, str]:
        """For AccumulateGrad, which no operator made: an operator that used the leaf."""
        table = self._table
        if before >= 0 and table.stack[before] == table.stack[engine] and before in table.forward:
            return table.forward[before], BY_ORDER
        return NONE, _FIRST

    def _of_number(self, sequence: int, forward_thread: int) -> tuple[int, str]:
        if sequence < 0:
            return NONE, _UNNUMBERED
        thread = self._threads.get(forward_thread, NONE)
        if thread < 0:
            possible = self._possible(sequence)
            if len(possible) != 1:
                return NONE, _SEVERAL if possible else _UNKNOWN
            thread = possible[0]
            if forward_thread:
                self._threads[forward_thread] = thread
        row = self._last.get(_key(sequence, thread), NONE)
        return row, "" if row >= 0 else _UNKNOWN

    def _possible(self, sequence: int) -> list[int]:
        """Threads that used a number and are not known under another number."""
        free = self._showing.difference(self._threads.values())
        return [thread for thread in free if _key(sequence, thread) in self._last]


def _key(sequence: int, thread: int) -> int:
    return sequence << _THREADS | thread
