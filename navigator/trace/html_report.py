"""A trace as HTML: a file that needs nothing else, and a fragment for notebooks.

Everything from the trace and the source is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from indexes.model.errors import TorchnavError
from indexes.model.vocabulary import KernelRow, Location
from indexes.queries.index import Index
from indexes.source.permalinks import permalink
from navigator.text.clean import html_text as escaped
from navigator.trace.groups import Group, gather
from navigator.trace.model import TraceMeta, TraceOp
from navigator.trace.timeline import Timeline, timeline
from navigator.trace.wording import duration

if TYPE_CHECKING:  # the other way round it shows itself in notebooks
    from navigator.trace.link import Linker
    from navigator.trace.trace import Trace

_OPERATORS = 300
_LINES = 40
_EXCERPT = 14
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
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width">
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
  color: #222; background: #fff }}
h1 {{ font-size: 1.4rem }} h2 {{ font-size: 1.1rem; margin-top: 2rem }}
table {{ border-collapse: collapse; width: 100% }}
td, th {{ text-align: left; padding: .2rem .6rem; border-bottom: 1px solid #ddd;
  vertical-align: top }}
td.n {{ text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }}
code, pre {{ font: 13px/1.4 ui-monospace, monospace }}
pre {{ background: #f5f5f5; padding: .6rem; overflow-x: auto; margin: .4rem 0 }}
details {{ margin: .2rem 0 }} .bad {{ color: #a00 }} .dim {{ color: #666 }}
@media (prefers-color-scheme: dark) {{ body {{ color: #ddd; background: #181818 }}
  pre {{ background: #222 }} td, th {{ border-color: #333 }} a {{ color: #8bf }} }}
</style>
"""


def html_report(trace: Trace, linker: Linker) -> Iterator[str]:
    """The report piece by piece."""
    title = f"torchnav: {trace.meta.path.rpartition('/')[2]}"
    yield _HEAD.format(title=escaped(title))
    yield f"<h1>{escaped(title)}</h1>\n<table>"
    yield from (f"<tr><th>{escaped(k)}<td>{escaped(v)}" for k, v in _facts(trace, linker) if v)
    yield "</table>\n<h2>Operators by self time</h2>"
    yield _head("self", "total", "calls", "operator")
    first = _examples(trace)
    for group in gather(trace, "operator")[:_OPERATORS]:
        leads = "".join(_operator(first[group.name], linker)) if group.name in first else ""
        yield _row(group, duration(group.own_us), duration(group.total_us), leads=leads)
    yield "</table>\n<h2>Lines of the program</h2>"
    yield from _groups("line", gather(trace, "line")[:_LINES])
    yield "<h2>Modules</h2>"
    yield from _groups("module", gather(trace, "module")[:_LINES])
    yield from _kernels(trace, linker)


def _facts(trace: Trace, linker: Linker) -> Iterator[tuple[str, str]]:
    meta, info = trace.meta, linker.index.info
    yield "trace", f"{meta.format}, {len(trace):,} rows"
    yield "program", " ".join(meta.command)
    yield "torch", meta.torch
    yield "devices", ", ".join(meta.devices)
    yield "source", f"PyTorch {info.version} {info.commit or ''}"
    yield "note", linker.note
    yield from (("problem", problem) for problem in meta.problems)
    yield from (("lacks", what) for what in meta.lacks)


def _examples(trace: Trace) -> dict[str, TraceOp]:
    """The first call of each operator: what it leads to stands for the others."""
    table, first = trace.table, dict[int, int]()
    for row in table.operators():
        first.setdefault(table.name[row], row)
    return {table.label(name): trace.op(row) for name, row in first.items()}


def _operator(op: TraceOp, linker: Linker) -> Iterator[str]:
    """Where one call of an operator leads."""
    link = linker.link(op)
    if link.schema is not None:
        yield f'<br><code class="dim">{escaped(link.schema.schema)}</code>'
    if link.kernel is not None and link.kernel.definitions:
        yield from _kernel_source(link.kernel, linker.index)
    if link.derivative is not None:
        formulas = [f for one in link.derivative.sets for f in one.formulas if f.kind == "gradient"]
        for formula in formulas[:4]:
            text = f"{', '.join(formula.inputs)}: {formula.text}"
            yield f"<br>{_place(linker.schemas, formula.location)} <code>{escaped(text)}</code>"
    yield from (f'<br><span class="bad">{escaped(reason)}</span>' for reason in link.reasons)


def _kernel_source(row: KernelRow, index: Index) -> Iterator[str]:
    first = row.definitions[0].location
    yield f"<br>{escaped(row.key)} kernel <code>{escaped(row.symbol)}</code> {_place(index, first)}"
    excerpt = _excerpt(index, first)
    if excerpt:
        yield f"<details><summary>source</summary><pre>{escaped(excerpt)}</pre></details>"


def _excerpt(index: Index, location: Location) -> str:
    try:
        lines = index.read(location.path).split("\n")
    except TorchnavError:
        return ""
    start = max(location.line - 1, 0)
    end = min(max(location.end_line, location.line), start + _EXCERPT)
    return "\n".join(lines[start:end])


def _groups(what: str, groups: list[Group]) -> Iterator[str]:
    yield _head("self time", "calls", what)
    yield from (_row(group, duration(group.own_us)) for group in groups)
    yield "</table>\n"


def _head(*columns: str) -> str:
    return f"<table><tr>{''.join(f'<th>{one}</th>' for one in columns)}</tr>"


def _row(group: Group, *times: str, leads: str = "") -> str:
    cells = "".join(f'<td class="n">{one}</td>' for one in (*times, f"{group.count:,}"))
    return f"<tr>{cells}<td><code>{escaped(group.name)}</code>{leads}</td></tr>"


def _kernels(trace: Trace, linker: Linker) -> Iterator[str]:
    example = {kernel.name: kernel for kernel in trace.kernels()}
    if example:
        yield f"<h2>Device kernels</h2>\n{_head('time', 'launches', 'kernel')}"
        for group in gather(trace, "kernel")[:_OPERATORS]:
            answer = linker.kernel_name(example[group.name])
            where = escaped(answer.library or answer.reason)
            if answer.source:
                where = _place(linker.index, answer.source.location)
            yield _row(group, duration(group.own_us), leads=f"<br>{where}")
        yield "</table>\n"


def _place(index: Index, location: Location) -> str:
    address = permalink(index.info, location.path, location.line)
    text = f"<code>{escaped(str(location))}</code>"
    return f'<a href="{escaped(address)}">{text}</a>' if address else text


# --------------------------------------------------------------------------- notebooks


def notebook_html(trace: Trace) -> str:
    """A fragment that stands alone: what ran, when, and what took the time."""
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
