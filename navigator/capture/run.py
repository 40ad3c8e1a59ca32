"""One run of a program and its child processes: which are recorded, and into which files."""

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
from types import FrameType
from typing import Any

from .names import any_process, expand, rank_of, with_suffix
from .writer import TraceFile, metadata

VARIABLE = "TORCHNAV_CHILDREN"
"""Environment variable that tells child Pythons how to record themselves."""
_CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child")
_NAMED = 4
"""Maximum number of children's files in the closing message."""


class Run:
    """What a process needs to record itself as a part of its run."""

    def __init__(
        self, options: argparse.Namespace, since: float | None = None, parent: str = ""
    ) -> None:
        self.options = options
        """Options of the recorder's command line; ``out`` is a pattern, see ``names.expand``."""
        self.since = time.time() if since is None else since
        """Start of the run, in seconds since the epoch: its files are not overwritten."""
        self.parent = parent
        """The parent's file name; empty in the first process."""
        self.name = expand(options.out, rank_of(), os.getpid())
        """The path from the pattern; processes without a rank may share it."""
        self._folder = os.path.dirname(self.name) if parent else os.getcwd()
        """The user's folder."""
        self.missed = 0
        """Number of started processes that are not recorded."""
        self.remark = ""
        """An additional message at the end of the first process."""

    @property
    def follows(self) -> bool:
        """Whether children are recorded too."""
        return bool(self.options.children)

    @staticmethod
    def inherited() -> Run | None:
        """The run of the parent process; None if children are not recorded."""
        try:
            parent = json.loads(os.environ.get(VARIABLE, ""))
            return Run(argparse.Namespace(**parent["options"]), parent["since"], parent["parent"])
        except (ValueError, TypeError, KeyError):
            return None

    def forked(self) -> Run:
        """The run for a forked child."""
        child = Run(self.options, self.since, self.name)
        child.set_child_environment()
        return child

    def set_child_environment(self) -> None:
        """Set the environment variables that child Pythons need to record themselves."""
        if not self.follows:
            return
        fields = {"options": vars(self.options), "since": self.since, "parent": self.name}
        os.environ[VARIABLE] = json.dumps(fields)
        paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        rest = [path for path in paths if path and path != _CHILD]
        os.environ["PYTHONPATH"] = os.pathsep.join([_CHILD, *rest])

    def open(self, command: Sequence[str]) -> TraceFile:
        """Open the file of this process and write its command. Raises OSError."""
        path = self.name
        if path == self.parent:
            path = with_suffix(path, str(os.getpid()))
        file = TraceFile(path, self.since if self.parent else None)
        if file.path != path:
            file.say(f"another process writes {path}: recording to {file.path}")
        fields: dict[str, Any] = {"command": [*command], "cwd": os.getcwd(), "rank": rank_of()}
        file.write([metadata("program", fields, os.getpid())])
        return file

    def close(self, file: TraceFile) -> None:
        """At the end, report what is missing, or delete the file of an idle child."""
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
        """How much was recorded, the recorder's share of the run time, and how to view it."""
        seconds = (time.time_ns() - file.since_ns) / 1e9
        share = file.spent_ns / 1e7 / max(seconds, 1e-3)
        path = os.path.relpath(file.path, self._folder)
        path = file.path if path.startswith(os.pardir) else path
        return (
            f"{file.operators:,} operator{'s' * (file.operators != 1)}, {_bytes(file.size)}, "
            f"{share:.0f} % of {seconds:.1f} s for writing; torchnav open {shlex.quote(path)}"
        )

    def missing(self) -> str:
        """How many children were not recorded, and how to record them."""
        were = "was" if self.missed == 1 else "were"
        why = "" if self.follows else ": --children"
        return f"{_processes(self.missed)} {were} not recorded{why}"

    def _files_of_children(self, file: TraceFile) -> list[str]:
        if not self.follows:
            return []
        found = glob.glob(any_process(self.options.out))
        return sorted(one for one in found if one != file.path and _newer(one, self.since))

    def watch_starts(self) -> None:
        """Count started Pythons that will not record themselves."""
        import subprocess
        from multiprocessing.process import BaseProcess

        start, begin = BaseProcess.start, subprocess.Popen.__init__

        @functools.wraps(start)
        def start_process(process: Any) -> None:
            forks = self.missed
            start(process)
            if not self.follows and self.missed == forks:  # forks count themselves
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
        """Whether a Python with these environment variables would record itself."""
        return self.follows and (environ is None or VARIABLE in environ)


def is_python(arguments: Any) -> bool:
    """Whether a command line starts a Python of the program, also by a script's first line; torch's
    own helper scripts do not count."""
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
    """Whether a command line runs a script of torch itself, such as Inductor's compile workers."""
    paths = getattr(sys.modules.get("torch"), "__path__", ())
    folders = tuple(os.path.join(folder, "") for folder in paths)
    return any(argument.startswith(folders) for argument in arguments)


def _is_check_of_torch(arguments: Any, frame: FrameType | None) -> bool:
    """Whether torch runs a line of code in another Python, judging from the calling frame: Inductor
    checks the processor's instructions that way."""
    while frame is not None and frame.f_globals.get("__name__") == "subprocess":
        frame = frame.f_back
    caller = str(frame.f_globals.get("__name__")) if frame is not None else ""
    return (
        caller.startswith("torch.") and isinstance(arguments, (list, tuple)) and "-c" in arguments
    )


def _is_interpreter(path: str) -> bool:
    return os.path.basename(path).startswith("python") or path == sys.executable


def _is_script(name: str) -> bool:
    """Whether the file's first line names a Python, as in ``torchrun``."""
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
