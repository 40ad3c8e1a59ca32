"""Records with the compiled recorder: no function mode, no profiler, no windows.

It sees what the profiler sees, on every thread, with the Python stack of every operator that
Python calls, and with the keys that the dispatcher chooses from.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
from time import time_ns
from types import ModuleType
from typing import Any

import torch

from .announcer import Announcer
from .build import NAME
from .frames import Stacks
from .modules import ModulePaths, follow_modules, torch_folder
from .recorder import FORMAT_VERSION
from .writer import TraceFile, metadata


def load(path: str) -> ModuleType | None:
    """The library at this path; None when it cannot be loaded here."""
    spec = importlib.util.spec_from_file_location(NAME, path)
    if spec is None or spec.loader is None:
        return None
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError:
        return None
    return module


class _Paths(ModulePaths):
    """Tells the recorder in which module a thread is."""

    def __init__(self, native: Any) -> None:
        super().__init__()
        self._native = native

    def enter(self, module: Any) -> None:
        super().enter(module)
        self._native.set_module(self.path)

    def leave(self, module: Any) -> None:
        super().leave(module)
        self._native.set_module(self.path)


class CompiledRecorder:
    """One recording of this process; the same calls as ``Recorder``."""

    def __init__(self, file: TraceFile, native: Any) -> None:
        self._pid = os.getpid()
        self._file = file
        self._native = native
        self._stacks = Stacks(torch_folder())
        self._announcer = Announcer(self._write)
        self._undo: list[Any] = []
        self._windows = 0
        self._lock = threading.Lock()
        self.active = False

    def start(self) -> None:
        base_ns = time_ns()
        args = {
            "format": FORMAT_VERSION,
            "torch": torch.__version__,
            "torch_git": torch.version.git_version,
            "python": sys.version.split()[0],
            "start_ns": base_ns,
            "base_ns": base_ns,
            "main_thread": threading.main_thread().native_id,
            "overloads": True,
            "recorder": "compiled",
            "lacks": [],
        }
        self._file.write([metadata("run", args, self._pid)])
        self._undo = follow_modules(_Paths(self._native))
        self._native.start(base_ns, self._stacks.classify)
        self.active = True
        self._announcer.start()

    def finish(self) -> None:
        """Write what there is and stop. Does nothing the second time or in a forked child."""
        if not self.active or os.getpid() != self._pid:
            return
        self._announcer.stop()
        self._native.stop()
        self.active = False
        for handle in self._undo:
            handle.remove()
        self._write(last=True)
        if torch.cuda.is_initialized():
            self.note(
                "the program used CUDA: the compiled recorder sees no device kernels, the "
                "other one does"
            )
        self._file.write([metadata("end", {"calls": 0}, self._pid)])
        self._file.close()

    def leave(self) -> None:
        """There is no function mode to take off."""

    def note(self, problem: str) -> None:
        self._file.write([metadata("problem", {"message": problem}, self._pid)])

    def pause(self) -> None:
        """Before a fork."""
        if self.active and os.getpid() == self._pid:
            self._announcer.stop()
            self._write()

    def resume(self) -> None:
        """After a fork, in the parent."""
        if self.active and os.getpid() == self._pid:
            self._announcer.start()

    def abandon(self) -> None:
        """After a fork, in the child: it is not recorded."""
        if self.active:
            self.active = False
            self._native.stop()

    def _write(self, last: bool = False) -> None:
        with self._lock:
            stacks, keys, lines, whole = self._native.take()
            events = [self._stack(*stack) for stack in stacks]
            events += [
                metadata("keys", {"keys": number, "names": names.split()}, self._pid)
                for number, names in keys
            ]
            if lines:
                events.append(lines[:-2])
            if lines and (whole or last):
                self._windows += 1
                events.append(metadata("window", {"window": self._windows}, self._pid))
            self._file.write(events)

    def _stack(self, number: int, frames: list[tuple[str, int, str]]) -> bytes:
        kinds = [self._stacks.classify(path) for path, _, _ in frames]
        args = {
            "stack": number,
            "user": self._stacks.user_index(kinds),
            "frames": [[self._stacks.absolute(path), line, name] for path, line, name in frames],
        }
        return metadata("stack", args, self._pid)
