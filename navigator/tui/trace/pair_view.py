"""Forward and backward of an operator side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from textual.content import Content

from indexes.model.vocabulary import Formula
from navigator.trace.figures.pairs import Pair
from navigator.trace.model import TraceOp
from navigator.trace.wording import duration
from navigator.tui.text import one_line, place

_ROWS = 8
"""Operators of one side that are shown."""
_PAIRS = 3
_PLACE = 28
_NARROW = 64
"""With less columns one side stands below the other."""


def pair_lines(pairs: Sequence[Pair], formulas: Sequence[Formula], width: int) -> Iterator[Content]:
    """Times and shapes of both sides, then the formulas of the first."""
    for pair in pairs[:_PAIRS]:
        yield from _beside(list(_forward(pair)), list(_backward(pair)), width)
        if pair is pairs[0]:
            yield from map(_formula, formulas)
        yield from _beside(list(_rows(pair.forward_rows)), list(_rows(pair.node_rows)), width)
    if len(pairs) > _PAIRS:
        yield Content.styled(f"{len(pairs) - _PAIRS} more below this row made a Node", "dim")


def _beside(left: Sequence[Content], right: Sequence[Content], width: int) -> Iterator[Content]:
    if width < _NARROW:
        yield from (line.truncate(width, ellipsis=True) for line in (*left, *right))
        return
    half = (width - 3) // 2
    for one, other in zip_longest(left, right, fillvalue=Content("")):
        cut = one.truncate(half, ellipsis=True, pad=True)
        yield Content.assemble(cut, (" │ ", "dim"), other.truncate(half, ellipsis=True))


def _forward(pair: Pair) -> Iterator[Content]:
    op = pair.forward
    yield _title(op, "bold")
    if op.user is not None:
        yield Content.styled(place(op.user, _PLACE), "$text-primary")


def _backward(pair: Pair) -> Iterator[Content]:
    ratio = pair.node.duration_us / pair.forward.duration_us if pair.forward.duration_us else 0.0
    more = f"({ratio:.2g}x) " if ratio else ""
    yield _title(pair.node, "bold $text-accent", more)
    if pair.node.user is not None:
        yield Content.styled(place(pair.node.user, _PLACE), "$text-primary")


def _title(op: TraceOp, ink: str, note: str = "") -> Content:
    shapes = ", ".join(str(value) for value in op.inputs)
    output = f" → {op.output}" if op.output else ""
    return Content.assemble(
        (one_line(op.label.removeprefix("aten::")), ink),
        f" {duration(op.duration_us)} {note}",
        (one_line(shapes + output), "dim"),
    )


def _rows(rows: Sequence[TraceOp]) -> Iterator[Content]:
    for op in rows[:_ROWS]:
        origin = f"{op.origin}: " if op.origin else ""
        yield Content.assemble(("  ", ""), (origin, "$text-warning"), _title(op, ""))
    if len(rows) > _ROWS:
        yield Content.styled(f"  {len(rows) - _ROWS} more", "dim")


def _formula(one: Formula) -> Content:
    where = f"  derivatives.yaml:{one.location.line}"
    return Content.assemble(
        (f"∂ {', '.join(one.inputs)}: ", "dim"), one_line(one.text), (where, "dim")
    )
