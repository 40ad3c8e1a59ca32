"""Builds traces that have an order and nesting of operators, but no times."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from navigator.trace.building.builder import Builder
from navigator.trace.columns import NONE
from navigator.trace.table import BACKWARD, RawInputs
from navigator.trace.trace import Trace

_HALF = 0.5


@dataclass(slots=True)
class Item:
    """A future row, in order of start; ``parent`` is the index of an earlier item."""

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
    is_backward: bool = False
    """Set for backward rows without an autograd Node."""


def build(trace: Trace, items: Sequence[Item]) -> None:
    """Make the items the rows of an empty trace. Their rank serves as time."""
    table = trace.table
    builder = Builder(table)
    places: dict[int, str] = {}
    for rank, (item, end) in enumerate(zip(items, _ends(items), strict=True)):
        name = table.names.number((item.name, item.overload))
        thread = table.threads.number(("0", item.thread))
        inputs = table.raw_inputs.number(item.inputs) if item.inputs else NONE
        sequence = item.sequence
        row = table.append(item.kind, name, thread, float(rank), end - rank, inputs, sequence)
        builder.add(row, rank + 1, item.forward_thread)
        table.stack[row] = item.stack
        if item.output:
            table.outputs[row] = item.output
        if item.place:
            places[rank + 1] = item.place
    builder.close_window(places)
    trace.meta.problems += builder.problems()
    for row, item in enumerate(items):
        table.duration[row] = 0.0
        if item.is_backward:
            table.phase[row] = BACKWARD


def _ends(items: Sequence[Item]) -> list[float]:
    """The end of each item: after everything below it."""
    ends = [rank + _HALF for rank in range(len(items))]
    for rank in range(len(items) - 1, -1, -1):
        parent = items[rank].parent
        if 0 <= parent < rank:
            ends[parent] = max(ends[parent], ends[rank] + _HALF / len(items))
    return ends


def raw_inputs(
    types: Sequence[str], shapes: Sequence[object], strides: Sequence[object], values: Sequence[str]
) -> RawInputs:
    """Inputs in the profiles' form."""
    columns = (types, shapes, strides, values)
    texts = [json.dumps(list(column), separators=(",", ":")).encode() for column in columns]
    return texts[0], texts[1], texts[2], texts[3]
