"""Forward operators beside the Nodes that compute their gradients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from navigator.trace.model import TraceOp
from navigator.trace.table import OP
from navigator.trace.trace import Trace

_MOST = 400
"""Maximum number of rows below an operator to search for one that made a Node."""


@dataclass(frozen=True)
class Pair:
    """An operator and the Node that it made, if that ran."""

    forward: TraceOp
    forward_rows: Sequence[TraceOp]
    """The operators that it called directly."""
    node: TraceOp
    node_rows: Sequence[TraceOp]
    """The operators of the formula, then those of the engine around it."""


def pairs_of(trace: Trace, row: int) -> list[Pair]:
    """The operators of a row whose Nodes ran: the row itself, those below it or, in a backward
    pass, the operator whose gradient is computed."""
    forward = trace.op(row).forward_id
    rows = [forward] if forward is not None else [row, *islice(trace.table.descendants(row), _MOST)]
    return [pair for one in rows if (pair := _pair(trace, one)) is not None]


def _pair(trace: Trace, row: int) -> Pair | None:
    node = trace.backward_of(row)
    if node is None:
        return None
    around = trace.table.parent[node]
    rows = [*_operators(trace, node)]
    if around >= 0:
        rows += [operator for operator in _operators(trace, around) if operator.origin == "engine"]
    return Pair(trace.op(row), [*_operators(trace, row)], trace.op(node), rows)


def _operators(trace: Trace, row: int) -> Iterator[TraceOp]:
    for child in trace.children(row):
        if trace.table.kind[child] == OP:
            yield trace.op(child)
