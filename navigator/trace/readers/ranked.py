"""Traces that tell the order of operators and what calls what, but no times."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from navigator.trace.builder import Builder
from navigator.trace.table import BACKWARD, NONE, RawInputs
from navigator.trace.trace import Trace

_HALF = 0.5


@dataclass(slots=True)
class Item:
    """One row to be, in order of start; ``parent`` is the position of an earlier item."""

    kind: int
    name: str
    overload: str | None = None
    parent: int = NONE
    thread: str = "0"
    inputs: RawInputs | None = None
    output: str = ""
    sequence: int = NONE
    forward_thread: int = 0
    place: str = ""
    stack: int = NONE
    module: str = ""
    is_backward: bool = False
    """For what no autograd Node tells to be part of a backward pass."""


def build(trace: Trace, items: Sequence[Item]) -> None:
    """Add the items as rows. Their rank stands for time while the tree is built."""
    table = trace.table
    builder = Builder(table)
    places: dict[int, str] = {}
    for rank, (item, end) in enumerate(zip(items, _ends(items), strict=True)):
        row = builder.add(
            item.kind,
            table.names.number((item.name, item.overload)),
            table.threads.number(("0", item.thread)),
            float(rank),
            end - rank,
            table.raw_inputs.number(item.inputs) if item.inputs else NONE,
            item.sequence,
            rank + 1,
            item.forward_thread,
        )
        if item.output:
            table.outputs[row] = item.output
        if item.place:
            places[rank + 1] = item.place
    table.complete_rows()
    first = len(table) - len(items)
    for rank, item in enumerate(items):
        table.stack[first + rank] = item.stack
        if item.module:
            table.module[first + rank] = table.modules.number(item.module)
    builder.close_window(places)
    for row in range(first, len(table)):
        table.duration[row] = 0.0
        if items[row - first].is_backward:
            table.phase[row] = BACKWARD


def _ends(items: Sequence[Item]) -> list[float]:
    """Where each item ends: behind all that stands under it."""
    ends = [rank + _HALF for rank in range(len(items))]
    for rank in range(len(items) - 1, -1, -1):
        parent = items[rank].parent
        if 0 <= parent < rank:
            ends[parent] = max(ends[parent], ends[rank] + _HALF / len(items))
    return ends


def raw_inputs(
    types: Sequence[str], shapes: Sequence[object], strides: Sequence[object], values: Sequence[str]
) -> RawInputs:
    """Inputs in the form in which profiles have them."""
    columns = (types, shapes, strides, values)
    texts = [json.dumps(list(column), separators=(",", ":")).encode() for column in columns]
    return texts[0], texts[1], texts[2], texts[3]
