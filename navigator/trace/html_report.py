"""A trace as one HTML file that needs nothing else: where time went, and the source of it."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.model.errors import TorchnavError
from indexes.model.vocabulary import KernelRow, Location
from indexes.queries.index import Index
from indexes.source.source import permalink
from navigator.text.clean import html_text as escaped
from navigator.trace.groups import Group, gather
from navigator.trace.link import Linker
from navigator.trace.model import TraceOp
from navigator.trace.table import OP
from navigator.trace.trace import Trace
from navigator.trace.wording import duration

_OPERATORS = 300
_LINES = 8
_EXCERPT = 14

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
    """The report piece by piece. Everything from the trace and the source is escaped."""
    title = f"torchnav: {trace.meta.path.rpartition('/')[2]}"
    yield _HEAD.format(title=escaped(title))
    yield f"<h1>{escaped(title)}</h1>\n<table>"
    yield from (f"<tr><th>{escaped(k)}<td>{escaped(v)}" for k, v in _facts(trace, linker) if v)
    yield "</table>\n<h2>Operators by the time in themselves</h2>\n<table>"
    yield "<tr><th>own<th>all<th>calls<th>operator"
    first = _examples(trace)
    for group in gather(trace, "operator")[:_OPERATORS]:
        op = first.get(group.name)
        yield from _operator(trace, group, op, linker)
    yield "</table>\n"
    for by, words in (("line", "Lines of the program"), ("module", "Modules")):
        yield from _groups(words, gather(trace, "line" if by == "line" else "module"))
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
    found: dict[str, TraceOp] = {}
    seen: set[int] = set()
    for row in range(len(trace)):
        name = trace.table.name[row]
        if trace.table.kind[row] == OP and name not in seen:
            seen.add(name)
            op = trace.op(row)
            found.setdefault(op.label, op)
    return found


def _operator(trace: Trace, group: Group, op: TraceOp | None, linker: Linker) -> Iterator[str]:
    yield (
        f'<tr><td class="n">{duration(group.own_us)}<td class="n">{duration(group.total_us)}'
        f'<td class="n">{group.count:,}<td><code>{escaped(group.name)}</code>'
    )
    if op is None:
        return
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


def _groups(title: str, groups: list[Group]) -> Iterator[str]:
    yield f"<h2>{escaped(title)}</h2>\n<table><tr><th>own<th>calls<th>"
    for group in groups[: _LINES * 5]:
        yield (
            f'<tr><td class="n">{duration(group.own_us)}<td class="n">{group.count:,}'
            f"<td><code>{escaped(group.name)}</code>"
        )
    yield "</table>\n"


def _kernels(trace: Trace, linker: Linker) -> Iterator[str]:
    groups = gather(trace, "kernel")
    if not groups:
        return
    yield "<h2>Device kernels</h2>\n<table><tr><th>time<th>launches<th>"
    example = {kernel.name: kernel for kernel in trace.kernels()}
    for group in groups[:_OPERATORS]:
        answer = linker.kernel_name(example[group.name])
        where = (
            _place(linker.index, answer.source.location)
            if answer.source
            else escaped(answer.library or answer.reason)
        )
        yield (
            f'<tr><td class="n">{duration(group.own_us)}<td class="n">{group.count:,}'
            f"<td>{where}<br><code>{escaped(group.name)}</code>"
        )
    yield "</table>\n"


def _place(index: Index, location: Location) -> str:
    address = permalink(index.info, location.path, location.line)
    text = f"<code>{escaped(str(location))}</code>"
    return f'<a href="{escaped(address)}">{text}</a>' if address else text
