"""Reads what torchnav's recorder adds to a Chrome trace: see ``docs/trace-format.md``."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import msgspec

from indexes.model.vocabulary import Location
from navigator.trace.building.builder import Builder
from navigator.trace.columns import NONE
from navigator.trace.model import ProgramDefinition, ProgramError, StackFrame, TraceMeta
from navigator.trace.readers.compile_rows import CompileEvents
from navigator.trace.readers.events import Event, plain_args
from navigator.trace.readers.operator_columns import (
    DeviceColumns,
    OperatorColumns,
    OperatorRow,
    column_rows,
)
from navigator.trace.table import CALL, PHASES, Stack, Table

PREFIX = "torchnav_"
FORMAT_VERSION = 2
_CALLS = ("call", "called", "start", "duration")


class OwnEvents:
    """Reads the events whose name begins with ``torchnav_`` and those of category
    ``torchnav_call``. ``thread`` and ``time`` come from the reader of other events."""

    def __init__(self, meta: TraceMeta, table: Table, builder: Builder) -> None:
        self._meta = meta
        self._table = table
        self._builder = builder
        self._stacks: dict[int, int] = {}
        """Number in the file -> number in the table; likewise for key sets."""
        self._key_sets: dict[int, int] = {}
        self._announced: dict[int, int] = {}
        """Call number -> row, for calls whose window has not been read yet."""
        self._closed_call = 0
        self._closed_at = -math.inf
        """The last call read with its window, and the end of the last window."""
        self._called: dict[int, dict[str, Any]] = {}
        """Common fields of calls in columns, by number."""
        self._rows: dict[int, int] = {}
        """The same for calls of the open window."""
        self._backwards: list[tuple[float, float, int]] = []
        """(start, end, call number) of backward passes in the open window."""
        self.pid = ""
        """The process that was recorded."""
        self.is_compiled = False
        """Whether it is from the compiled recorder."""
        self._thread = 0
        self._base_ns = 0
        self.exported = False
        """Whether it is an exported trace."""
        self._is_timed = True
        self._phases: dict[int, int] = {}
        """Row -> phase, in an exported trace without times."""
        self._compiling = CompileEvents(table, builder)
        self._devices = DeviceColumns(table, builder)
        self.operators = OperatorColumns(table, builder, self._stacks, self._key_sets)

    def read(self, event: Event, thread: int) -> None:
        """One metadata event, with the method ``_on_NAME``; others are ignored."""
        handler = getattr(self, f"_on_{event.name[len(PREFIX) :]}", None)
        if handler is None:
            return
        self._thread, self.pid = thread, str(event.pid)
        try:
            handler(plain_args(event))
        except (LookupError, AttributeError, TypeError, ValueError, OverflowError) as error:
            self._meta.problems.append(f"an event {event.name} could not be read: {error!r}")

    def describe(self, row: int, fields: dict[str, Any]) -> None:
        """Set fields of an exported row that the profiler has no place for."""
        table = self._table
        table.stack[row] = self._stacks.get(int(fields.get("stack", 0)), NONE)
        table.keys[row] = self._key_sets.get(int(fields.get("keys", 0)), NONE)
        if fields.get("module"):
            table.module[row] = table.modules.number(str(fields["module"]))
        if fields.get("output"):
            table.outputs[row] = str(fields["output"])
        if fields.get("place"):
            table.place[row] = table.places.number(str(fields["place"]))
        if "compilation" in fields:
            self._compiling.take(row, str(fields["compilation"]))
        if fields.get("unfinished"):
            table.unfinished.add(row)
        if fields.get("unnamed"):
            table.unnamed.add(row)
        if fields.get("phase") in PHASES:
            self._phases[row] = PHASES.index(fields["phase"])

    def _settle_export(self) -> None:
        """For an exported trace without times, drop the times that encode its tree."""
        for row, phase in self._phases.items():
            self._table.phase[row] = phase
        if not self._is_timed:
            for row in range(len(self._table)):
                self._table.duration[row] = 0.0

    def add_call(self, event: Event, thread: int, start: float, duration: float) -> None:
        """A call of a closed window, announced before or not."""
        args = plain_args(event)
        number = int(args.get("call", 0))
        row = self._close_call(number, event.name, thread, (start, duration), args)
        if self.exported:
            self.describe(row, args)

    @property
    def last_call(self) -> int:
        """The number of the last call in the file; numbers are shared by all threads."""
        return max([self._closed_call, *self._announced])

    def lacks(self, call: OperatorRow) -> bool:
        """Whether a call of a tail, whose number is in its sequence number, is missing here."""
        over = (call.start + call.duration) / 1000 > self._closed_at
        return over and call.sequence not in self._announced

    def add_ended(self, row: OperatorRow, thread: int) -> None:
        """A row of a tail; calls among them belong to a window that was never written."""
        if self.is_compiled:
            self.operators.add_operator(row, thread)
        else:
            plain = row._replace(sequence=NONE)
            self._announced[row.sequence] = self.operators.add_operator(plain, thread)

    @property
    def empty_calls(self) -> int:
        """Number of calls without operators because their window was never written."""
        return len(self._announced)

    def _close_call(
        self, number: int, name: str, thread: int, times: tuple[float, float], args: dict[str, Any]
    ) -> int:
        row = self._announced.pop(number, NONE)
        if row >= 0:
            self._table.start[row], self._table.duration[row] = times
        else:
            row = self._new_call(name, thread, *times, args)
        self._builder.add(row)
        self._rows[number] = row
        self._closed_call = max(self._closed_call, number)
        return row

    def _close_window(self, places: dict[int, str], last_call: float = math.inf) -> None:
        """Announced calls missing from the window ran no operator, up to its last call; later calls
        may precede the window."""
        self._builder.settling.backward = [
            (start, end, self._rows[call])
            for start, end, call in self._backwards
            if call in self._rows
        ]
        self._backwards = [backward for backward in self._backwards if backward[2] > last_call]
        over = [number for number in self._announced if number <= last_call]
        self._builder.drop([self._announced.pop(number) for number in over])
        self._builder.close_window(self.operators.places | places)
        for collected in (self._rows, self.operators.places):
            collected.clear()
        self._compiling.add_rows()

    def finish(self) -> None:
        """The trace ends here; build it."""
        self._compiling.add_rows(last=True)
        self._settle_export()

    def _on_keys(self, args: dict[str, Any]) -> None:
        names = tuple(str(name) for name in args["names"])
        self._key_sets[int(args["keys"])] = self._table.key_sets.number(names)

    def _on_error(self, args: dict[str, Any]) -> None:
        frames = _frames(args["frames"])
        fields = (str(args["type"]), str(args["message"]), frames, str(args.get("raised_in", "")))
        self._meta.error = ProgramError(*fields)

    def _on_thread(self, args: dict[str, Any]) -> None:
        self._builder.links.know_thread(int(args["forward"]), self._thread)

    def _on_kind(self, args: dict[str, Any]) -> None:
        self.operators.kind(args)

    def _on_output(self, args: dict[str, Any]) -> None:
        self.operators.output(args)

    def _on_at(self, args: dict[str, Any]) -> None:
        self.operators.at(args)

    def _on_ops(self, args: dict[str, Any]) -> None:
        self.operators.operators(args, self._thread)

    def _on_versions(self, args: dict[str, Any]) -> None:
        self.operators.versions(args, self._thread)

    def _on_memory(self, args: dict[str, Any]) -> None:
        self.operators.memory(args, self._thread)

    def _on_tensor(self, args: dict[str, Any]) -> None:
        place = (int(args["storage"]), int(args["offset"]))
        self._table.storage_places[int(args["tensor"])] = place

    def _on_work(self, args: dict[str, Any]) -> None:
        self._devices.name(args)

    def _on_launches(self, args: dict[str, Any]) -> None:
        self._devices.launches(args, self._thread)

    def _on_works(self, args: dict[str, Any]) -> None:
        self._devices.works(args)

    def close_rows(self) -> None:
        """The compiled recorder's file has ended, so its last rows are complete."""
        if self.is_compiled:
            self._close_window({})

    def _microseconds(self, nanoseconds: int) -> float:
        return (nanoseconds - self._base_ns) / 1000

    # -------------------------------------------------------------------- the events

    def _on_program(self, args: dict[str, Any]) -> None:
        self._meta.format = "torchnav"
        self._meta.cwd = str(args.get("cwd", ""))
        if args.get("rank") is not None:
            self._meta.rank = int(args["rank"])
        self._meta.command = tuple(str(part) for part in args.get("command", ()))

    def _on_export(self, args: dict[str, Any]) -> None:
        path = self._meta.path
        meta = msgspec.convert({**args["meta"], "path": path}, TraceMeta, strict=False)
        for one in fields(TraceMeta):
            setattr(self._meta, one.name, getattr(meta, one.name))
        self.exported, self._is_timed = True, bool(args["timed"])
        self._table.zero = args["zero"]

    def _on_run(self, args: dict[str, Any]) -> None:
        meta = self._meta
        if int(args["format"]) > FORMAT_VERSION:
            meta.problems.append("recorded by a newer torchnav: parts may be missing here")
        self.is_compiled = args.get("recorder") == "compiled"
        if int(args["format"]) < FORMAT_VERSION and self.is_compiled:
            meta.problems.append("recorded by an older torchnav: lines and modules are missing")
        meta.torch, meta.torch_git = str(args["torch"]), str(args.get("torch_git") or "")
        meta.torch_root = str(args.get("torch_root") or "")
        meta.python = str(args.get("python", ""))
        meta.overloads = bool(args.get("overloads"))
        meta.definitions = bool(args.get("definitions"))
        meta.lacks += [_LACKING[name] for name in args.get("lacks", ()) if name in _LACKING]
        self._base_ns = meta.base_ns = int(args.get("base_ns", 0))
        self._table.zero = self._microseconds(int(args.get("start_ns", self._base_ns)))

    def _on_stack(self, args: dict[str, Any]) -> None:
        frames = _frames(args["frames"])
        self._table.stacks.append(Stack(frames, int(args["user"]), bool(args.get("exact", True))))
        self._stacks[int(args["stack"])] = len(self._table.stacks) - 1

    def _on_call(self, args: dict[str, Any]) -> None:
        start, duration = self._microseconds(int(args["start_ns"])), int(args["duration_ns"]) / 1000
        row = self._new_call(str(args["function"]), self._thread, start, duration, args)
        self._builder.announce_root(row)
        self._announced[int(args["call"])] = row

    def _on_called(self, args: dict[str, Any]) -> None:
        self._called[int(args["called"])] = args

    def _on_calls(self, args: dict[str, Any]) -> None:
        """Calls in columns: announced ones, or those of the window that closes next."""
        for number, called, start, duration in column_rows(args, _CALLS):
            kind, times = self._called[called], (start / 1000, duration / 1000)
            name = str(kind["function"])
            if args["closed"]:
                self._close_call(number, name, self._thread, times, kind)
            else:
                self._announced[number] = row = self._new_call(name, self._thread, *times, kind)
                self._builder.announce_root(row)

    def _new_call(
        self, name: str, thread: int, start: float, duration: float, args: dict[str, Any]
    ) -> int:
        table = self._table
        row = table.append(CALL, table.names.number((name, None)), thread, start, duration)
        table.stack[row] = self._stacks.get(int(args.get("stack", 0)), NONE)
        module, output = args.get("module"), args.get("output")
        if module:
            table.module[row] = table.modules.number(str(module))
        if output:
            table.outputs[row] = str(output)
        return row

    def _on_compile_begin(self, args: dict[str, Any]) -> None:
        start, name = self._microseconds(int(args["at_ns"])), str(args["name"])
        self._compiling.begin(self._thread, start, name, str(args["id"]))

    def _on_compile_end(self, args: dict[str, Any]) -> None:
        self._compiling.end(self._thread, self._microseconds(int(args["at_ns"])))

    def _on_compiled(self, args: dict[str, Any]) -> None:
        self._compiling.log.take(args)

    def _on_compile_log(self, args: dict[str, Any]) -> None:
        self._compiling.log.add(dict(args["entry"]), str(args["text"]).split("\n"))

    def _on_window(self, args: dict[str, Any]) -> None:
        places = {
            int(external): str(place)
            for place, externals in args.get("places", {}).items()
            for external in externals
        }
        self._meta.devices = self._meta.devices or tuple(
            str(device.get("name", "?")) for device in args.get("devices", ())
        )
        self._close_window(places, args.get("last_call", math.inf))
        self._closed_at = self._microseconds(int(args.get("end_ns", self._base_ns)))

    def _on_backward(self, args: dict[str, Any]) -> None:
        start = self._microseconds(int(args["start_ns"]))
        span = (start, start + int(args["duration_ns"]) / 1000, int(args["call"]))
        self._backwards.append(span)

    def _on_definition(self, args: dict[str, Any]) -> None:
        kind, name, function, key, schema = (
            str(args.get(field, "")) for field in ("kind", "name", "function", "key", "schema")
        )
        place = Location(str(args["path"]), int(args["line"]))
        one = ProgramDefinition(kind, name, place, function, key, schema)
        self._table.definitions.append(one)

    def _on_storages(self, args: dict[str, Any]) -> None:
        moment = self._microseconds(int(args.pop("time_ns")))
        for category, addresses in args.items():
            numbers = tuple(int(address) for address in addresses)
            self._table.storages.append((moment, category, numbers))

    def _on_problem(self, args: dict[str, Any]) -> None:
        self._meta.problems.append(str(args["message"]))

    def _on_end(self, _args: dict[str, Any]) -> None:
        self._meta.complete = True


def _frames(frames: Any) -> tuple[StackFrame, ...]:
    return tuple(
        StackFrame(Location(str(path), int(line)), str(function)) for path, line, function in frames
    )


_LACKING = {
    "capture_overload_names": "overload names: this torch does not record them, they are "
    "worked out from the inputs",
    "profile_all_threads": "operators of threads other than the main one: this torch does not "
    "record them, or not together with memory",
}
