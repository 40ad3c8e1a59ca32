"""``torchnav trace``, ``open`` and ``export trace``: record a program, look at a recording."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexes.model.errors import NotFound, SourceError, TorchnavError, UsageError
from indexes.source.torch_install import OWN, target_python
from navigator.capture.limits.options import count_of, pattern_of, size_of, steps_of
from navigator.capture.names import expand, rank_of
from navigator.capture.tail import SUFFIX
from navigator.cli.session import (
    Settings,
    json_option,
    pass_settings,
    say,
    source_options,
    write_json,
    write_lines,
)
from navigator.live.asking import ask

if TYPE_CHECKING:
    from navigator.trace.link import Linker
    from navigator.trace.trace import Trace
    from navigator.trace.views import Maker, View

_KEPT = 20
"""How many recordings without a name stay in the cache folder."""
_VIEW_ROWS = 40
"""Rows of a view that are printed without --full."""
_LIMITS = {"steps": steps_of, "only": pattern_of, "max-ops": count_of, "max-size": size_of}
_FILE = click.Path(dir_okay=False, path_type=Path)
_TRACE = click.Path(path_type=Path)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=_FILE,
    help="Record here, without a screen. %r or {rank}, and {pid}, are filled in; where RANK is set "
    "it is appended.",
)
@click.option("--screen/--no-screen", default=None, help="Follow the program on the screen.")
@click.option("-m", "module", is_flag=True, help="SCRIPT is the name of a module.")
@click.option(
    "--window",
    metavar="SECONDS",
    type=click.FloatRange(min=0.001),
    default=1.0,
    help="How often operators are written; calls are written at once.",
)
@click.option("--memory", is_flag=True, help="Record allocations too.")
@click.option(
    "--children",
    is_flag=True,
    help="Record the Pythons that it starts too, each into a file of its own: workers of "
    "DataLoader, multiprocessing, the ranks of `-m torch.distributed.run`.",
)
@click.option(
    "--compile-log/--no-compile-log",
    default=True,
    help="Record what torch.compile makes of the program: graphs, generated kernels and their "
    "operators, graph breaks, guards. Inductor keeps where each kernel comes from then, and with "
    "that compiles anew, once, what its cache holds without it.",
)
@click.option(
    "--steps",
    metavar="A:B",
    help="Record steps A to B - 1 alone, counted from 0: 10:13, 10: or 7. A step ends with the "
    "Optimizer.step of the optimizer that steps first, or with step() of the program's profiler.",
)
@click.option(
    "--step-name", metavar="NAME", help="A step is a record_function block of this name instead."
)
@click.option("--skip", metavar="N", type=click.IntRange(min=0), help="Steps to run unrecorded.")
@click.option(
    "--warmup", metavar="N", type=click.IntRange(min=0), help="Steps after those, unrecorded too."
)
@click.option(
    "--record", metavar="N", type=click.IntRange(min=1), help="Steps to record after those."
)
@click.option(
    "--only",
    metavar="module:PATTERN",
    help="Record operators in the forward of modules alone whose path matches, as blocks.*.attn.",
)
@click.option("--max-ops", metavar="N", help="Stop to record after so many operators.")
@click.option("--max-size", metavar="SIZE", help="Stop to record at a file of this size: 100MB.")
@click.option(
    "--compiled/--no-compiled",
    default=None,
    help="Record with the compiled recorder: a tenth of the overhead, dispatch keys; no device "
    "kernels. --compiled builds it now, with a C++ compiler; by default the first "
    "run has it built in the background and later ones use it, with a torch that was built without "
    "devices.",
)
@click.option(
    "--compare",
    metavar="BEFORE AFTER",
    nargs=2,
    type=_TRACE,
    help="Run nothing: how two traces of any format differ by operator, line and module.",
)
@click.option("--full", is_flag=True, help="With --compare, all rows.")
@json_option
@click.argument("program", metavar="SCRIPT [ARGS]...", nargs=-1, type=click.UNPROCESSED)
@pass_settings
def trace(
    settings: Settings,
    /,
    compare: tuple[Path, Path] | None,
    full: bool,
    output: Path | None,
    screen: bool | None,
    module: bool,
    window: float,
    memory: bool,
    children: bool,
    compile_log: bool,
    compiled: bool | None,
    program: tuple[str, ...],
    **limits: Any,
) -> int:
    """Run SCRIPT as Python would and record every operator that it calls.

    Everything after SCRIPT is the program's, but for a `-o FILE` right after it when no
    option before it says where to record.
    """
    if compare is not None:
        return _compare(settings, *compare, program, full)
    if full or settings.json:
        raise UsageError("--full and --json are for --compare")
    if not program:
        raise UsageError("which program? torchnav trace SCRIPT [ARGS]..., or -m MODULE")
    if output is None and screen is None:
        output, program = _output_after_script(program)
    if not module and not os.path.exists(program[0]):
        raise UsageError(f"cannot run {program[0]}: no such file")
    part = _limits(**limits)
    show = output is None and sys.stdin.isatty() and sys.stdout.isatty()
    show = show if screen is None else screen
    pattern = str((output or _cache_file(settings, program[0])).absolute())
    file = _writable(Path(expand(pattern, rank_of(), os.getpid())))
    options = ["--window", str(window)] + ["--memory"] * memory + ["-m"] * module
    options += ["--children"] * children + ["--no-compile-log"] * (not compile_log) + part
    chosen = _interpreter()
    if compiled is None:
        options += ["--native-folder", str(_native_folder(settings))]
    elif compiled:
        options += _native(settings, chosen)
    options += ["--summary"] * (not show)
    out = str(file) if show else pattern
    command = [chosen, _recorder("__main__.py"), "-o", out, *options, "--", *program]
    if show:
        return _follow(settings, file, command)
    if output is None:
        say(f"recording to {file}")
    return _become(command)


def _compare(
    settings: Settings, before: Path, after: Path, program: tuple[str, ...], full: bool
) -> int:
    from navigator.trace.readers import read_trace
    from navigator.trace.views.compare import compare_views

    if program:
        raise UsageError(f"--compare takes two traces and runs nothing: {program[0]}")
    for file in (before, after):
        _check_exists(file)
    for number, view in enumerate(compare_views(read_trace(before), read_trace(after))):
        if not settings.json:
            write_lines([""] * bool(number))
        _print_view(settings, view, full)
    return 0


def _limits(
    *,
    steps: str | None = None,
    step_name: str | None = None,
    only: str | None = None,
    max_ops: str | None = None,
    max_size: str | None = None,
    **schedule: int | None,
) -> list[str]:
    """What is recorded, as options of the recorder."""
    if any(number is not None for number in schedule.values()):
        if steps:
            raise UsageError("--steps says it all: leave out --skip, --warmup and --record")
        steps = _steps(**{name: number or 0 for name, number in schedule.items()})
    values = {"steps": steps, "only": only, "max-ops": max_ops, "max-size": max_size}
    try:
        for name, read in _LIMITS.items():
            if values[name] is not None:
                read(str(values[name]))
    except ValueError as error:
        raise UsageError(str(error)) from error
    if step_name and not steps:
        raise UsageError("which steps? --steps 10:13, or --skip, --warmup and --record")
    values["step-name"] = step_name
    return [f"--{name}={value}" for name, value in values.items() if value is not None]


def _steps(skip: int, warmup: int, record: int) -> str:
    first = skip + warmup
    return f"{first}:{first + record}" if record else f"{first}:"


def _output_after_script(program: tuple[str, ...]) -> tuple[Path | None, tuple[str, ...]]:
    if len(program) > 2 and program[1] in ("-o", "--output"):
        return Path(program[2]), (program[0], *program[3:])
    return None, program


def _writable(file: Path) -> Path:
    """The path, once it is sure that a trace can be written there."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.open("ab").close()
    except OSError as error:
        raise TorchnavError(f"cannot write {file}: {error.strerror}") from error
    return file


def _cache_file(settings: Settings, program: str) -> Path:
    from indexes.source.source import cache_folder

    folder = (settings.cache or cache_folder()) / "traces"
    for old in sorted(folder.glob("*.json"), key=lambda f: f.stat().st_mtime)[: -_KEPT + 1]:
        old.unlink(missing_ok=True)
        Path(f"{old}{SUFFIX}").unlink(missing_ok=True)
    return folder / f"{Path(program).stem}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.json"


def _recorder(name: str) -> str:
    """The recorder as a file: the program's Python need not have torchnav."""
    return str(Path(__file__).parents[2] / "capture" / name)


def _native(settings: Settings, python: str) -> list[str]:
    """The option that names the compiled recorder, built if need be; none where it cannot be."""
    folder = _native_folder(settings)
    if not folder.exists():
        say("building the compiled recorder, once")
    try:
        return ["--native", ask(python, _recorder("build.py"), str(folder))]
    except SourceError as error:
        say(f"{error}; recording without it")
        return []


def _native_folder(settings: Settings) -> Path:
    """Where compiled recorders are, one for each torch and Python."""
    from indexes.source.source import cache_folder

    return (settings.cache or cache_folder()) / "native"


def _become(command: list[str]) -> int:
    """Let the program have this process: its terminal, its signals and its exit status."""
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "posix":
        os.execv(command[0], command)
    return subprocess.call(command)


# ------------------------------------------------------------------------- which Python


def _interpreter() -> str:
    """The Python to run a program with. One that was named is believed."""
    target = target_python()
    if target.torch is None and target.reason == OWN:
        raise SourceError("no Python with torch was found: name one with --python")
    return target.path


# ------------------------------------------------------------------------------ showing


def _follow(settings: Settings, file: Path, command: list[str]) -> int:
    import importlib

    app = importlib.import_module("navigator.tui.trace.app")
    return int(app.follow(file, command, settings.opener()))


_captures = click.option(
    "--capture",
    "captures",
    metavar="FILE",
    multiple=True,
    type=_TRACE,
    help="Another trace, in which the graphs (CUDA, HIP) that this one replays were captured: its "
    "kernels get the operators that launched them there. May be given several times.",
)


@click.command("open")
@click.argument("file", type=_TRACE)
@_captures
@source_options
@pass_settings
def open_(settings: Settings, file: Path, captures: tuple[Path, ...]) -> int:
    """Show a recorded trace: torchnav's own, a Chrome trace of torch.profiler, an ExecutionTrace,
    a memory snapshot, or what torch.compile made of a program: the folder that TORCH_TRACE named.

    Device work alone is read from an export of Nsight Systems (nsys export --type sqlite) and a
    report of Nsight Compute (ncu --csv). What a file is, its content says: it may be packed by
    gzip, zstd or tar, under any name.
    """
    import importlib

    for one in (file, *captures):
        _check_exists(one)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the screen needs a terminal; in a pipe, use `torchnav export trace`")
    app = importlib.import_module("navigator.tui.trace.app")
    return int(app.show(file, settings.opener(), captures))


@click.command("trace")
@click.argument("file", type=_TRACE)
@_captures
@click.option(
    "--html",
    "report",
    metavar="FILE",
    type=_FILE,
    help="Write a report that needs nothing else to be read.",
)
@click.option(
    "--markdown",
    "row",
    metavar="ID",
    type=int,
    help="One operator, by the id of its JSON, for pasting into an issue.",
)
@click.option("--op", "name", metavar="NAME", help="Only one operator: mylib::scale, add.Tensor.")
@click.option(
    "--chrome",
    metavar="FILE",
    type=_FILE,
    help="Write it as a plain Chrome trace for Perfetto and chrome://tracing; packed as .json.gz.",
)
@click.option(
    "--view",
    metavar="VIEW",
    help="A table: operator, module, line, kernel, steps, flops, idle, critical, memory ... "
    "A name that is none lists them all.",
)
@click.option("--full", is_flag=True, help="All rows of the view.")
@click.option(
    "--peak",
    metavar="DTYPE=TFLOPS,...",
    help="For --view flops, what the device can do: bfloat16=989,tf32=494,bandwidth=3350 (GB/s).",
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
    """Every operator, Node, call, device kernel and allocation of a trace, linked to its source.

    With --json one object a line, by the contract in docs/json.md; without, a summary, and of one
    operator its first call.
    """
    from navigator.trace.readers.replays import read_with_captures

    for one in (file, *captures):
        _check_exists(one)
    trace, joined = read_with_captures(file, captures)
    if joined is not None:
        say(str(joined))
    if report is not None:
        _write_report(_linker(settings, trace), trace, report)
    elif chrome is not None:
        _write_chrome(trace, chrome)
    elif row is not None:
        _write_markdown(_linker(settings, trace), trace, row)
    elif view is not None:
        _write_view(settings, trace, view, full, peak)
    elif settings.json:
        for problem in trace.meta.problems:
            say(problem)
        _write_rows(_linker(settings, trace), trace, name)
    elif name is not None:
        _write_markdown(_linker(settings, trace), trace, _calls(trace, name)[0])
    else:
        from navigator.trace.summary import summary_lines

        write_lines(summary_lines(trace, _sources(settings, trace)))


def _linker(settings: Settings, trace: Trace) -> Linker:
    from navigator.trace.link import Linker, schema_index

    index = _nearest(settings, trace).index()
    return Linker(trace, index, schema_index(trace, index, settings.cache))


def _linker_or_none(settings: Settings, trace: Trace) -> Linker | None:
    """None without a source of PyTorch, with one line that says why."""
    try:
        return _linker(settings, trace)
    except SourceError as error:
        say(f"no links to source: {error}")
        return None


def _nearest(settings: Settings, trace: Trace) -> Settings:
    """The settings with the clone of the torch that ran, where no tree is named or around us."""
    from indexes.source.source import clone_of, tree_around

    if settings.tree or os.environ.get("TORCHNAV_CHECKOUT") or tree_around(os.getcwd()):
        return settings
    clone = clone_of(trace.meta.torch_git, settings.cache)
    return replace(settings, tree=str(clone.root)) if clone else settings


def _sources(settings: Settings, trace: Trace) -> str:
    from navigator.trace.link import source_line

    try:
        return source_line(trace.meta, _nearest(settings, trace).source().info)
    except SourceError as error:
        return f"none: {error}"


def _write_rows(linker: Linker, trace: Trace, name: str | None) -> None:
    from navigator.trace.rows import trace_rows

    ids = None if name is None else frozenset(_calls(trace, name))
    for row in trace_rows(trace, linker):
        if ids is None or row["op_id" if "op_id" in row else "id"] in ids:
            write_json(row)


def _write_view(settings: Settings, trace: Trace, name: str, full: bool, peak: str | None) -> None:
    from navigator.trace.views import VIEWS

    if name not in VIEWS:
        raise UsageError(f"no view {name}; there are {', '.join(VIEWS)}")
    maker = VIEWS[name] if peak is None else _with_peak(name, peak)
    _print_view(settings, maker(trace, partial(_linker_or_none, settings, trace)), full)


def _print_view(settings: Settings, view: View, full: bool) -> None:
    from navigator.trace.views import view_lines

    if not settings.json:
        write_lines(view_lines(view, None if full else _VIEW_ROWS))
        return
    for note in view.notes:
        say(note)
    for row in view.rows:
        write_json(row)


def _with_peak(name: str, peak: str) -> Maker:
    from navigator.trace.figures.peaks import parse_peak
    from navigator.trace.views.flops import flops_view

    if name != "flops":
        raise UsageError("--peak is for --view flops")
    try:
        return partial(flops_view, peak=parse_peak(peak))
    except ValueError as error:
        raise UsageError(f"--peak: {error}") from error


def _calls(trace: Trace, name: str) -> list[int]:
    """The rows of an operator, with its overload or without.

    Raises:
        NotFound: It did not run; the message names those that did.
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
    from navigator.text.clean import printable
    from navigator.trace.html_report import html_report

    try:
        with report.open("w", encoding="utf-8", errors="replace") as file:
            file.writelines(f"{printable(piece)}\n" for piece in html_report(trace, linker))
    except OSError as error:
        raise TorchnavError(f"cannot write {report}: {error.strerror}") from error


def _write_chrome(trace: Trace, path: Path) -> None:
    from navigator.trace.writers.chrome import write_chrome

    try:
        count = write_chrome(trace, path)
    except OSError as error:
        raise TorchnavError(f"cannot write {path}: {error.strerror}") from error
    say(f"{path}: {count} events for Perfetto (ui.perfetto.dev) and chrome://tracing")


def _write_markdown(linker: Linker, trace: Trace, row: int) -> None:
    from navigator.trace.markdown import op_markdown

    if not 0 <= row < len(trace):
        raise NotFound(f"the trace has no row {row}")
    write_lines(op_markdown(trace, trace.op(row), linker).splitlines())


def _check_exists(file: Path) -> None:
    if not file.exists():
        raise UsageError(f"no such file: {file}")
