"""``torchnav trace``: record a program, or compare two recordings."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click

from indexes.model.errors import SourceError, TorchnavError, UsageError
from indexes.source.files import listed, modified
from indexes.source.source import cache_folder
from indexes.source.torch_install import OWN, target_python
from navigator.capture.limits.options import count_of, pattern_of, size_of, steps_of
from navigator.capture.names import expand, rank_of
from navigator.capture.writer import TAIL
from navigator.cli.commands.export_trace import TRACE, check_exists, print_view
from navigator.cli.session import Settings, completed, json_option, pass_settings, say
from navigator.cli.terminal import why_no_screen
from navigator.trace.readers import read_trace
from navigator.trace.views.compare import compare_views

_KEPT = 20
"""Number of unnamed recordings kept in the cache folder."""
_LIMITS = {"steps": steps_of, "only": pattern_of, "max-ops": count_of, "max-size": size_of}
_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=_FILE,
    help="Record to this file, without the screen. %r or {rank}, and {pid}, are replaced; if RANK "
    "is set, the rank is appended.",
)
@click.option("--screen/--no-screen", default=None, help="Follow the program on the screen.")
@click.option("-m", "module", is_flag=True, help="SCRIPT is the name of a module.")
@click.option(
    "--window",
    metavar="SECONDS",
    type=click.FloatRange(min=0.001),
    default=1.0,
    help="How often to write operators; calls are written at once.",
)
@click.option("--memory", is_flag=True, help="Also record allocations.")
@click.option(
    "--children",
    is_flag=True,
    help="Also record the Python processes that the program starts, each in its own file: workers "
    "of DataLoader, multiprocessing, the ranks of `-m torch.distributed.run`.",
)
@click.option(
    "--compile-log/--no-compile-log",
    default=True,
    help="Record what torch.compile produces: graphs, generated kernels and their "
    "operators, graph breaks, guards. Inductor then tracks where each kernel comes from, and "
    "recompiles once what it had cached without that.",
)
@click.option(
    "--steps",
    metavar="A:B",
    help="Record only steps A to B - 1, counted from 0: 10:13, 10: or 7. A step ends with the "
    "Optimizer.step of the optimizer that steps first, or with step() of the program's profiler.",
)
@click.option(
    "--step-name", metavar="NAME", help="Count the record_function blocks of this name as steps."
)
@click.option("--skip", metavar="N", type=click.IntRange(min=0), help="Steps to skip first.")
@click.option(
    "--warmup",
    metavar="N",
    type=click.IntRange(min=0),
    help="Warm-up steps after those, not recorded.",
)
@click.option(
    "--record", metavar="N", type=click.IntRange(min=1), help="Steps to record after that."
)
@click.option(
    "--only",
    metavar="module:PATTERN",
    help="Record only operators in the forward of modules whose path matches: blocks.*.attn.",
)
@click.option("--max-ops", metavar="N", help="Stop recording after N operators and Nodes.")
@click.option(
    "--max-size", metavar="SIZE", help="Stop recording when the file has this size: 100MB."
)
@click.option(
    "--compiled/--no-compiled",
    default=None,
    help="Record with the compiled recorder: a tenth of the overhead, and dispatch keys, but no "
    "device kernels. --compiled builds it first, with a C++ compiler. By default, with a torch "
    "for the CPU alone, the first run builds it in the background and later runs use it.",
)
@click.option(
    "--compare",
    metavar="BEFORE AFTER",
    nargs=2,
    type=TRACE,
    help="Compare two traces of any format by operator, line and module; runs nothing.",
)
@click.option("--full", is_flag=True, help="With --compare: print all rows.")
@json_option
@click.argument(
    "program",
    metavar="SCRIPT [ARGS]...",
    nargs=-1,
    type=click.UNPROCESSED,
    shell_complete=completed("files"),
)
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
    """Run SCRIPT as Python would, and record every operator that it calls.

    Arguments after SCRIPT belong to the program, except `-o FILE` right after SCRIPT if no earlier
    option names a file.
    """
    if compare is not None:
        return _compare(settings, *compare, program, full)
    if full or settings.json:
        raise UsageError("--full and --json are for --compare")
    if not program:
        raise UsageError("no program given: torchnav trace SCRIPT [ARGS]..., or -m MODULE")
    if output is None and screen is None:
        output, program = _output_after_script(program)
    if not module and not os.path.exists(program[0]):
        raise UsageError(f"cannot run {program[0]}: no such file")
    part = _limits(**limits)
    show = output is None and not why_no_screen()
    show = show if screen is None else screen
    pattern = str((output or _cache_file(settings, program[0])).absolute())
    file = _writable(Path(expand(pattern, rank_of(), os.getpid())))
    options = ["--window", str(window)] + ["--memory"] * memory + ["-m"] * module
    options += ["--children"] * children + ["--no-compile-log"] * (not compile_log) + part
    if compiled is not False:
        options += ["--native-folder", str(_native_folder(settings))] + ["--build"] * bool(compiled)
    options += ["--summary"] * (not show)
    out = str(file) if show else pattern
    command = [_interpreter(), _recorder("__main__.py"), "-o", out, *options, "--", *program]
    if show:
        return _follow(settings, file, command)
    if output is None:
        say(f"recording to {file}")
    return _become(command)


def _compare(
    settings: Settings, before: Path, after: Path, program: tuple[str, ...], full: bool
) -> int:
    if program:
        raise UsageError(f"--compare takes two traces and runs nothing: {program[0]}")
    for file in (before, after):
        check_exists(file)
    for number, view in enumerate(compare_views(read_trace(before), read_trace(after))):
        if not settings.json:
            settings.terminal.write([""] * bool(number))
        print_view(settings, view, full)
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
    """The recorder's options for a part of a run."""
    if any(number is not None for number in schedule.values()):
        if steps:
            raise UsageError(
                "--steps replaces --skip, --warmup and --record: give only one of them"
            )
        steps = _steps(**{name: number or 0 for name, number in schedule.items()})
    values = {"steps": steps, "only": only, "max-ops": max_ops, "max-size": max_size}
    try:
        for name, read in _LIMITS.items():
            if values[name] is not None:
                read(str(values[name]))
    except ValueError as error:
        raise UsageError(str(error)) from error
    if step_name and not steps:
        raise UsageError("no steps given: --steps 10:13, or --skip, --warmup and --record")
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
    """The path, after checking that a trace can be written there."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.open("ab").close()
    except OSError as error:
        raise TorchnavError(f"cannot write {file}: {error.strerror}") from error
    return file


def _cache_file(settings: Settings, program: str) -> Path:
    folder = (settings.cache or cache_folder()) / "traces"
    for old in sorted(listed(folder, "*.json"), key=modified)[: -_KEPT + 1]:
        old.unlink(missing_ok=True)
        Path(f"{old}{TAIL}").unlink(missing_ok=True)
    return folder / f"{Path(program).stem}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.json"


def _recorder(name: str) -> str:
    """A file of the recorder, since the program's Python need not have torchnav."""
    return str(Path(__file__).parents[2] / "capture" / name)


def _native_folder(settings: Settings) -> Path:
    """The folder of compiled recorders, one for each torch and Python."""
    return (settings.cache or cache_folder()) / "native"


def _become(command: list[str]) -> int:
    """Replace this process with the program, which gets the terminal, signals and exit status."""
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "posix":
        os.execv(command[0], command)
    return subprocess.call(command)


# ------------------------------------------------------------------------- which Python


def _interpreter() -> str:
    """The Python to run the program with; a named one is not checked."""
    target = target_python()
    if target.torch is None and target.reason == OWN:
        raise SourceError("no Python with torch was found: name one with --python")
    return target.path


# ------------------------------------------------------------------------------ showing


def _follow(settings: Settings, file: Path, command: list[str]) -> int:
    app = importlib.import_module("navigator.tui.trace.app")
    return int(app.follow(file, command, settings.opener()))
