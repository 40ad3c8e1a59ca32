"""Writes any trace as a plain Chrome trace for Perfetto and chrome://tracing.

Events have ``torch.profiler``'s form. Lines, modules and other additions are in ``args.torchnav``
and in metadata events, so that reading the file again gives the same rows, parents and links: see
``docs/trace-format.md``.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast

import msgspec

from indexes.source.aside import written_over
from navigator.trace.columns import NONE
from navigator.trace.compiling.model import compilation_facts
from navigator.trace.readers.events import DEVICE_TYPES
from navigator.trace.table import ANNOTATION, CALL, GONE, NODE, PHASES, Table
from navigator.trace.trace import Trace

Event = dict[str, Any]

_INPUTS = ("Input type", "Input Dims", "Input Strides", "Concrete Inputs")
_WORK = ("kernel", "gpu_memcpy", "gpu_memset")
_NAMED_RUNTIMES = ("xpu", "mtia")
"""Devices whose runtime calls are not named after CUDA."""
_FORMAT = 1
_BLOCK = 1 << 20


def write_chrome(trace: Trace, path: Path) -> int:
    """Write a trace to a file, compressed if its name ends in ``.gz``.

    Returns:
        The number of events.

    Raises:
        OSError: The file cannot be written.
    """
    count = 0
    with written_over(path) as part, part.open("wb") as raw, _packed(raw, path) as file:
        block = bytearray(b'{"schemaVersion":1,"traceEvents":[\n')
        for count, event in enumerate(chrome_events(trace), 1):
            block += b",\n" * (count > 1)
            block += msgspec.json.encode(event)
            if len(block) > _BLOCK:
                file.write(block)
                block.clear()
        file.write(block + b"\n]}\n")
    return count


def _packed(raw: BinaryIO, path: Path) -> AbstractContextManager[BinaryIO]:
    if path.suffix == ".gz":
        return cast(AbstractContextManager[BinaryIO], gzip.GzipFile(path.name, "wb", 5, raw))
    return nullcontext(raw)


def chrome_events(trace: Trace) -> Iterator[Event]:
    """The events of a trace; rows precede their callees."""
    events = _Events(trace)
    return chain(
        events.about(), events.lanes(), events.rows(), events.device_work(), events.memory()
    )


class _Events:
    """Creates events from a trace's columns."""

    def __init__(self, trace: Trace) -> None:
        self._trace, self._table = trace, trace.table
        table = self._table
        self._is_timed = any(table.duration)
        self._arrows = 0

    # -------------------------------------------------------------------- the whole

    def about(self) -> Iterator[Event]:
        """Facts about the run, its stacks, key sets and definitions."""
        table = self._table
        meta = asdict(self._trace.meta)
        meta.pop("path")
        yield _meta(
            "torchnav_export", version=_FORMAT, meta=meta, zero=table.zero, timed=self._is_timed
        )
        for number, stack in enumerate(table.stacks, 1):
            frames = [
                [frame.location.path, frame.location.line, frame.function] for frame in stack.frames
            ]
            fields = {"stack": number, "frames": frames, "user": stack.user, "exact": stack.exact}
            yield _meta("torchnav_stack", **fields)
        for number, names in enumerate(table.key_sets.values, 1):
            yield _meta("torchnav_keys", keys=number, names=names)
        for one in table.definitions:
            fields = {**asdict(one), "path": one.location.path, "line": one.location.line}
            yield _meta("torchnav_definition", **fields)
        for moment, category, addresses in table.storages:
            fields = {"time_ns": round(moment * 1000), category: addresses}
            yield _meta("torchnav_storages", **fields)
        for compilation in table.compiled:
            yield _meta("torchnav_compiled", **compilation_facts(compilation))

    def lanes(self) -> Iterator[Event]:
        """Names of processes, threads, devices and streams for viewers."""
        for pid in dict.fromkeys(pid for pid, _ in self._table.threads.values):
            yield _named("process_name", pid, 0, f"process {pid}")
        for pid, tid in self._table.threads.values:
            yield _named("thread_name", pid, tid, f"thread {tid}")
        for device, stream in self._table.kernels.places.values:
            yield _named("process_name", device, 0, f"device {device}")
            yield _named("thread_name", device, stream, f"stream {stream}")

    # ------------------------------------------------------------------------- rows

    def rows(self) -> Iterator[Event]:
        """Every row, and the arrow to each Node."""
        for row, start, duration in self._times():
            if self._table.kind[row] != GONE and row not in self._table.untimed:
                yield self._row(row, start, duration)
                yield from self._arrow(row)

    def _times(self) -> Iterator[tuple[int, float, float]]:
        """Rows, parents first, with start and duration; without times, starts are ranks and a row
        lasts as long as the rows below it."""
        table = self._table
        order = _parents_first(table)
        if self._is_timed:
            return ((row, table.start[row], table.duration[row]) for row in order)
        lasting = _lasting(table, list(order))
        return ((row, table.start[row], duration) for row, duration in lasting.items())

    def _row(self, row: int, start: float, duration: float) -> Event:
        table = self._table
        kind = table.kind[row]
        pid, tid = table.threads[table.thread[row]]
        args = self._args(row, kind)
        ours = self._ours(row)
        if kind == CALL:
            args |= {"call": row, "function": table.name_of(row), **ours}
        elif ours:
            args["torchnav"] = ours
        category = {CALL: "torchnav_call", ANNOTATION: "user_annotation"}.get(kind, "cpu_op")
        return {
            "ph": "X",
            "cat": category,
            "name": table.label(table.name[row]),
            "pid": _number(pid),
            "tid": _number(tid),
            "ts": start,
            "dur": duration,
            "args": args,
        }

    def _args(self, row: int, kind: int) -> Event:
        """The fields that the profiler writes for a row."""
        table = self._table
        args: Event = {} if kind == CALL else {"External id": row + 1}
        if table.sequence[row] >= 0:
            args["Sequence number"] = table.sequence[row]
        if row in table.forward_threads:
            args["Fwd thread id"] = table.forward_threads[row]
        if table.inputs[row] >= 0:
            texts = zip(_INPUTS, table.raw_inputs[table.inputs[row]], strict=True)
            args |= {name: msgspec.Raw(text) for name, text in texts if text}
        return args

    def _ours(self, row: int) -> Event:
        """Further fields; lines and modules only if they differ from the parent's."""
        table = self._table
        ours: Event = {}
        parent, stack, module = table.parent[row], table.stack[row], table.module[row]
        above = NONE if parent < 0 or self._is_from_log(parent) else table.stack[parent]
        if (
            stack >= 0
            and not self._is_from_log(row)
            and (table.kind[row] == CALL or stack != above)
        ):
            ours["stack"] = stack + 1
            ours["user"] = str(table.stacks[stack].location or "")
        if module >= 0 and (parent < 0 or module != table.module[parent]):
            ours["module"] = table.modules[module]
        if row in table.outputs:
            ours["output"] = table.outputs[row]
        if table.keys[row] >= 0:
            ours["keys"] = table.keys[row] + 1
        if table.place[row] >= 0:
            ours["place"] = table.places[table.place[row]]
        if row in table.unfinished:
            ours["unfinished"] = True
        if row in table.unnamed:
            ours["unnamed"] = True
        if row in table.compilations:
            ours["compilation"] = table.compilations[row]
        if not self._is_timed and table.phase[row]:
            ours["phase"] = PHASES[table.phase[row]]
        return ours

    def _is_from_log(self, row: int) -> bool:
        """Whether a row is a compilation whose line is in its log."""
        number = self._table.compilations.get(row)
        return any(one.id == number for one in self._table.compiled)

    def _arrow(self, node: int) -> Iterator[Event]:
        """The arrow from the forward operator to a Node."""
        table = self._table
        forward = table.forward.get(node, NONE)
        if table.kind[node] == NODE and forward >= 0:
            number = self._next_arrow()
            for ph, row in (("s", forward), ("f", node)):
                yield self._end(ph, "fwdbwd", number, table.thread[row], table.start[row])

    def _next_arrow(self) -> int:
        self._arrows += 1
        return self._arrows

    def _end(self, ph: str, category: str, number: int, thread: int, start: float) -> Event:
        pid, tid = self._table.threads[thread]
        return _arrow_end(ph, category, number, pid, tid, start)

    # ----------------------------------------------------------------------- devices

    def device_work(self) -> Iterator[Event]:
        """Runtime calls, device work, and an arrow from each call to its work."""
        launches, kernels = self._table.launches, self._table.kernels
        for number in range(len(launches)):
            yield self._launch(number)
        for number in range(len(kernels)):
            yield self._kernel(number)
            launch = launches.numbers.get(kernels.correlation[number])
            if launch is not None:
                arrow, start = self._next_arrow(), launches.start[launch]
                yield self._end("s", "ac2g", arrow, launches.thread[launch], start)
                device, stream = kernels.places[kernels.place[number]]
                at = kernels.start[number]
                yield _arrow_end("f", "ac2g", arrow, device, stream, at)

    def _launch(self, number: int) -> Event:
        table, launches = self._table, self._table.launches
        op = launches.op[number]
        place = table.places[table.place[op]] if op >= 0 and table.place[op] >= 0 else ""
        kind = place.partition(":")[0]
        pid, tid = table.threads[launches.thread[number]]
        return {
            "ph": "X",
            "cat": f"{kind if kind in _NAMED_RUNTIMES else 'cuda'}_runtime",
            "name": launches.names[launches.name[number]],
            "pid": _number(pid),
            "tid": _number(tid),
            "ts": launches.start[number],
            "dur": launches.duration[number],
            "args": {"correlation": launches.correlation[number]}
            | ({"kernel": launches.kernels[number]} if number in launches.kernels else {}),
        }

    def _kernel(self, number: int) -> Event:
        kernels = self._table.kernels
        device, stream = kernels.places[kernels.place[number]]
        args: Event = {
            "device": _number(device),
            "stream": _number(stream),
            "correlation": kernels.correlation[number],
        }
        if kernels.op[number] >= 0:
            args["External id"] = kernels.op[number] + 1
        if number in kernels.graph_nodes:
            args["graph node id"] = kernels.graph_nodes[number]
        return {
            "ph": "X",
            "cat": _WORK[kernels.work[number]],
            "name": kernels.names[kernels.name[number]],
            "pid": _number(device),
            "tid": _number(stream),
            "ts": kernels.start[number],
            "dur": kernels.duration[number],
            "args": args,
        }

    # ------------------------------------------------------------------------ memory

    def memory(self) -> Iterator[Event]:
        """Allocations, each on the thread of the running row."""
        table, allocations = self._table, self._table.allocations
        for number in range(len(allocations)):
            op = allocations.op[number]
            pid, tid = table.threads[table.thread[op]] if op >= 0 else ("memory", "memory")
            kind, _, index = allocations.places[allocations.place[number]].partition(":")
            if kind not in DEVICE_TYPES or not (index or "0").isdecimal():
                continue  # segments of a snapshot: profiles have none
            yield {
                "ph": "i",
                "s": "t",
                "cat": "cpu_instant_event",
                "name": "[memory]",
                "pid": _number(pid),
                "tid": _number(tid),
                "ts": allocations.start[number],
                "args": {
                    "Bytes": allocations.size[number],
                    "Addr": allocations.address[number],
                    "Total Allocated": allocations.total[number],
                    "Total Reserved": allocations.reserved[number],
                    "Device Type": DEVICE_TYPES.index(kind),
                    "Device Id": int(index or 0) if kind != "cpu" else -1,
                },
            }


def _parents_first(table: Table) -> Iterator[int]:
    for root in table.roots:
        yield root
        yield from table.descendants(root)


def _lasting(table: Table, order: list[int]) -> dict[int, float]:
    """Durations for starts that are ranks, so that rows nest."""
    last = {row: table.start[row] for row in order}
    for row in reversed(order):
        parent = table.parent[row]
        if parent >= 0:
            last[parent] = max(last[parent], last[row])
    depth: dict[int, int] = {}
    for row in order:
        depth[row] = depth.get(table.parent[row], 0) + 1
    return {row: last[row] - table.start[row] + 0.5 + 0.4 / depth[row] for row in order}


def _meta(event: str, **args: Any) -> Event:
    return {"ph": "M", "name": event, "pid": 0, "tid": 0, "args": args}


def _named(what: str, pid: str, tid: str | int, name: str) -> Event:
    event = _meta(what, name=name)
    return event | {"pid": _number(pid), "tid": _number(tid)}


def _arrow_end(ph: str, category: str, number: int, pid: str, tid: str, start: float) -> Event:
    event = {"ph": ph, "cat": category, "name": category, "id": number, "ts": start}
    event |= {"pid": _number(pid), "tid": _number(tid)}
    return event | ({"bp": "e"} if ph == "f" else {})


def _number(text: str | int) -> str | int:
    """Process and thread ids as numbers if possible."""
    return int(text) if isinstance(text, str) and text.isdecimal() else text
