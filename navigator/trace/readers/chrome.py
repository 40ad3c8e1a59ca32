"""Reads Chrome traces from torch.profiler, 2022 and later, and from torchnav."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Literal

from indexes.model.errors import TRACE_EVENTS, TRACE_ROWS
from indexes.model.vocabulary import Location
from indexes.source.files import open_file
from navigator.trace.building.builder import Builder
from navigator.trace.columns import NONE
from navigator.trace.model import StackFrame
from navigator.trace.readers.chunks import Surroundings, event_chunks
from navigator.trace.readers.crash import Crash, is_being_written, read_tail
from navigator.trace.readers.events import (
    Args,
    Event,
    args_of,
    decode,
    device_place,
    microseconds,
    plain_object,
    split_name,
    text_of,
    whole,
)
from navigator.trace.readers.operator_columns import WORK
from navigator.trace.readers.own import PREFIX, OwnEvents
from navigator.trace.readers.packed import BLOCK
from navigator.trace.table import ANNOTATION, OP, Stack
from navigator.trace.trace import BadTrace, Trace, Watch

_FRAME = re.compile(r"(?P<path>.+?)\((?P<line>\d+)\): (?P<function>.+)")
_KERNEL, _COPY = 0, 1
_RUNTIME = (
    "cuda_runtime cuda_driver Runtime xpu_runtime xpu_driver privateuse1_runtime "
    "privateuse1_driver mtia_runtime glow_runtime"
).split()
"""Host calls that launch work, by the names of libkineto's ActivityType."""
_OTHER_DEVICES = ("xpu", "mtia", "privateuse1")
"""Prefixes of launch categories for devices that do not use CUDA's."""
_WAITS = ("EVENT", "NOTIFY")
"""Ascend task types that only wait or signal."""
_ARROW = "fwdbwd"


class ChromeReader:
    """Call ``feed`` with chunks of events, then ``finish``."""

    def __init__(self, path: str = "") -> None:
        self.trace = Trace()
        self.trace.meta.path = path
        self._table = self.trace.table
        self._builder = Builder(self._table)
        self._own = OwnEvents(self.trace.meta, self._table, self._builder)
        self._cut = "the recording was cut off: the last window is missing"
        """The problem to report for a torchnav recording that did not end normally."""
        self._unreadable = self.events = 0
        self._name, self._frame = cache(self._new_name), cache(self._new_frame)
        self._threads = cache(self._table.threads.number)
        self._recorded: set[str] = set()
        self._handlers: dict[str, Callable[[Event, float, float], None]] = {
            "cpu_op": self._operator,
            "Operator": self._operator,
            "user_annotation": self._annotation,
            "torchnav_call": self._call,
            "python_function": self._python,
            **dict.fromkeys(_RUNTIME, self._launch),
            **dict.fromkeys(WORK, self._device),
            "mtia_ccp_events": self._mtia,
            "": self._ascend,
        }

    def feed(self, chunk: bytes) -> None:
        """Add events from a JSON array."""
        events, bad = decode(chunk)
        self._unreadable += bad
        self.events += len(events)
        for event in events:
            try:
                self._take(event)
            except (ValueError, OverflowError, TypeError):
                self._unreadable += 1

    def _take(self, event: Event) -> None:
        if event.ph == "X":
            handler = self._handlers.get(event.cat)
            if handler is not None:
                handler(event, microseconds(event.ts), microseconds(event.dur))
        elif event.cat == "async_npu" and event.ph == "s":
            self._launch_of_ascend(event)
        elif event.cat == "cpu_instant_event":
            self._memory(event)
        elif event.cat == _ARROW and event.ph in ("s", "f"):
            self._arrow(event)
        elif event.ph == "M" and event.name.startswith(PREFIX):
            self._own.read(event, self._thread(event))

    def recover(self, path: Path) -> None:
        """Add the tail of a torchnav recording that did not end normally."""
        meta = self.trace.meta
        if meta.format != "torchnav" or meta.complete or not meta.torch:
            return
        if is_being_written(path):
            self._cut = "the program still runs: what it does now is missing"
        elif (tail := read_tail(path)) is not None:
            self.feed(b"[" + tail.lines.strip().rstrip(b",") + b"]")
            Crash(meta, self._table, self._own, self._thread_numbered).take_in(tail)
            over, empty = self._own.is_compiled or tail.stopped, self._own.empty_calls
            calls = f": {empty:,} call{'s' * (empty != 1)} in it have no operators"
            self._cut = "" if over else self._cut + calls
        self._own.close_rows()

    def _thread_numbered(self, number: int) -> int:
        """A thread of the recorded process."""
        return self._threads((self._own.pid, str(number)))

    def finish(self, around: Surroundings) -> Trace:
        """Build what is left and note what the trace lacks. Raises BadTrace if it is empty."""
        meta = self.trace.meta
        meta.format = meta.format or "kineto"
        if self._own.exported or not meta.complete:
            self._builder.close_window()
        self._own.finish()
        if self._unreadable:
            meta.problems.append(f"{self._unreadable} events could not be read")
        meta.problems += [*self._builder.problems(), *around.left_out]
        if around.truncated:
            meta.problems.append(f"the file ends in the middle of an event: {len(self.trace)} rows")
        self._describe(around)
        if meta.format != "torchnav" and meta.devices and self._table.default_place:
            self.trace.learn_devices([self._builder.places.device_kind])
        return self.trace

    def _describe(self, around: Surroundings) -> None:
        meta, fields = self.trace.meta, around.fields
        if self._own.exported:
            return
        if meta.format == "torchnav":
            if not meta.torch:
                meta.problems.append("the program ended before it had imported torch")
            elif not meta.complete:
                meta.problems += [self._cut] if self._cut else []
            return
        meta.complete = not around.truncated
        base = fields.get("baseTimeNanoseconds")
        meta.base_ns = base if isinstance(base, int) else 0
        devices = fields.get("deviceProperties")
        if isinstance(devices, list):
            names = [str(d.get("name", "?")) for d in devices if isinstance(d, dict)]
            meta.devices = tuple(dict.fromkeys(names))
        distributed = fields.get("distributedInfo")
        if isinstance(distributed, dict) and isinstance(distributed.get("rank"), int):
            meta.rank = distributed["rank"]
        for kind, what in _LACKS.items():
            if kind not in self._recorded:
                meta.lacks.append(what)
        if not meta.overloads and "operators" in self._recorded:
            meta.lacks.append(
                "overload names (capture_overload_names=True would add them); "
                "they are inferred from the inputs"
            )

    # --------------------------------------------------------------------- the events

    def _operator(self, event: Event, start: float, duration: float) -> None:
        if not event.name:
            raise ValueError("an operator without a name")
        args = args_of(event)
        inputs = self._inputs(args)
        name, thread = self._name(event.name), self._thread(event)
        row = self._table.append(OP, name, thread, start, duration, inputs, _sequence(args))
        external = args.external if args.external is not None else args.external_old
        self._builder.add(row, whole(external), whole(args.forward_thread))
        if args.ours:
            self._own.describe(row, plain_object(args.ours))

    def _inputs(self, args: Args) -> int:
        dims = args.dims or args.dims_old
        if not (args.types or dims):
            return NONE
        self._recorded.add("shapes")
        raw = (bytes(args.types), bytes(dims), bytes(args.strides), bytes(args.values))
        return self._table.raw_inputs.number(raw)

    def _new_name(self, text: str) -> int:
        if "::" in text:
            self._recorded.add("operators")
        name = split_name(text)
        self.trace.meta.overloads |= name[1] is not None
        return self._table.names.number(name)

    def _annotation(self, event: Event, start: float, duration: float) -> None:
        name = self._table.names.number((event.name, None))
        args, thread = args_of(event), self._thread(event)
        row = self._table.append(ANNOTATION, name, thread, start, duration, self._inputs(args))
        self._builder.add(row)
        if args.ours:
            self._own.describe(row, plain_object(args.ours))

    def _call(self, event: Event, start: float, duration: float) -> None:
        self._own.add_call(event, self._thread(event), start, duration)

    def _launch(self, event: Event, start: float, duration: float) -> None:
        args = args_of(event)
        correlation, thread = whole(args.correlation), self._thread(event)
        number = self._builder.add_launch(thread, start, duration, correlation, event.name)
        kernel = text_of(args.kernel)
        if kernel:
            self._table.launches.kernels[number] = sys.intern(kernel)
        kind = event.cat.partition("_")[0]
        if kind in _OTHER_DEVICES:
            self._builder.places.device_kind = kind

    def _device(self, event: Event, start: float, duration: float) -> None:
        launch = whole(args_of(event).correlation)
        self._add_work(WORK[event.cat], event, start, duration, launch)

    def _add_work(
        self, work: int, event: Event, start: float, duration: float, launch: int, kind: str = ""
    ) -> None:
        args = args_of(event)
        device = args.device if args.device is not None else event.pid
        stream = next((one for one in (args.stream, args.stream_ascend) if one is not None), None)
        place = (f"{kind}{device}", str(event.tid if stream is None else stream))
        self._table.kernels.append(work, event.name, place, start, duration, launch)
        node = whole(args.graph_node)
        if node:
            self._table.kernels.graph_nodes[len(self._table.kernels) - 1] = node

    def _mtia(self, event: Event, start: float, duration: float) -> None:
        """Work of an MTIA's command processors, and copies; without waits and signals."""
        args = args_of(event)
        if args.event_number is None:
            work = _COPY if args.direction else _KERNEL
            self._add_work(work, event, start, duration, whole(args.correlation), "mtia:")

    def _ascend(self, event: Event, start: float, duration: float) -> None:
        """A task of an Ascend NPU, which has no category. The id of torch_npu's arrow to it is the
        task's start in nanoseconds."""
        task = args_of(event).task
        if not task or task.startswith(_WAITS):
            return
        work = _COPY if "MEMCPY" in task or "SDMA" in task else _KERNEL
        moment = int(Decimal(str(event.ts)) * 1000)
        self._builder.places.device_kind = "npu"
        self._add_work(work, event, start, duration, moment, "npu:")

    def _launch_of_ascend(self, event: Event) -> None:
        start, number = microseconds(event.ts), whole(event.id)
        self._builder.add_launch(self._thread(event), start, 0.0, number, event.name)

    def _memory(self, event: Event) -> None:
        args = args_of(event)
        if event.name != "[memory]":
            return
        place = device_place(whole(args.device_type), whole(args.device_id))
        number = self._table.allocations.append(
            microseconds(event.ts),
            whole(args.size),
            place,
            whole(args.address),
            whole(args.total_size),
            whole(args.reserved_size),
        )
        self._builder.add_allocation(self._thread(event), number)

    def _arrow(self, event: Event) -> None:
        end: Literal["s", "f"] = "s" if event.ph == "s" else "f"
        moment = microseconds(event.ts)
        self._builder.links.add_arrow(end, event.id or 0, self._thread(event), moment)

    def _python(self, event: Event, start: float, duration: float) -> None:
        self._recorded.add("frames")
        stack, module = self._frame(event.name)
        if stack >= 0 or module >= 0:
            self._builder.add_frame(self._thread(event), start, duration, stack, module)

    def _new_frame(self, text: str) -> tuple[int, int]:
        """The (stack, module) of a Python frame with this name."""
        if text.startswith("nn.Module: "):
            return NONE, self._table.modules.number(text.removeprefix("nn.Module: "))
        match = _FRAME.fullmatch(text)
        if match is None or not _is_users(match["path"]):
            return NONE, NONE
        frame = StackFrame(Location(match["path"], int(match["line"])), match["function"])
        self._table.stacks.append(Stack((frame,), 0, exact=False))
        return len(self._table.stacks) - 1, NONE

    def _thread(self, event: Event) -> int:
        return self._threads((str(event.pid), str(event.tid)))


_LACKS = {
    "shapes": "inputs of operators (record_shapes=True would add them)",
    "frames": "lines of the user's program (with_stack=True would add the functions; "
    "torchnav trace adds the exact lines)",
}


def _is_users(path: str) -> bool:
    """Neither torch nor the standard library; profilers cut paths to the import root."""
    first = path.replace("\\", "/").lstrip("/").partition("/")[0].removesuffix(".py")
    if "torch/" in path and (first == "torch" or "/site-packages/torch/" in path):
        return False
    return first not in sys.stdlib_module_names and not path.startswith("<")


def _sequence(args: Args) -> int:
    """-1 if missing; AccumulateGrad has the largest possible number."""
    if args.sequence is None:
        return NONE
    value = int(args.sequence) if isinstance(args.sequence, int) else whole(args.sequence)
    return value if 0 <= value < 2**63 else NONE


def _show_early(path: Path, chunk: bytes, early: Callable[[Trace], None]) -> bool:
    """Show the rows of the first chunk that has any, if more chunks follow."""
    if len(chunk) < BLOCK // 2:
        return True
    reader = ChromeReader(str(path))
    reader.feed(chunk)
    trace = reader.finish(Surroundings())
    if trace.roots():
        early(trace)
    return bool(trace.roots())


def recognises(_path: Path, _head: bytes) -> bool:
    """Accepts whatever other readers do not; ``read`` finds out what is not a trace."""
    return True


def read(path: Path, watch: Watch) -> Trace:
    """Read a ``.json`` or ``.json.gz`` trace. Raises a one-line BadTrace for other files."""
    reader, around = ChromeReader(str(path)), Surroundings()
    early = watch.early
    for chunk in event_chunks(path, around):
        if early is not None and _show_early(path, chunk, early):
            early = None
        reader.feed(chunk)
        if watch.progress is not None and not watch.progress(len(reader.trace)):
            break
        most = f"{TRACE_ROWS:,} rows" * (len(reader.trace) > TRACE_ROWS)
        most = most or f"{TRACE_EVENTS:,} events" * (reader.events > TRACE_EVENTS)
        if most:
            reader.trace.meta.problems.append(f"only its first {most} are read")
            break
    reader.recover(path)
    trace = reader.finish(around)
    if not len(trace) and not len(trace.table.kernels) and trace.meta.format != "torchnav":
        raise BadTrace(f"{path} holds no operator and no kernel of a PyTorch profile")
    return trace


class Feed:
    """Follows a recording that is being written.

    One thread calls ``read`` and ``finish``; others may read ``trace`` meanwhile.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0
        self._reader = ChromeReader(str(path))

    @property
    def trace(self) -> Trace:
        return self._reader.trace

    def read(self) -> bool:
        """Read new whole lines, at most a few megabytes; returns whether there were any."""
        try:
            with open_file(self._path, None) as file:
                file.seek(self._at)
                data = file.read(2 * BLOCK)
        except FileNotFoundError:
            return False
        end = data.rfind(b"\n") + 1
        self._at += end
        lines = data[:end].strip().removeprefix(b"[").removesuffix(b"]").strip(b",\n ")
        if lines:
            self._reader.feed(b"[" + lines + b"]")
        return bool(lines)

    def finish(self) -> Trace:
        """After the program has ended, read the rest and build what is left."""
        while self.read():
            pass
        self._reader.recover(self._path)
        return self._reader.finish(Surroundings())
