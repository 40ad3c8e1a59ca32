"""What torchnav's recorder adds to a Chrome trace: see ``docs/trace-format.md``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from indexes.model.vocabulary import Location
from navigator.trace.builder import Builder
from navigator.trace.inputs import output_text
from navigator.trace.model import StackFrame, TraceMeta
from navigator.trace.readers.events import Args, Event, plain_args
from navigator.trace.table import CALL, NONE, Stack, Table

PREFIX = "torchnav_"
FORMAT_VERSION = 1


class OwnEvents:
    """Reads the events whose name begins with ``torchnav_`` and those of category
    ``torchnav_call``. ``thread`` and ``time`` come from the reader of all other events."""

    def __init__(self, meta: TraceMeta, table: Table, builder: Builder) -> None:
        self._meta = meta
        self._table = table
        self._builder = builder
        self._stacks: dict[int, int] = {}
        self._announced: dict[int, int] = {}
        self._rows: dict[int, int] = {}
        """Call number -> row, of the calls of the open window."""
        self._backwards: list[tuple[float, float, int]] = []
        """(start, end, call number) of the backward passes of the open window."""
        self._operators: list[tuple[int, int, str, int]] = []
        """(row, stack, module, keys) of operators of the compiled recorder."""
        self._places: dict[int, str] = {}
        self._key_sets: dict[int, int] = {}
        self.base_ns = 0
        self._handlers: dict[str, Callable[[Event, dict[str, Any]], None]] = {
            "program": self._program,
            "run": self._run,
            "stack": self._stack,
            "call": self._call,
            "window": self._window,
            "backward": self._backward,
            "problem": self._problem,
            "end": self._end,
            "keys": self._keys,
        }

    def read(self, event: Event, thread: int) -> None:
        """One metadata event. What cannot be understood is passed over."""
        handler = self._handlers.get(event.name[len(PREFIX) :])
        if handler is None:
            return
        self._thread = thread
        try:
            handler(event, plain_args(event))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            self._meta.problems.append(f"an event {event.name} could not be read: {error!r}")

    def add_call(self, event: Event, thread: int, start: float, duration: float) -> None:
        """A call of a closed window, announced before or not."""
        args = plain_args(event)
        number = int(args.get("call", 0))
        row = self._announced.pop(number, NONE)
        if row >= 0:
            self._builder.complete(row, start, duration)
        else:
            name = self._table.names.number((event.name, None))
            row = self._builder.add(CALL, name, thread, start, duration)
            self._describe(row, args)
        self._rows[number] = row

    def add_operator(self, row: int, args: Args) -> None:
        """What the compiled recorder knows of an operator."""
        self._operators.append((row, args.stack, args.module, args.keys))
        external = args.external
        if args.place and isinstance(external, int):
            self._places[external] = args.place
        if args.output_types:
            text = output_text(bytes(args.output_types), bytes(args.output_dims))
            if text:
                self._table.outputs[row] = text

    def close_window(self, places: dict[int, str] | None) -> None:
        """What was announced and did not come with the window ran no operator."""
        self._builder.backward = [
            (start, end, self._rows[call])
            for start, end, call in self._backwards
            if call in self._rows
        ]
        self._backwards.clear()
        if self._operators:
            places = {**self._places, **(places or {})}
            self._settle_operators()
        self._builder.drop(self._announced.values())
        self._announced.clear()
        self._rows.clear()
        self._builder.close_window(places)

    def _settle_operators(self) -> None:
        table = self._table
        table.complete_rows()
        for row, stack, module, keys in self._operators:
            table.stack[row] = self._stacks.get(stack, NONE)
            if module:
                table.module[row] = table.modules.number(module)
            table.keys[row] = self._key_sets.get(keys, NONE)
        self._operators.clear()
        self._places = {}

    def _keys(self, _event: Event, args: dict[str, Any]) -> None:
        names = tuple(str(name) for name in args["names"])
        self._key_sets[int(args["keys"])] = self._table.key_sets.number(names)

    def microseconds(self, nanoseconds: int) -> float:
        return (nanoseconds - self.base_ns) / 1000

    # -------------------------------------------------------------------- the events

    def _program(self, _event: Event, args: dict[str, Any]) -> None:
        self._meta.format = "torchnav"
        self._meta.cwd = str(args.get("cwd", ""))
        self._meta.command = tuple(str(part) for part in args.get("command", ()))

    def _run(self, _event: Event, args: dict[str, Any]) -> None:
        meta = self._meta
        if int(args["format"]) > FORMAT_VERSION:
            meta.problems.append("recorded by a newer torchnav: parts may be missing here")
        meta.torch, meta.torch_git = str(args["torch"]), str(args.get("torch_git") or "")
        meta.python = str(args.get("python", ""))
        meta.overloads = bool(args.get("overloads"))
        meta.lacks += [_LACKING[name] for name in args.get("lacks", ()) if name in _LACKING]
        self.base_ns = int(args.get("base_ns", 0))
        self._table.zero = self.microseconds(int(args.get("start_ns", self.base_ns)))

    def _stack(self, _event: Event, args: dict[str, Any]) -> None:
        frames = tuple(
            StackFrame(Location(str(path), int(line)), str(function))
            for path, line, function in args["frames"]
        )
        self._table.stacks.append(Stack(frames, int(args["user"])))
        self._stacks[int(args["stack"])] = len(self._table.stacks) - 1

    def _call(self, event: Event, args: dict[str, Any]) -> None:
        name = self._table.names.number((str(args["function"]), None))
        start, duration = self.microseconds(int(args["start_ns"])), int(args["duration_ns"]) / 1000
        row = self._table.append(CALL, name, self._thread, start, duration)
        self._describe(row, args)
        self._builder.announce_root(row)
        self._announced[int(args["call"])] = row

    def _describe(self, row: int, args: dict[str, Any]) -> None:
        table = self._table
        table.complete_rows()
        table.stack[row] = self._stacks.get(int(args.get("stack", 0)), NONE)
        module, output = args.get("module"), args.get("output")
        if module:
            table.module[row] = table.modules.number(str(module))
        if output:
            table.outputs[row] = str(output)

    def _window(self, _event: Event, args: dict[str, Any]) -> None:
        places = {
            int(external): str(place)
            for place, externals in args.get("places", {}).items()
            for external in externals
        }
        self._meta.devices = self._meta.devices or tuple(
            str(device.get("name", "?")) for device in args.get("devices", ())
        )
        self.close_window(places)

    def _backward(self, _event: Event, args: dict[str, Any]) -> None:
        start = self.microseconds(int(args["start_ns"]))
        span = (start, start + int(args["duration_ns"]) / 1000, int(args["call"]))
        self._backwards.append(span)

    def _problem(self, _event: Event, args: dict[str, Any]) -> None:
        self._meta.problems.append(str(args["message"]))

    def _end(self, _event: Event, _args: dict[str, Any]) -> None:
        self._meta.complete = True


_LACKING = {
    "capture_overload_names": "overload names: this torch does not record them, they are "
    "worked out from the inputs",
    "profile_all_threads": "operators of threads other than the main one: this torch does not "
    "record them",
}
