"""``torchnav open`` and ``export trace``: show or export a recording."""

from __future__ import annotations

import importlib
import os
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path

import click

from indexes.model.errors import NotFound, SourceError, TorchnavError, UsageError
from indexes.source.aside import written_over
from indexes.source.clones import clone_of
from indexes.source.files import current_folder, tree_around
from indexes.source.source import cache_folder
from navigator.cli.session import Settings, json_option, pass_settings, say, source_options
from navigator.cli.terminal import why_no_screen
from navigator.text.clean import printable
from navigator.trace.figures.peaks import parse_peak
from navigator.trace.html_report import html_report
from navigator.trace.link import Linker
from navigator.trace.markdown import op_markdown
from navigator.trace.readers.replays import read_with_captures
from navigator.trace.rows import trace_rows
from navigator.trace.summary import summary_lines
from navigator.trace.trace import Trace
from navigator.trace.versions import schema_index, source_line
from navigator.trace.views import VIEWS, Planner, View, view_lines
from navigator.trace.views.flops import flops_view
from navigator.trace.writers.chrome import write_chrome

_VIEW_ROWS = 40
"""Rows of a view printed without --full."""
_FILE = click.Path(dir_okay=False, path_type=Path)
TRACE = click.Path(path_type=Path)

_captures = click.option(
    "--capture",
    "captures",
    metavar="FILE",
    multiple=True,
    type=TRACE,
    help="A trace that captured the CUDA or HIP graphs that are replayed in this one: replayed "
    "kernels get the operators that launched them there. Repeatable.",
)


@click.command("open")
@click.argument("file", type=TRACE)
@_captures
@source_options
@pass_settings
def open_(settings: Settings, file: Path, captures: tuple[Path, ...]) -> int:
    """Show a recorded trace.

    FILE is a trace of torchnav, a Chrome trace of torch.profiler, an ExecutionTrace, a memory
    snapshot, a torch.compile log (the folder that TORCH_TRACE names), an export of Nsight Systems
    (nsys export --type sqlite) or a report of Nsight Compute (ncu --csv); the last two have device
    work only. The format is detected from the content. Files can be compressed with gzip, zstd or
    tar.
    """
    for one in (file, *captures):
        check_exists(one)
    if reason := why_no_screen():
        raise UsageError(f"{reason}, use `torchnav export trace`")
    app = importlib.import_module("navigator.tui.trace.app")
    return int(app.show(file, settings.opener(), captures))


@click.command("trace")
@click.argument("file", type=TRACE)
@_captures
@click.option(
    "--html", "report", metavar="FILE", type=_FILE, help="Write a self-contained HTML report."
)
@click.option(
    "--markdown",
    "row",
    metavar="ID",
    type=int,
    help="Print one operator, by its id in the JSON, as Markdown for an issue.",
)
@click.option("--op", "name", metavar="NAME", help="Only this operator: mylib::scale, add.Tensor.")
@click.option(
    "--chrome",
    metavar="FILE",
    type=_FILE,
    help="Write a Chrome trace for Perfetto and chrome://tracing; .json.gz compresses it.",
)
@click.option(
    "--view",
    metavar="VIEW",
    help="A table: operator, module, line, kernel, steps, flops, idle, critical, memory ... "
    "An unknown name lists them all.",
)
@click.option("--full", is_flag=True, help="Print all rows of the view.")
@click.option(
    "--peak",
    metavar="DTYPE=TFLOPS,...",
    help="For --view flops, the device's peak: bfloat16=989,tf32=494,bandwidth=3350 (GB/s).",
)
@json_option
@pass_settings
def export_trace(
    settings: Settings,
    file: Path,
    captures: tuple[Path, ...],
    report: Path | None,
    row: int | None,
    name: str | None,
    chrome: Path | None,
    view: str | None,
    full: bool,
    peak: str | None,
) -> None:
    """Export every operator, Node, call, device kernel and allocation of a trace, linked to source.

    With --json, prints one object a line (see docs/json.md); without, a summary, or with --op the
    first call of the operator.
    """
    for one in (file, *captures):
        check_exists(one)
    trace, joined = read_with_captures(file, captures)
    if joined is not None:
        say(str(joined))
    if report is not None:
        _write_report(linker_of(settings, trace), trace, report)
    elif chrome is not None:
        _write_chrome(trace, chrome)
    elif row is not None:
        _write_markdown(settings, linker_of(settings, trace), trace, row)
    elif view is not None:
        _write_view(settings, trace, view, full, peak)
    elif settings.json:
        for problem in trace.meta.problems:
            say(problem)
        _write_rows(settings, linker_of(settings, trace), trace, name)
    elif name is not None:
        _write_markdown(settings, linker_of(settings, trace), trace, _calls(trace, name)[0])
    else:
        settings.terminal.write(summary_lines(trace, _sources(settings, trace)), held=True)


def linker_of(settings: Settings, trace: Trace) -> Linker:
    """Links the trace with the source nearest to the torch that ran."""
    index = _nearest(settings, trace).index()
    return Linker(trace, index, schema_index(trace, index, settings.cache))


def _linker_or_none(settings: Settings, trace: Trace) -> Linker | None:
    """None, and one line on stderr, if there is no source of PyTorch."""
    try:
        return linker_of(settings, trace)
    except SourceError as error:
        say(f"no links to source: {error}")
        return None


def _nearest(settings: Settings, trace: Trace) -> Settings:
    """The settings, with the clone of the torch that ran unless a tree is given or found."""
    if settings.tree or os.environ.get("TORCHNAV_CHECKOUT") or tree_around(current_folder()):
        return settings
    clone = clone_of(trace.meta.torch_git, settings.cache or cache_folder())
    return replace(settings, tree=str(clone.root)) if clone else settings


def _sources(settings: Settings, trace: Trace) -> str:
    try:
        return source_line(trace.meta, _nearest(settings, trace).source().info)
    except SourceError as error:
        return f"none: {error}"


def _write_rows(settings: Settings, linker: Linker, trace: Trace, name: str | None) -> None:
    ids = None if name is None else frozenset(_calls(trace, name))
    for row in trace_rows(trace, linker):
        if ids is None or row["op_id" if "op_id" in row else "id"] in ids:
            settings.write(row)


def _write_view(settings: Settings, trace: Trace, name: str, full: bool, peak: str | None) -> None:
    if name not in VIEWS:
        raise UsageError(f"no view {name}; there are {', '.join(VIEWS)}")
    maker = VIEWS[name] if peak is None else _with_peak(name, peak)
    print_view(settings, maker(trace, partial(_linker_or_none, settings, trace)), full)


def print_view(settings: Settings, view: View, full: bool) -> None:
    """Prints a table as text, or one JSON object a row."""
    if not settings.json:
        settings.terminal.write(view_lines(view, None if full else _VIEW_ROWS), held=True)
        return
    for note in view.notes:
        say(note)
    settings.write_rows(view.rows)


def _with_peak(name: str, peak: str) -> Planner:
    if name != "flops":
        raise UsageError("--peak is for --view flops")
    try:
        return partial(flops_view, peak=parse_peak(peak))
    except ValueError as error:
        raise UsageError(f"--peak: {error}") from error


def _calls(trace: Trace, name: str) -> list[int]:
    """The rows of an operator, with or without its overload.

    Raises:
        NotFound: It did not run; suggests operators that did.
    """
    names: dict[str, list[int]] = {}
    for op in trace.ops():
        if op.kind in ("op", "region"):
            for one in {op.name, op.label, op.full_name, op.name.removeprefix("aten::")}:
                names.setdefault(one, []).append(op.id)
    if name not in names:
        near = ", ".join(get_close_matches(name, names, 3))
        raise NotFound(f"the trace has no {name}" + (f"; near: {near}" if near else ""))
    return names[name]


def _write_report(linker: Linker, trace: Trace, report: Path) -> None:
    try:
        with (
            written_over(report) as part,
            part.open("w", encoding="utf-8", errors="replace") as file,
        ):
            file.writelines(f"{printable(piece)}\n" for piece in html_report(trace, linker))
    except OSError as error:
        raise TorchnavError(f"cannot write {report}: {error.strerror}") from error


def _write_chrome(trace: Trace, path: Path) -> None:
    try:
        count = write_chrome(trace, path)
    except OSError as error:
        raise TorchnavError(f"cannot write {path}: {error.strerror}") from error
    say(f"{path}: {count} events for Perfetto (ui.perfetto.dev) and chrome://tracing")


def _write_markdown(settings: Settings, linker: Linker, trace: Trace, row: int) -> None:
    if not 0 <= row < len(trace):
        raise NotFound(f"the trace has no row {row}")
    settings.terminal.write(op_markdown(trace, trace.op(row), linker).splitlines())


def check_exists(file: Path) -> None:
    """Raises UsageError if there is no such file."""
    try:
        file.stat()
    except OSError as error:
        known = isinstance(error, FileNotFoundError)
        raise UsageError(
            f"no such file: {file}" if known else f"cannot read {file}: {error.strerror}"
        ) from error
