"""Windows of ``torch.profiler``: start, stop, and facts that only the event tree has."""

from __future__ import annotations

import ctypes
import gc
import glob
import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from types import GetSetDescriptorType
from typing import Any

import torch
from torch._C._autograd import _disable_profiler, _enable_profiler, _prepare_profiler
from torch._C._profiler import _ExperimentalConfig, _ExtraFields_TorchOp, _TensorMetadata

from .compat import Marker, TensorBase, profiler_config
from .devices import activities, synchronize
from .kineto import MARK, Saved, take_apart

_ALL_THREADS = "profile_all_threads"
_WANTED = {"capture_overload_names": True, _ALL_THREADS: True}
_NO_TREE = "trace_only"
_CPU = torch.device("cpu")
_END = f"{MARK}0"  # calls are counted from 1


@dataclass(slots=True)
class Window:
    """What one window recorded."""

    saved: Saved
    unfinished: int
    """Operators still running, in any thread, when the window closed."""
    calls_with_operators: set[int] = field(default_factory=set)
    places: dict[str, list[int]] = field(default_factory=dict)
    """``cuda:0`` or ``cpu/sparse_coo`` -> External ids of operators with such inputs; without
    operators whose tensors are all strided and on the CPU."""
    has_threads: bool = False
    """Whether it recorded threads that the program started."""


class Profiler:
    """Starts and stops windows, with the options that this torch supports."""

    def __init__(self, memory: bool) -> None:
        self._memory = memory
        self.options = {name: True for name in _WANTED if _accepts(name)}
        self.running = False
        self._has_threads = False
        self._can_do_without_tree = _accepts(_NO_TREE)

    @property
    def missing_options(self) -> tuple[str, ...]:
        """What cannot be recorded. With all threads, the profiler records no memory."""
        unused = {_ALL_THREADS} if self._memory else set()
        return tuple(name for name in _WANTED if name not in self.options or name in unused)

    def start(self, all_threads: bool = True, tree: bool = True, device: str = "") -> None:
        """``tree``: whether ``stop`` will need the tree of events; ``device``: the type of a device
        that the program is about to use."""
        options = dict(self.options)
        if not tree and self._can_do_without_tree:
            options[_NO_TREE] = True
        if not all_threads:
            options.pop(_ALL_THREADS, None)
        config = profiler_config(self._memory, _experimental(options))
        kinds = activities(device)
        with quiet_kineto():
            _prepare_profiler(config, kinds)
            _enable_profiler(config, kinds)
        self.running, self._has_threads = True, all_threads and _ALL_THREADS in options

    def save(self, folder: str) -> str:
        """Close a window without the tree. Returns a new file in ``folder`` with the profile.

        Raises OSError where that cannot be written.
        """
        with _without_collecting(), quiet_kineto():
            result = _disable_profiler()
            self.running = False
            return _save(result, folder)

    def stop(self, folder: str) -> Window:
        """Close the window; the profile passes through a file in ``folder``.

        Raises OSError where that cannot be written.
        """
        synchronize()
        with Marker(_END):
            pass
        with _without_collecting():
            with quiet_kineto():
                result = _disable_profiler()
                self.running = False
                window = Window(_saved(result, folder), 0, has_threads=self._has_threads)
            _Walk(window).run(result.experimental_event_tree())
            return window

    def plain_attributes(self) -> tuple[frozenset[Any], int]:
        """Attributes of a tensor that are read or written without running an operator, found by
        trying each once; and the time in ns that saved profiles count from.

        Reading ``x.shape`` and writing ``x.grad`` are among them, reading ``x.T`` and writing
        ``x.data`` are not.
        """
        accesses = [
            access
            for value in vars(TensorBase).values()
            if type(value) is GetSetDescriptorType
            for access in (value.__get__, value.__set__)
        ]
        probe = torch.ones(2, 2, dtype=torch.complex64, requires_grad=True)
        self.start()
        for number, access in enumerate(accesses, 1):
            with warnings.catch_warnings(), Marker(f"{MARK}{number}"):
                warnings.simplefilter("ignore")
                # Not all attributes exist, or can be written.
                with suppress(AttributeError, RuntimeError, TypeError):
                    _access(probe, access)
        window = self.stop(tempfile.gettempdir())
        busy = {accesses[number - 1] for number in window.calls_with_operators}
        plain = frozenset(accesses) - busy
        return plain, int(window.saved.header.get("baseTimeNanoseconds", 0))


def _access(probe: Any, access: Any) -> None:
    """Read an attribute, or write its own value into it."""
    if access.__name__ == "__get__":
        access(probe)
    else:
        access(probe, access.__self__.__get__(probe))


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Disables garbage collection: the block makes no cycles, the program's heap may be large."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _save(result: Any, folder: str) -> str:
    handle, path = tempfile.mkstemp(".json", "torchnav-", folder)
    os.close(handle)
    try:
        result.save(path)
    except BaseException:
        os.unlink(path)
        raise
    return path


def read_saved(path: str, folder: str) -> bytes:
    """Read and delete a file written by ``save``. Raises OSError if it is incomplete."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    finally:
        os.unlink(path)
    if not data.rstrip().endswith(b"}"):
        raise OSError(f"torch could not save its profile in {folder}")
    return data


def _saved(result: Any, folder: str) -> Saved:
    data = read_saved(_save(result, folder), folder)
    try:
        return take_apart(data)
    except ValueError as error:
        raise OSError(f"torch could not save its profile in {folder}") from error


def places_in(result: Any) -> dict[str, list[int]]:
    """``Window.places`` of a profile made by the program, if it recorded shapes."""
    window = Window(Saved({}), 0)
    _Walk(window).run(result.experimental_event_tree())
    return window.places


class _Walk:
    """One pass over the tree of events."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._ends: list[int] = []
        self._end = 0

    def run(self, roots: list[Any]) -> None:
        waiting = list(roots)
        while waiting:
            event = waiting.pop()
            children = event.children
            waiting += children
            fields = event.extra_fields
            if type(fields) is _ExtraFields_TorchOp:
                self._ends.append(event.end_time_ns)
                inputs = fields.inputs
                if inputs:
                    self._tensors(event, inputs)
                else:
                    self._marker(event, children)
        self._window.unfinished = sum(end > self._end or end <= 0 for end in self._ends)

    def _marker(self, event: Any, children: list[Any]) -> None:
        name = event.name
        if name == _END:
            self._end = event.end_time_ns
        elif children and name.startswith(MARK):
            self._window.calls_with_operators.add(int(name[len(MARK) :]))

    def _tensors(self, event: Any, inputs: list[Any]) -> None:
        places: dict[str, None] = {}
        for value in inputs:
            kind = type(value)
            if kind is _TensorMetadata:
                _add_place(value, places)
            elif kind is list:
                for tensor in value:
                    _add_place(tensor, places)
        if places:
            self._window.places.setdefault("+".join(places), []).append(event.correlation_id)


def _add_place(tensor: Any, places: dict[str, None]) -> None:
    """``cuda:0`` for a strided tensor, else ``cpu/sparse_coo``; a plain tensor is skipped."""
    if tensor.layout is not torch.strided:
        places[f"{tensor.device}/{str(tensor.layout).removeprefix('torch.')}"] = None
    elif tensor.device != _CPU:
        places[str(tensor.device)] = None


def _experimental(options: dict[str, bool]) -> Any:
    make: Any = _ExperimentalConfig  # its stub names only the options of one version
    return make(**options)


def _accepts(option: str) -> bool:
    try:
        _experimental({option: True})
    except TypeError:
        return False
    return True


_VARIABLE = "KINETO_LOG_LEVEL"
_SILENT = 99
_LEVEL, _RESET = "_ZN9libkineto6Logger14severityLevel_E", "suppressLibkinetoLogMessages"


@contextmanager
def quiet_kineto() -> Iterator[None]:
    """Silences kineto while the block runs, unless the user has chosen a log level."""
    if _VARIABLE in os.environ:
        yield
        return
    library = _library()
    os.environ[_VARIABLE] = str(_SILENT)
    try:
        if library is not None:
            ctypes.c_int.in_dll(library, _LEVEL).value = _SILENT
        yield
    finally:
        os.environ.pop(_VARIABLE, None)
        if library is not None:
            getattr(library, _RESET)()  # to torch's default without the variable


@lru_cache(maxsize=1)
def _library() -> Any:
    """Torch's library, if it exports both names; else kineto stays silent after its first use."""
    for path in glob.glob(os.path.join(next(iter(torch.__path__)), "lib", "libtorch_cpu.*")):
        try:
            library = ctypes.CDLL(path)
            ctypes.c_int.in_dll(library, _LEVEL)
            getattr(library, _RESET)
        except (OSError, ValueError, AttributeError):
            continue
        return library
    return None
