"""What memory is used for, from who allocated it, when, and when it was freed.

Categories are those of ``torch.profiler``'s memory profile. torchnav's recordings have the
addresses of parameters, gradients, optimizer state and module inputs. The storages of all
operators' inputs, which the profiler follows too, are missing, so other rules use the running
operator, Node or optimizer step; the rest is unknown.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

from navigator.trace.figures.blocks import Block, Ledger
from navigator.trace.table import ANNOTATION, BACKWARD, CALL, ENGINE, NODE, OP, OPTIMIZER, RECOMPUTE
from navigator.trace.trace import Trace

Category = Literal[
    "parameter",
    "input",
    "temporary",
    "activation",
    "gradient",
    "autograd",
    "optimizer state",
    "unknown",
]
"""``temporary``: freed by the operator or optimizer step that allocated it. ``activation``: made in
the forward pass for the backward pass, or by a module. ``gradient``: made in a backward pass and
outlives it. ``autograd``: made in a backward pass and freed by its end. ``input``: passed to a
module, made outside of any and without a Node."""

_FROM_PYTHON: tuple[Category, ...] = ("input", "gradient", "optimizer state", "parameter")
"""Categories known from Python; later ones override earlier ones."""

RULES = (
    "temporary: freed by the operator or optimizer step that allocated it",
    "gradient: outlives the backward pass that made it; autograd: does not",
    "activation: made in a module, or kept for a backward pass",
    "optimizer state: outlives the step, or is what the optimizer holds",
    "parameter, input: as recorded from Python; unknown: none of these",
)


class Categories:
    """Categories of blocks of one trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._by_device: dict[str, dict[int, Category]] = {}
        self._outside: defaultdict[int, list[float]] = defaultdict(list)
        """By thread: starts of rows outside of backward passes."""
        self._last: defaultdict[int, float] = defaultdict(float)
        """By thread: end of the last backward pass."""
        table = trace.table
        for row, kind in enumerate(table.kind):
            thread = table.thread[row]
            if kind == ENGINE:
                outermost = max(self._around(row), key=self._end)
                self._last[thread] = max(self._last[thread], self._end(outermost))
            elif kind in (CALL, OP, ANNOTATION) and table.phase[row] != BACKWARD:
                self._outside[thread].append(table.start[row])
        for starts in self._outside.values():
            starts.sort()

    def category(self, ledger: Ledger, block: Block) -> Category:
        """The category of a block of a ledger."""
        known = self._known_from_python(ledger).get(block.taken)
        if known is not None:
            return known
        if block.row < 0:
            return "unknown"
        table = self._trace.table
        until = self._freed(ledger, block)
        if until <= self._end(self._operator(block.row)):
            return "temporary"
        if table.phase[block.row] == OPTIMIZER:
            return self._of_optimizer(block.row, until)
        if table.phase[block.row] == BACKWARD:
            return self._of_backward(block.row, until)
        return self._of_forward(ledger, block)

    def _freed(self, ledger: Ledger, block: Block) -> float:
        if block.freed < 0:
            return float("inf")
        return self._trace.table.allocations.start[ledger.moments[block.freed]]

    def _end(self, row: int) -> float:
        return self._trace.table.start[row] + self._trace.table.duration[row]

    def _around(self, row: int) -> Sequence[int]:
        return (row, *self._trace.table.ancestors(row)) if row >= 0 else ()

    def _operator(self, row: int) -> int:
        """The outermost operator around a row, within a Node of the autograd engine."""
        outermost = row
        for one in self._around(row):
            kind = self._trace.table.kind[one]
            if kind in (OP, NODE):
                outermost = one
            if kind in (NODE, ENGINE):
                break
        return outermost

    def _of_optimizer(self, row: int, until: float) -> Category:
        steps = (one for one in self._around(row) if self._trace.table.kind[one] == ANNOTATION)
        step = next(steps, row)
        return "temporary" if until <= self._end(step) else "optimizer state"

    def _of_backward(self, row: int, until: float) -> Category:
        if self._trace.table.origin[row] == RECOMPUTE:
            return "activation"
        return "autograd" if until <= self._end_of_pass(row) else "gradient"

    def _end_of_pass(self, row: int) -> float:
        """When the thread that waits for the backward pass continues."""
        table = self._trace.table
        thread, node = table.thread[row], table.node[row]
        if thread not in self._outside and node in table.forward:
            thread = table.thread[table.forward[node]]
        starts = self._outside.get(thread, [])
        after = bisect_right(starts, table.start[row])
        return starts[after] if after < len(starts) else self._last[table.thread[row]]

    def _of_forward(self, ledger: Ledger, block: Block) -> Category:
        table = self._trace.table
        if block.freed >= 0:
            freer = table.allocations.op[ledger.moments[block.freed]]
            if freer >= 0 and table.phase[freer] == BACKWARD:
                return "activation"
        return "activation" if self._is_within_model(block.row) else "unknown"

    def _is_within_model(self, row: int) -> bool:
        """Whether it was allocated in a module or by an operator with a Node."""
        table = self._trace.table
        return table.module[row] >= 0 or any(one in table.reverse for one in self._around(row))

    # ------------------------------------------------------------------ what Python knew

    def _known_from_python(self, ledger: Ledger) -> dict[int, Category]:
        """By the moment of the block's allocation."""
        if ledger.device not in self._by_device:
            self._by_device[ledger.device] = dict(self._find(ledger))
        return self._by_device[ledger.device]

    def _find(self, ledger: Ledger) -> Iterator[tuple[int, Category]]:
        """Later entries override earlier ones, so categories are in order of strength."""
        blocks: defaultdict[int, list[Block]] = defaultdict(list)
        allocations = self._trace.table.allocations
        for block in ledger.blocks:
            blocks[allocations.address[ledger.moments[block.taken]]].append(block)
        for category in _FROM_PYTHON:
            for moment, name, addresses in self._trace.table.storages:
                for one in addresses if name == category else ():
                    found = self._at(ledger, blocks.get(one, []), moment)
                    if found is not None and not (name == "input" and self._is_models(found)):
                        yield found.taken, category

    def _is_models(self, block: Block) -> bool:
        return block.row >= 0 and self._is_within_model(block.row)

    def _at(self, ledger: Ledger, blocks: list[Block], moment: float) -> Block | None:
        """The block at an address at a moment."""
        for block in reversed(blocks):
            if self._trace.table.allocations.start[ledger.moments[block.taken]] <= moment:
                return block if moment < self._freed(ledger, block) else None
        return None
