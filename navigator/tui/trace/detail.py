"""Details of the selected row of a trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import ClassVar

from textual.content import Content
from textual.widget import Widget

from indexes.model.answers import DeviceKernelAnswer
from indexes.model.vocabulary import Formula
from navigator.trace.figures.pairs import Pair
from navigator.trace.links import OpLink
from navigator.trace.model import DeviceKernel, TraceOp
from navigator.trace.wording import duration
from navigator.tui.text import one_line, place, shorten

Launched = tuple[DeviceKernel, DeviceKernelAnswer | None]


class TraceDetail(Widget):
    """Inputs, user's line, Node, device kernels, and why something is unresolved."""

    DEFAULT_CSS: ClassVar[str] = """
    TraceDetail {
        height: auto;
        max-height: 8;
        padding: 0 1;
        border-top: solid $panel;
        &.-empty { display: none; }
        &.-pair { max-height: 60%; overflow-y: auto; }
        &:ansi { border-top: solid ansi_bright_black; }
    }
    """

    _op: TraceOp | None = None
    _pairs: Sequence[Pair] = ()
    _formulas: Sequence[Formula] = ()
    _forward: TraceOp | None = None
    _link: OpLink | None = None
    _launched: tuple[Launched, ...] = ()
    _compiled: tuple[str, ...] = ()

    def show(self, op: TraceOp | None, forward: TraceOp | None = None) -> None:
        """Show a row, and the forward operator of its Node."""
        self._op, self._forward = op, forward
        self._pairs, self._formulas = (), ()
        self.set_class(False, "-pair")
        self._link, self._launched, self._compiled = None, (), ()
        self.set_class(op is None, "-empty")
        self.refresh(layout=True)

    def show_link(
        self, link: OpLink, launched: tuple[Launched, ...], compiled: tuple[str, ...] = ()
    ) -> None:
        """Show the row's link, once it is known."""
        self._link, self._launched, self._compiled = link, launched, compiled
        self.refresh(layout=True)

    def show_pairs(self, pairs: Sequence[Pair], formulas: Sequence[Formula] = ()) -> None:
        """Show forward and backward side by side, with the formulas of the first pair."""
        self._pairs, self._formulas = pairs, formulas
        self.set_class(bool(pairs), "-pair")
        self.refresh(layout=True)

    def render(self) -> Content:
        if self._op is None:
            return Content("")
        width = max(self.size.width, 20)
        if self._pairs:
            return Content("\n").join(pair_lines(self._pairs, self._formulas, width))
        lines = [*_head(self._op, width), *self._node_lines(self._op)]
        lines += [_kernel_line(*one, width) for one in self._launched[:2]]
        lines += [Content(one_line(text)) for text in self._compiled]
        lines += _link_lines(self._link)
        return Content("\n").join([line.truncate(width, ellipsis=True) for line in lines])

    def _node_lines(self, op: TraceOp) -> list[Content]:
        if op.node is None:
            return []
        role = {
            "engine": "engine's work around",
            "hook": "a hook at",
            "": "in",
            "recompute": "recomputed for",
        }[op.origin]
        words = [(f"{role} ", "dim"), (one_line(op.node), "$text-accent")]
        if self._forward is not None:
            user = self._forward.user
            where = f" ({user.path.rpartition('/')[2]}:{user.line})" if user else ""
            words.append((f", gradient of {one_line(self._forward.label)}{where}", "dim"))
        return [Content.assemble(*words)]


def _head(op: TraceOp, width: int) -> list[Content]:
    facts = [duration(op.duration_us), op.phase, op.device or "", f"thread {op.thread}"]
    if op.layout != "strided":
        facts.append(op.layout)
    lines = [
        Content.assemble(
            (one_line(op.label), "bold"), (f"  {' · '.join(filter(None, facts))}", "dim")
        )
    ]
    if op.inputs or op.output:
        inputs = ", ".join(str(value) for value in op.inputs)
        output = f" → {op.output}" if op.output else ""
        lines.append(Content(one_line(inputs + output)))
    if op.user is not None:
        about = "" if op.user_exact else " (the function begins here)"
        module = f"  in {one_line(op.module)}" if op.module else ""
        lines.append(
            Content.assemble((place(op.user, width), "$text-primary"), (about + module, "dim"))
        )
    return lines


def _kernel_line(kernel: DeviceKernel, answer: DeviceKernelAnswer | None, width: int) -> Content:
    where = ""
    if answer is not None:
        found = answer.source.location if answer.source else None
        where = place(found) or answer.library or answer.reason
    name = shorten(one_line(kernel.name), max(width - 30, 20))
    return Content.assemble(
        ("▶ ", "$text-success"), name, (f" {duration(kernel.duration_us)} {where}", "dim")
    )


def _link_lines(link: OpLink | None) -> list[Content]:
    if link is None:
        return []
    node = link.node
    lines = [
        Content.assemble((f"{', '.join(formula.inputs)}: ", "dim"), one_line(formula.text))
        for formula in (node.formulas[:3] if node else ())
    ]
    lines += [
        Content.assemble(("not resolved · ", "$text-error"), one_line(reason))
        for reason in link.reasons[:2]
    ]
    if link.note:
        lines.append(Content.styled(one_line(link.note), "$text-warning"))
    return lines


_ROWS = 8
"""Maximum number of operators on each side."""
_PAIRS = 3
_PLACE = 28
_NARROW = 64
"""Minimum width for two columns."""


def pair_lines(pairs: Sequence[Pair], formulas: Sequence[Formula], width: int) -> Iterator[Content]:
    """Times and shapes of both sides, then the formulas of the first pair."""
    for pair in pairs[:_PAIRS]:
        yield from _side_by_side(list(_forward(pair)), list(_backward(pair)), width)
        if pair is pairs[0]:
            yield from map(_formula, formulas)
        yield from _side_by_side(list(_rows(pair.forward_rows)), list(_rows(pair.node_rows)), width)
    if len(pairs) > _PAIRS:
        yield Content.styled(f"{len(pairs) - _PAIRS} more below this row made a Node", "dim")


def _side_by_side(
    left: Sequence[Content], right: Sequence[Content], width: int
) -> Iterator[Content]:
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


def _title(op: TraceOp, style: str, note: str = "") -> Content:
    shapes = ", ".join(str(value) for value in op.inputs)
    output = f" → {op.output}" if op.output else ""
    return Content.assemble(
        (one_line(op.label.removeprefix("aten::")), style),
        f" {duration(op.duration_us)} {note}",
        (one_line(shapes + output), "dim"),
    )


def _rows(rows: Sequence[TraceOp]) -> Iterator[Content]:
    for op in rows[:_ROWS]:
        origin = f"{op.origin}: " if op.origin else ""
        yield Content.assemble(("  ", ""), (origin, "$text-warning"), _title(op, ""))
    if len(rows) > _ROWS:
        yield Content.styled(f"  {len(rows) - _ROWS} more", "dim")


def _formula(formula: Formula) -> Content:
    where = f"  derivatives.yaml:{formula.location.line}"
    return Content.assemble(
        (f"∂ {', '.join(formula.inputs)}: ", "dim"), one_line(formula.text), (where, "dim")
    )
