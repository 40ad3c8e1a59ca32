"""Runs the user's program as Python would, and starts recording when it imports torch."""

from __future__ import annotations

import argparse
import atexit
import faulthandler
import importlib.abc
import importlib.machinery
import importlib.util
import io
import os
import pkgutil
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .hiding.tracebacks import hide_from_uncaught
from .limits.options import Limits, count_of, pattern_of, size_of, steps_of
from .run import Run, is_helper
from .writer import TraceFile, metadata

if TYPE_CHECKING:
    from .session import Session

_HERE = os.path.dirname(os.path.abspath(__file__))


def main(arguments: Sequence[str]) -> None:
    """The recorder's command line. Ends as the program ends."""
    options = _parser().parse_args(arguments)
    try:
        _limits(options)
    except ValueError as error:
        _parser().error(str(error))
    program = options.program[options.program[:1] == ["--"] :]
    if not program:
        _parser().error("no program given: name a script, or -m and a module")
    command = (["-m"] if options.module else []) + program
    as_module = options.module
    del options.program, options.module  # the rest is shared by the run's processes
    options.out = os.path.abspath(options.out)
    started = Run(options)
    file = started.open(command)
    started.set_child_environment()
    on_torch_import(lambda: _record(started, file))
    if options.summary:
        atexit.register(_report_without_torch, file)
    try:
        run(program, as_module)
    except Exception as error:
        _record_error(file, error)
        raise


def _record_error(file: TraceFile, error: Exception) -> None:
    """Record the error that ends the program, if it concerns torch."""
    torch = sys.modules.get("torch")
    if torch is not None:
        from .rows.error import error_line

        file.write_unlimited([error_line(error, torch)])


def _report_without_torch(file: TraceFile) -> None:
    if "torch" not in sys.modules:
        file.say("the program did not import torch: nothing was recorded")


def begin_child() -> None:
    """Record this Python if it was started by a program whose children are recorded."""
    started = Run.inherited()
    if started is not None:
        started.set_child_environment()
        on_torch_import(lambda: _record_child(started))


def _record_child(run: Run) -> None:
    command = getattr(sys, "orig_argv", sys.argv)[1:]
    if not is_helper(command):
        _record(run, run.open(command))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="capture", description="Record a program's torch calls.")
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help="%%r, {rank}, {pid}")
    parser.add_argument("--children", action="store_true", help="record what it starts too")
    parser.add_argument("--window", type=float, default=1.0, metavar="SECONDS")
    parser.add_argument("--memory", action="store_true", help="record allocations too")
    parser.add_argument("--no-compile-log", dest="compile_log", action="store_false")
    parser.add_argument("--steps", default="", metavar="A:B", help="record steps A to B - 1")
    parser.add_argument("--step-name", default="", metavar="NAME", help="of record_function")
    parser.add_argument("--only", default="", metavar="module:PATTERN", help="in these modules")
    parser.add_argument("--max-ops", default="", metavar="N", help="end after N operators, Nodes")
    parser.add_argument("--summary", action="store_true", help="say at the end what there is")
    parser.add_argument("--max-size", default="", metavar="SIZE", help="end at 100MB")
    parser.add_argument("--native", metavar="LIBRARY", help="record with the compiled recorder")
    parser.add_argument("--native-folder", metavar="FOLDER", help="use it if it is built in here")
    parser.add_argument("--build", action="store_true", help="build it in there first")
    parser.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    return parser


def _record(run: Run, file: TraceFile) -> None:
    """Start recording. With an unsupported torch, the program runs unrecorded."""
    try:
        _install(run, file)
    except Exception as error:  # noqa: BLE001 -- whatever that torch does otherwise
        version = getattr(sys.modules["torch"], "__version__", "")
        message = f"torch {version} cannot be recorded: {type(error).__name__}: {error}"
        file.write_unlimited([metadata("problem", {"message": message}, os.getpid())])
        file.say(message)


def _install(run: Run, file: TraceFile) -> None:
    from .process import Guard

    if not run.parent:
        run.remark = _build(run.options, file) if run.options.build else _begin(run.options)
    Guard(run, file, lambda file: _start(run.options, file)).install()


def _start(options: argparse.Namespace, file: TraceFile) -> Session:
    limits = _limits(options)
    file.limit = limits.size
    recorder = recorder_for(options, file, limits)
    recorder.compile_texts = options.compile_log
    recorder.start()
    return recorder


def recorder_for(options: argparse.Namespace, file: TraceFile, limits: Limits) -> Session:
    """The compiled recorder if it is requested or built, else the one that needs no compiler. Uses
    the options ``native``, ``native_folder``, ``memory`` and ``window``."""
    from .recorder import Recorder

    library = options.native or _built(options)
    recorder = _compiled(library, file, limits, options.memory) if library else None
    return recorder or Recorder(file, limits, window_s=options.window, memory=options.memory)


def _built(options: argparse.Namespace) -> str | None:
    """The compiled recorder for this torch, if it is built and suitable."""
    import torch

    from .build import Torch, library_path

    if not _wants_compiled(options):
        return None
    path = library_path(options.native_folder, Torch.of(torch))
    return path if os.path.exists(path) else None


def _wants_compiled(options: argparse.Namespace) -> bool:
    """Whether the compiled recorder would record as much as the profiler: it does not record
    devices. Asking CUDA for devices would break the program's forks, so nothing is probed."""
    from .devices import is_built_for_devices

    return bool(options.native_folder) and (options.build or not is_built_for_devices())


def _build(options: argparse.Namespace, file: TraceFile) -> str:
    """Build the compiled recorder before the program goes on. Returns why it is missing."""
    import torch

    from .build import BuildError, Torch, build

    if not _built(options):
        file.say("building the compiled recorder, once")
    try:
        build(options.native_folder, Torch.of(torch))
    except (BuildError, OSError) as error:
        return f"the compiled recorder could not be built: {error}; recorded without it"
    return ""


def _begin(options: argparse.Namespace) -> str:
    """Start building the compiled recorder if it would be the default; returns a message."""
    import torch

    from .build import Torch, begin_to_build

    if options.native or not _wants_compiled(options) or _built(options):
        return ""
    return begin_to_build(options.native_folder, Torch.of(torch))


def _limits(options: argparse.Namespace) -> Limits:
    """The part of the run that the options select. Raises ValueError."""
    limits = Limits(step=options.step_name)
    if options.steps:
        first, last = steps_of(options.steps)
        limits = limits._replace(first=first, last=last)
    if options.only:
        limits = limits._replace(only=pattern_of(options.only))
    if options.max_ops:
        limits = limits._replace(operators=count_of(options.max_ops))
    if options.max_size:
        limits = limits._replace(size=size_of(options.max_size))
    return limits


def _compiled(path: str, file: TraceFile, limits: Limits, memory: bool) -> Any:
    """The compiled recorder; None, and a note in the trace, if it cannot be loaded."""
    from .compiled import CompiledRecorder, load

    native = load(path)
    if native is not None and not native.is_recording():
        return CompiledRecorder(file, native, limits, memory)
    why = "could not be loaded" if native is None else "is recording this process already"
    note = f"the compiled recorder {why}: the other one was used"
    file.write([metadata("problem", {"message": note}, os.getpid())])
    return None


# ------------------------------------------------------------------------ running it


def run(program: Sequence[str], as_module: bool = False) -> None:
    """Run a script, a folder or zip file with ``__main__.py``, or a module."""
    sys.argv[:] = program
    main_module = _fresh_main()
    try:
        if as_module:
            _set_first_path(os.getcwd())
            runpy._run_module_as_main(program[0])  # type: ignore[attr-defined]
        elif pkgutil.get_importer(program[0]) is not None and not os.path.isfile(program[0]):
            _run_container(program[0])
        else:
            _run_script(program[0], main_module)
    except SystemExit:
        raise
    except BaseException:
        hide_from_uncaught()
        raise


def _fresh_main() -> ModuleType:
    module = ModuleType("__main__")
    module.__builtins__ = sys.modules["builtins"]  # type: ignore[attr-defined]
    module.__annotations__ = {}
    sys.modules["__main__"] = module
    return module


def _run_container(path: str) -> None:
    sys.path[0] = path
    runpy._run_module_as_main("__main__", False)  # type: ignore[attr-defined]


def _run_script(path: str, module: ModuleType) -> None:
    absolute = os.path.abspath(path)
    _set_first_path(os.path.dirname(os.path.realpath(path)))
    module.__file__ = absolute
    module.__loader__ = importlib.machinery.SourceFileLoader("__main__", absolute)
    module.__dict__["__cached__"] = None
    exec(_code(absolute), module.__dict__)


def _code(path: str) -> Any:
    with io.open_code(path) as file:
        compiled = pkgutil.read_code(file)
    if compiled is not None:
        return compiled
    with io.open_code(path) as file:
        return compile(file.read(), path, "exec", dont_inherit=True)


def _set_first_path(folder: str) -> None:
    """``sys.path[0]`` is our own folder; a safe path has no such entry."""
    if getattr(sys.flags, "safe_path", False):
        return
    if sys.path and os.path.abspath(sys.path[0] or ".") == _HERE:
        sys.path[0] = folder
    else:
        sys.path.insert(0, folder)


# --------------------------------------------------------------------- waiting for torch


class _TorchFinder(importlib.abc.MetaPathFinder):
    """Lets ``import torch`` proceed as usual, then calls back once.

    We do not import torch: environment variables that the program sets before its own import must
    take effect.
    """

    def __init__(self, then: Callable[[], None]) -> None:
        self._then = then

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        if spec is not None and spec.loader is not None:
            self._wrap(spec.loader)
        return spec

    def _wrap(self, loader: Any) -> None:
        original = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module
            with _faulthandler_enabled():
                original(module)
            self._then()

        loader.exec_module = exec_module


@contextmanager
def _faulthandler_enabled() -> Iterator[None]:
    """If a torch built for another machine crashes the process, Python says where."""
    enabled = faulthandler.is_enabled()
    if not enabled:
        faulthandler.enable(file=2, all_threads=False)
    try:
        yield
    finally:
        if not enabled:
            faulthandler.disable()


def on_torch_import(then: Callable[[], None]) -> None:
    """Call ``then`` when the program has imported torch."""
    sys.meta_path.insert(0, _TorchFinder(then))
