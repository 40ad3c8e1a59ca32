"""The log of outermost torch calls: in memory, then announced, then written with their window.

A call is five integers. What calls have in common (function, line, module) is a *kind*, stored
once, so that the heap that the program's garbage collector walks does not grow.
"""

from __future__ import annotations

import itertools
import sys
import threading
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import ModuleType
from typing import Any, NamedTuple

from .frames import Stack
from .kineto import Arrows, forward_arrows, is_bookkeeping, marker_number, metadata_key, take_apart
from .limits.options import Limits
from .limits.window import Part, Span
from .profiler import Window
from .rows.device_columns import Devices, Names
from .rows.event_columns import Seen, columns_seen
from .rows.rows import Columns, Kinds, Mark, busy, columns_of, operators_line
from .writer import encode, metadata, steps

_FIELDS = 5
_MEMORY = b'"[memory]"'
Places = dict[str, list[int]]
"""As in ``Window``."""


class Kind(NamedTuple):
    """What calls have in common."""

    function: Any
    stack: Stack
    module: str
    """Path of the ``nn.Module`` being called: ``Net.blocks.0.attn``; empty outside of any."""
    output: tuple[Any, Any, Any] | None
    """(dtype, shape, device) of a result that is one plain tensor."""


class Aside(NamedTuple):
    """Events recorded by a profiler of the program's own."""

    lines: list[bytes]
    last_call: int
    seen: bool
    """Whether the lines contain operators."""


class CallLog:
    """Collects calls; ``add`` is called from every thread for every call."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._calls = array("q")
        self._kinds: dict[int, Kind] = {}
        self._texts: dict[int, bytes] = {}
        """By kind: its fields as JSON, without braces."""
        self._numbers: dict[Any, int] = {}
        self._count = itertools.count()
        self._announced = 0
        """Number of integers of ``_calls`` that were announced while their window was open."""
        self.base_ns = 0
        """The zero of times in announcements and rows."""
        self._lock = threading.Lock()
        self._written: set[int] = set()
        """Kinds whose fields were written."""
        self._stacks: set[int] = set()
        self._metadata: set[str] = set()
        self._arrows = Arrows()
        self._operators = Kinds(pid)
        self._works = Names(pid)

    def __len__(self) -> int:
        return len(self._calls) // _FIELDS

    def add(self, number: int, kind: Any, thread: int, start_ns: int, duration_ns: int) -> None:
        """Add a call, ``kind`` as the fields of a ``Kind``. No thread switch may happen inside."""
        index = self._numbers.get(kind)
        if index is None:
            index = self._new_kind(kind)
        self._calls.extend((number, index, thread, start_ns, duration_ns))

    def _new_kind(self, fields: Any) -> int:
        """Registers a kind without a lock: a signal handler that ends the program may wait for the
        thread that writes. If two threads register a kind at once, one number stays unused."""
        index = next(self._count)
        self._kinds[index] = Kind(*fields)
        return self._numbers.setdefault(fields, index)

    # ----------------------------------------------------------------------- writing

    def announce(self) -> list[bytes]:
        """Lines for the calls since the last time, for programs that follow the file.

        Without attribute reads. When its window closes, a call is written only if it ran an
        operator, which ``x.dim()`` does not.
        """
        with self._lock:
            fresh = self._calls[self._announced :]
            self._announced += len(fresh)
            threads: dict[int, list[tuple[int, ...]]] = {}
            for number, kind, thread, start, duration in _call_rows(fresh):
                if not is_attribute(self._kinds[kind].function):
                    call = (number, kind, start - self.base_ns, duration)
                    threads.setdefault(thread, []).append(call)
            return [
                line
                for thread, calls in threads.items()
                for line in self._calls_lines(thread, calls, closed=False)
            ]

    def _calls_lines(
        self, thread: int, calls: Sequence[tuple[int, ...]], closed: bool
    ) -> list[bytes]:
        """Lines for (number, kind, start, duration), times in nanoseconds from the base."""
        lines: list[bytes] = []
        for kind in dict.fromkeys(call[1] for call in calls):
            if kind not in self._written:
                self._written.add(kind)
                lines += self._stack(self._kinds[kind].stack)
                head = b'{"ph":"M","name":"torchnav_called","pid":%d,"args":{"called":%d,%b}}'
                lines.append(head % (self._pid, kind, self._text(kind)))
        numbers, kinds, starts, durations = (list(one) for one in zip(*calls, strict=True))
        args = {
            "count": len(calls),
            "closed": closed,
            "call": steps(numbers),
            "called": kinds,
            "start": steps(starts),
            "duration": durations,
        }
        return [*lines, metadata("calls", args, self._pid, thread)]

    def take(self) -> dict[int, int]:
        """Return the calls since the last time as number -> kind, and forget them."""
        return {number: kind for number, kind, *_ in self._take()}

    def _take(self) -> list[tuple[int, ...]]:
        with self._lock:
            count = len(self._calls)
            taken = [*_call_rows(self._calls[:count])]
            del self._calls[:count]
            self._announced = 0
            return taken

    def rows(self, data: bytes, calls: dict[int, int], until: int) -> list[bytes]:
        """Lines for a window without a tree, up to a moment, in columns if the layout of the saved
        data is known; ``calls`` are those made in the window."""
        with self._lock:
            found = columns_of(data, self._operators, until)
            if found is not None:
                return self._in_columns(found, calls)
        return self._unknown(take_apart(data).events(), calls, until)

    def _in_columns(self, found: list[Columns], calls: dict[int, int]) -> list[bytes]:
        lines = self._operators.fresh()
        for one in found:
            made = [
                (mark.number, calls[mark.number], mark.start, mark.duration)
                for mark in one.marks
                if mark.number in calls
            ]
            lines += self._calls_lines(one.thread, made, closed=True) if made else []
            lines += [operators_line(one, self._pid)] if one.kind else []
        return lines

    def aside(self, seen: Seen | None, limits: Limits) -> Aside:
        """Lines for what ran while the program used a profiler of its own. Calls are matched with
        operators by time; calls before the first operator are all written, since it is not known
        what they ran."""
        calls = self._take()
        threads = {one.thread: one for one in self._seen(seen)}
        since = min((one.start[0] for one in threads.values()), default=sys.maxsize)
        for thread, marks in self._marks(calls, limits).items():
            columns = threads.setdefault(thread, Columns(thread, [], [], [], [], [], []))
            early = [mark for mark in marks if mark.start < since]
            columns.marks.extend([*early, *busy(marks[len(early) :], columns.start)])
        with self._lock:
            lines = self._in_columns([*threads.values()], {call[0]: call[1] for call in calls})
            return Aside(lines, max((call[0] for call in calls), default=0), since < sys.maxsize)

    def _seen(self, seen: Seen | None) -> list[Columns]:
        with suppress(AttributeError, RuntimeError, TypeError):  # another version of torch
            return columns_seen(seen, self._operators, self.base_ns) if seen else []
        return []

    def _marks(self, calls: list[tuple[int, ...]], limits: Limits) -> dict[int, list[Mark]]:
        """By thread, without attribute reads."""
        marks: dict[int, list[Mark]] = {}
        for number, index, thread, start, duration in calls:
            kind = self._kinds[index]
            if limits.matches(kind.module) and not is_attribute(kind.function):
                mark = Mark(start - self.base_ns, duration, number)
                marks.setdefault(thread, []).append(mark)
        return marks

    def _unknown(self, events: list[bytes], calls: dict[int, int], until: int) -> list[bytes]:
        events = Part(until / 1000, sys.maxsize, Limits()).of(events, {})
        spans = [span for span in map(Span.of, events) if span]
        starts = sorted((span.thread, span.start) for span in spans if span.marker < 0)
        busy = {
            span.marker
            for span in spans
            if span.marker in calls
            and bisect_left(starts, (span.thread, span.start))
            < bisect_left(starts, (span.thread, span.end))
        }
        return self._lines(events, {number: calls[number] for number in busy})

    @property
    def elsewhere(self) -> bool:
        """Whether operators in columns may have run on tensors that are not strided."""
        return self._operators.elsewhere

    def window(self, window: Window, part: Part | None = None) -> tuple[list[bytes], Places]:
        """Lines for a closed window and the calls made in it, which are then forgotten; and the
        places of operators that these lines lack. Written in columns if possible.

        Raises:
            OSError: The saved profile cannot be read.
        """
        calls = self.take()
        found = {number: calls[number] for number in window.calls_with_operators & calls.keys()}
        if part is None and (lines := self._placed(window, found)) is not None:
            return lines, {}
        events = window.saved.events()
        if part is not None:
            modules = {number: self._kinds[kind].module for number, kind in calls.items()}
            events = part.of(events, modules)
        return self._lines(events, found), window.places

    def _placed(self, window: Window, calls: dict[int, int]) -> list[bytes] | None:
        """A window in columns, with devices and device work; None if the layout is unknown or holds
        memory events. With several threads, arrows tell the thread of a Node."""
        body = window.saved.body
        if _MEMORY in body:
            return None
        with self._lock:
            devices = Devices(self._works, window.places)
            found = columns_of(body, self._operators, sys.maxsize, devices)
            if found is None:
                return None
            self._arrows.next_window()
            arrows = map(
                self._arrows.renumbered, forward_arrows(body) if window.has_threads else ()
            )
            return [*self._in_columns(found, calls), *devices.lines(self._pid), *arrows]

    def _lines(self, events: list[bytes], calls: dict[int, int]) -> list[bytes]:
        """Lines for the events of a window and for the calls to be recorded."""
        with self._lock:
            lines: list[bytes] = []
            self._arrows.next_window()
            for event in events:
                number = marker_number(event)
                if number < 0:
                    if not self._is_needless(event):
                        lines.append(self._arrows.renumbered(event))
                elif number in calls:
                    lines += self._stack(self._kinds[calls[number]].stack)
                    lines.append(self._call_event(event, number, calls[number]))
            return lines

    def _is_needless(self, event: bytes) -> bool:
        if is_bookkeeping(event):
            return True
        key = metadata_key(event)
        if key is None or key not in self._metadata:
            if key is not None:
                self._metadata.add(key)
            return False
        return True

    def _call_event(self, marker: bytes, number: int, kind: int) -> bytes:
        """The profiler's event of a marker, renamed to the call that it marks."""
        start, end = marker.index(b'"cat"'), marker.index(b'"pid"')
        label = encode({"cat": "torchnav_call", "name": function_name(self._kinds[kind].function)})
        text = marker[:start] + label[1:-1] + b", " + marker[end:]
        fields = b'"args": {"call":%d,%b, ' % (number, self._text(kind))
        return text.replace(b'"args": {', fields, 1)

    def _stack(self, stack: Stack) -> list[bytes]:
        if stack.number in self._stacks:
            return []
        self._stacks.add(stack.number)
        return [stack_event(stack, self._pid)]

    def _text(self, index: int) -> bytes:
        text = self._texts.get(index)
        if text is None:
            text = self._texts[index] = encode(_kind_args(self._kinds[index]))[1:-1]
        return text


def stack_event(stack: Stack, pid: int) -> bytes:
    frames = [[frame.path, frame.line, frame.function] for frame in stack.frames]
    return metadata("stack", {"stack": stack.number, "user": stack.user, "frames": frames}, pid)


def _kind_args(kind: Kind) -> dict[str, Any]:
    args: dict[str, Any] = {"function": function_name(kind.function), "stack": kind.stack.number}
    user = kind.stack.user_frame
    if user is not None:
        args["user"] = f"{user.path}:{user.line}"
    if kind.module:
        args["module"] = kind.module
    if kind.output is not None:
        args["output"] = _tensor_text(*kind.output)
    return args


def _tensor_text(dtype: Any, shape: tuple[Any, ...], device: Any) -> str:
    """``float32[2, 8] cpu``"""
    sizes = ", ".join(str(size) for size in shape)
    return f"{str(dtype).removeprefix('torch.')}[{sizes}] {device}"


def _call_rows(calls: array[int]) -> Iterator[tuple[int, ...]]:
    return zip(*(calls[at::_FIELDS] for at in range(_FIELDS)), strict=True)


# ------------------------------------------------------------------------------ names


def function_name(function: Any) -> str:
    """``torch.Tensor.add``, ``torch.nn.functional.relu``, ``torch.ops.aten.add.Tensor``."""
    owner = getattr(function, "__self__", None)
    if getattr(function, "__name__", "") in ("__get__", "__set__", "__delete__"):
        return f"torch.Tensor.{getattr(owner, '__name__', '?')}.{function.__name__}"
    holder = getattr(function, "__objclass__", None)
    if holder is not None:
        return f"{_class_name(holder)}.{function.__name__}"
    operator = _operator_name(function)
    if operator:
        return operator
    module = owner.__name__ if isinstance(owner, ModuleType) else _module(function)
    name = str(getattr(function, "__qualname__", None) or getattr(function, "__name__", "?"))
    name = name.removeprefix("_VariableFunctionsClass.")
    return f"{module}.{name}" if module else name


def is_attribute(function: Any) -> bool:
    """Whether the call only reads or writes an attribute: ``x.shape``, ``x.grad = None``."""
    return getattr(function, "__name__", "") in ("__get__", "__set__", "__delete__")


def _class_name(holder: type) -> str:
    if holder.__name__ in ("TensorBase", "_TensorBase"):
        return "torch.Tensor"
    return f"{holder.__module__}.{holder.__qualname__}"


def _operator_name(function: Any) -> str:
    """``torch.ops.aten.add.Tensor`` for an ``OpOverload`` or its packet, else empty."""
    qualified = getattr(function, "_qualified_op_name", None)
    if qualified is None:
        name = getattr(function, "_name", None)
        qualified = name() if callable(name) else name
    if not isinstance(qualified, str) or "::" not in qualified:
        return ""
    return "torch.ops." + qualified.replace("::", ".")


def _module(function: Any) -> str:
    return str(getattr(function, "__module__", None) or "")
