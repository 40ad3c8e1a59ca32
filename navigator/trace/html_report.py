"""A trace as HTML: a self-contained file, and a fragment for notebooks.

Everything from the trace and the source is escaped.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from indexes.model.vocabulary import KernelRow
from indexes.queries.index import Index
from navigator.text.clean import html_text as escaped
from navigator.text.html import excerpt, formulas, link, row, stylesheet
from navigator.trace.groups import Group, gather
from navigator.trace.model import TraceMeta, TraceOp
from navigator.trace.timeline import Timeline, timeline
from navigator.trace.wording import duration

if TYPE_CHECKING:  # else a circular import
    from navigator.trace.link import Linker
    from navigator.trace.trace import Trace

_OPERATORS = 300
_LINES = 40
_PARTS = 120
_SHOWN = 12
_COLOURS = {
    "forward": "#4c78a8",
    "backward": "#e45756",
    "optimizer": "#eeca3b",
    "compile": "#b279a2",
    "device": "#54a24b",
}

_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{style}</style></head><body><main>
<h1>{title}</h1>
"""


def html_report(trace: Trace, linker: Linker) -> Iterator[str]:
    """The report piece by piece."""
    title = escaped(f"torchnav: {trace.meta.path.rpartition('/')[2]}")
    yield _HEAD.format(title=title, style=stylesheet())
    facts = (row(escaped(name), escaped(fact)) for name, fact in _facts(trace, linker) if fact)
    yield f"<table>{''.join(facts)}</table>\n<h2>Operators by self time</h2>"
    yield _head("operator", "self", "total", "calls")
    first = _examples(trace)
    for group in gather(trace, "operator")[:_OPERATORS]:
        leads = "".join(_operator(first[group.name], linker)) if group.name in first else ""
        times = {"self": duration(group.own_us), "total": duration(group.total_us)}
        yield _row(group, leads=leads, **times)
    yield "</table>\n<h2>Lines of the program</h2>"
    yield from _groups("line", gather(trace, "line")[:_LINES])
    yield "<h2>Modules</h2>"
    yield from _groups("module", gather(trace, "module")[:_LINES])
    yield from _kernels(trace, linker)
    yield "</main></body></html>\n"


def _facts(trace: Trace, linker: Linker) -> Iterator[tuple[str, str]]:
    meta, info = trace.meta, linker.index.info
    yield "trace", f"{meta.format}, {len(trace):,} rows"
    yield "program", shlex.join(meta.command)
    yield "torch", meta.torch
    yield "devices", ", ".join(meta.devices)
    yield "source", f"PyTorch {info.version} {info.commit or ''}"
    yield "note", linker.note
    yield from (("problem", problem) for problem in meta.problems)
    yield from (("lacks", what) for what in meta.lacks)


def _examples(trace: Trace) -> dict[str, TraceOp]:
    """The first call of each operator, which represents the others."""
    table, first = trace.table, dict[int, int]()
    for at in table.operators():
        first.setdefault(table.name[at], at)
    return {table.label(name): trace.op(at) for name, at in first.items()}


def _operator(op: TraceOp, linker: Linker) -> Iterator[str]:
    """The schema, kernel and formula of an operator call, or why they are missing."""
    found = linker.link(op)
    if found.schema is not None:
        yield f'<br><code class="dim">{escaped(found.schema.schema)}</code>'
    if found.kernel is not None and found.kernel.definitions:
        yield _kernel(found.kernel, linker.index)
    if found.derivative is not None:
        yield formulas(linker.schemas.info, found.derivative, ("gradient",))
    yield from (f'<p class="bad">{escaped(reason)}</p>' for reason in found.reasons)


def _kernel(found: KernelRow, index: Index) -> str:
    title = f"{found.key} kernel {found.symbol}"
    return excerpt(index, index.info, title, found.definitions[0].location)


def _groups(what: str, groups: list[Group]) -> Iterator[str]:
    yield _head(what, "self time", "calls")
    yield from (_row(group, self=duration(group.own_us)) for group in groups)
    yield "</table>\n"


def _head(*columns: str) -> str:
    cells = "".join(f'<th scope="col">{column}</th>' for column in columns)
    return f'<table class="times"><tr>{cells}</tr>'


def _row(group: Group, *, leads: str = "", **times: str) -> str:
    figures = {**times, "calls": f"{group.count:,}"}
    cells = "".join(
        f'<td class="n" data-label="{name}">{one}</td>' for name, one in figures.items()
    )
    return f"<tr><td><code>{escaped(group.name)}</code>{leads}</td>{cells}</tr>"


def _kernels(trace: Trace, linker: Linker) -> Iterator[str]:
    example = {kernel.name: kernel for kernel in trace.kernels()}
    if example:
        yield f"<h2>Device kernels</h2>\n{_head('kernel', 'time', 'launches')}"
        for group in gather(trace, "kernel")[:_OPERATORS]:
            answer = linker.kernel_name(example[group.name])
            where = escaped(answer.library or answer.reason)
            if answer.source:
                where = link(linker.index.info, answer.source.location)
            yield _row(group, leads=f"<br>{where}", time=duration(group.own_us))
        yield "</table>\n"


# --------------------------------------------------------------------------- notebooks


def notebook_html(trace: Trace) -> str:
    """A self-contained fragment: what ran, when, and what took the time."""
    return "".join(_fragment(trace))


def _fragment(trace: Trace) -> Iterator[str]:
    operators = sum(1 for _ in trace.table.operators())
    yield f"<div><p><b>{operators:,} operators</b>"
    yield f", {len(trace.table.kernels):,} device kernels" if len(trace.table.kernels) else ""
    yield f", torch {escaped(trace.meta.torch)}</p>" if trace.meta.torch else "</p>"
    yield from _notes(trace.meta)
    when = timeline(trace, _PARTS)
    if when.cpu:
        yield from _bars(when)
    yield from _groups("operator", gather(trace, "operator")[:_SHOWN])
    yield from _groups("line", gather(trace, "line")[:_SHOWN])
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
