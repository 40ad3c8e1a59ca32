"""One run of a program and its processes: who is recorded, and into which file."""

from __future__ import annotations

import argparse
import functools
import glob
import json
import os
import shlex
import shutil
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .names import any_process, expand, rank_of, with_suffix
from .writer import TraceFile, metadata

if TYPE_CHECKING:
    from types import FrameType

VARIABLE = "TORCHNAV_CHILDREN"
"""Tells the Pythons that the program starts how to record themselves."""
_CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child")
_NAMED = 4
"""How many files of children the closing line names."""


class Run:
    """What a process has to know to record itself beside the others of its run."""

    def __init__(
        self, options: argparse.Namespace, since: float | None = None, parent: str = ""
    ) -> None:
        self.options = options
        """Those of the recorder's command line; ``out`` is a pattern, see ``names.expand``."""
        self.since = time.time() if since is None else since
        """When the run began, in seconds of the epoch: its files are not written over."""
        self.parent = parent
        """The name of the process that started this one; empty in the first."""
        self.name = expand(options.out, rank_of(), os.getpid())
        """The path that the pattern stands for here. Processes without a rank may share it."""
        self._folder = os.path.dirname(self.name) if parent else os.getcwd()
        """Where the user is."""
        self.missed = 0
        """Processes that were started and are not recorded."""
        self.remark = ""
        """What else the first process says at its end."""

    @property
    def follows(self) -> bool:
        """Whether children are recorded too."""
        return bool(self.options.children)

    @staticmethod
    def inherited() -> Run | None:
        """The run of the process that started this one; None when it is not followed."""
        try:
            told = json.loads(os.environ.get(VARIABLE, ""))
            return Run(argparse.Namespace(**told["options"]), told["since"], told["parent"])
        except (ValueError, TypeError, KeyError):
            return None

    def forked(self) -> Run:
        """The run as a forked child goes on with it."""
        child = Run(self.options, self.since, self.name)
        child.set_child_environment()
        return child

    def set_child_environment(self) -> None:
        """Put into the environment what the Pythons need that this process will start."""
        if not self.follows:
            return
        told = {"options": vars(self.options), "since": self.since, "parent": self.name}
        os.environ[VARIABLE] = json.dumps(told)
        paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        rest = [path for path in paths if path and path != _CHILD]
        os.environ["PYTHONPATH"] = os.pathsep.join([_CHILD, *rest])

    def open(self, command: Sequence[str]) -> TraceFile:
        """The file of this process, begun with what it runs. Raises OSError."""
        path = self.name
        if path == self.parent:
            path = with_suffix(path, str(os.getpid()))
        file = TraceFile(path, self.since if self.parent else None)
        if file.path != path:
            file.say(f"another process writes {path}: recording to {file.path}")
        told: dict[str, Any] = {"command": [*command], "cwd": os.getcwd(), "rank": rank_of()}
        file.write([metadata("program", told, os.getpid())])
        return file

    def close(self, file: TraceFile) -> None:
        """At the end: say what is not in the file, or forget a child that ran no operator."""
        if self.parent and not file.operators and not file.problem:
            file.remove()
        file.report()
        if self.options.summary and not self.parent:
            file.say(self._summary(file))
        if self.missed:
            file.say(self.missing())
        if self.remark:
            file.say(self.remark)
        if not self.parent and (found := self._files_of_children(file)):
            more = f" and {len(found) - _NAMED} more" * (len(found) > _NAMED)
            named = ", ".join(os.path.basename(one) for one in found[:_NAMED])
            file.say(f"{_processes(len(found))} recorded too: {named}{more}")

    def _summary(self, file: TraceFile) -> str:
        """How much was recorded, what of the run's time that took, and how to look at it."""
        seconds = (time.time_ns() - file.since_ns) / 1e9
        share = file.spent_ns / 1e7 / max(seconds, 1e-3)
        path = os.path.relpath(file.path, self._folder)
        path = file.path if path.startswith(os.pardir) else path
        return (
            f"{file.operators:,} operator{'s' * (file.operators != 1)}, {_bytes(file.size)}, "
            f"{share:.0f} % of {seconds:.1f} s for writing; torchnav open {shlex.quote(path)}"
        )

    def missing(self) -> str:
        """How many children are not recorded, and what would change that."""
        were = "was" if self.missed == 1 else "were"
        why = "" if self.follows else ": --children"
        return f"{_processes(self.missed)} {were} not recorded{why}"

    def _files_of_children(self, file: TraceFile) -> list[str]:
        if not self.follows:
            return []
        found = glob.glob(any_process(self.options.out))
        return sorted(one for one in found if one != file.path and _newer(one, self.since))

    def watch_starts(self) -> None:
        """Count the Pythons that the program starts and that nothing will record."""
        import subprocess
        from multiprocessing.process import BaseProcess

        start, begin = BaseProcess.start, subprocess.Popen.__init__

        @functools.wraps(start)
        def start_process(process: Any) -> None:
            forks = self.missed
            start(process)
            if not self.follows and self.missed == forks:  # a fork has counted itself
                self.missed += 1

        @functools.wraps(begin)
        def begin_program(popen: Any, args: Any, *rest: Any, **named: Any) -> None:
            begin(popen, args, *rest, **named)
            if self._reaches(named.get("env")) or _is_check_of_torch(args, sys._getframe(1)):
                return
            if is_python(named.get("executable") or args):
                self.missed += 1

        BaseProcess.start = start_process  # type: ignore[assignment,method-assign]
        subprocess.Popen.__init__ = begin_program  # type: ignore[assignment,method-assign]

    def _reaches(self, environ: Any) -> bool:
        """Whether a Python with these variables would record itself."""
        return self.follows and (environ is None or VARIABLE in environ)


def is_python(arguments: Any) -> bool:
    """Whether a command line starts a Python, be it by the first line of a script, that is the
    program's: not one of the helpers that torch runs out of its own folder."""
    parts = arguments.split() if isinstance(arguments, str) else arguments
    try:
        words = [os.fspath(part) for part in ([parts] if isinstance(parts, os.PathLike) else parts)]
        first = os.fsdecode(words[0])
    except (TypeError, IndexError):
        return False
    if is_helper([os.fsdecode(word) for word in words[1:]]):
        return False
    return _is_interpreter(first) or _is_script(first)


def is_helper(arguments: Sequence[str]) -> bool:
    """Whether a script of torch itself is run, such as the workers that compile for Inductor."""
    paths = getattr(sys.modules.get("torch"), "__path__", ())
    folders = tuple(os.path.join(folder, "") for folder in paths)
    return any(one.startswith(folders) for one in arguments)


def _is_check_of_torch(arguments: Any, frame: FrameType | None) -> bool:
    """Whether a line of code is run from torch's own code, seen from the frame that starts it: so
    Inductor asks which instructions the processor has."""
    while frame is not None and frame.f_globals.get("__name__") == "subprocess":
        frame = frame.f_back
    caller = str(frame.f_globals.get("__name__")) if frame is not None else ""
    return (
        caller.startswith("torch.") and isinstance(arguments, (list, tuple)) and "-c" in arguments
    )


def _is_interpreter(path: str) -> bool:
    return os.path.basename(path).startswith("python") or path == sys.executable


def _is_script(name: str) -> bool:
    """Whether the file begins with a line that names a Python, as ``torchrun`` does."""
    path = shutil.which(name)
    try:
        with open(path or name, "rb") as file:
            line = file.read(256).partition(b"\n")[0]
    except (OSError, ValueError):
        return False
    return line.startswith(b"#!") and b"python" in line


def _bytes(count: int) -> str:
    """``1.2 MB``"""
    power = min((len(str(count)) - 1) // 3, 3)
    return f"{count / 1000**power:.1f} {('', 'k', 'M', 'G')[power]}B" if power else f"{count} bytes"


def _processes(count: int) -> str:
    return f"{count} child process{'es' * (count != 1)}"


def _newer(path: str, since: float) -> bool:
    try:
        return os.path.getmtime(path) >= since
    except OSError:
        return False
