"""A trace as it is displayed in a notebook: what ran, when, and what took the time."""

from __future__ import annotations

from collections.abc import Iterator

from navigator.text.clean import html_text as escaped
from navigator.trace.groups import Group, gather
from navigator.trace.model import TraceMeta
from navigator.trace.table import OP
from navigator.trace.timeline import Timeline, timeline
from navigator.trace.trace import Trace
from navigator.trace.wording import duration

_PARTS = 120
_SHOWN = 12
_COLOURS = {
    "forward": "#4c78a8",
    "backward": "#e45756",
    "optimizer": "#eeca3b",
    "device": "#54a24b",
}


def notebook_html(trace: Trace) -> str:
    """A fragment that stands alone; everything from the trace is escaped."""
    return "".join(_pieces(trace))


def _pieces(trace: Trace) -> Iterator[str]:
    operators = sum(kind == OP for kind in trace.table.kind)
    yield f"<div><p><b>{operators:,} operators</b>"
    yield f", {len(trace.table.kernels):,} device kernels" if len(trace.table.kernels) else ""
    yield f", torch {escaped(trace.meta.torch)}</p>" if trace.meta.torch else "</p>"
    yield from _notes(trace.meta)
    when = timeline(trace, _PARTS)
    if when.cpu:
        yield from _bars(when)
    yield from _table("operator", gather(trace, "operator"))
    yield from _table("line", gather(trace, "line"))
    yield "</div>"


def _notes(meta: TraceMeta) -> Iterator[str]:
    for note in (*meta.problems, *(f"not in this trace: {what}" for what in meta.lacks)):
        yield f"<p><i>{escaped(note)}</i></p>"


def _bars(when: Timeline) -> Iterator[str]:
    """Totals, and a bar for operators and one for devices."""
    for name, time in when.totals:
        yield f'<span style="color:{_COLOURS[name]}">&#9632;</span> {name} {duration(time)} '
    yield f"of {duration(when.span_us)}"
    phases = list(_COLOURS)
    yield _bar(when, [(sum(part), phases[part.index(max(part))]) for part in when.cpu])
    if when.device:
        yield _bar(when, [(busy, "device") for busy in when.device])


def _bar(when: Timeline, parts: list[tuple[float, str]]) -> str:
    width = 100 / len(parts)
    rectangles = "".join(
        f'<rect x="{at * width:.3f}%" y="{24 * (1 - share):.1f}" width="{width:.3f}%"'
        f' height="{24 * share:.1f}" fill="{_COLOURS[name]}"/>'
        for at, (busy, name) in enumerate(parts)
        if (share := min(busy / when.part_us, 1.0))
    )
    return f'<svg width="100%" height="24" style="display:block">{rectangles}</svg>'


def _table(what: str, groups: list[Group]) -> Iterator[str]:
    yield f"<table><tr><th>own time</th><th>calls</th><th>{what}</th></tr>"
    for group in groups[:_SHOWN]:
        yield (
            f"<tr><td>{duration(group.own_us)}</td><td>{group.count:,}</td>"
            f"<td><code>{escaped(group.name)}</code></td></tr>"
        )
    yield "</table>"
