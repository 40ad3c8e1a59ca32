"""Reads recorded operators, memory and devices in columns: see ``docs/trace-format.md``."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from navigator.trace.building.builder import Builder
from navigator.trace.columns import NONE
from navigator.trace.inputs import output_text, parse_inputs
from navigator.trace.readers.events import encode, split_name
from navigator.trace.table import ANNOTATION, CALL, OP, Table

_INPUTS = ("Input type", "Input Dims", "Input Strides", "Concrete Inputs")
_OPERATORS = ("start", "duration", "sequence", "forward", "kind", "output", "at")
_MEMORY = ("start", "bytes", "device", "address", "total")
_VERSIONS = ("start", "storage", "version")
_STRIDED = "strided"


class OperatorKind(NamedTuple):
    """What many rows of the compiled recorder have in common, as numbers of the table."""

    kind: int
    """``OP`` or ``ANNOTATION``."""
    name: int
    inputs: int
    keys: int
    place: str
    """The device; empty for strided tensors on the CPU."""
    has_tensors: bool
    """Whether any input is a tensor; else the output has the device."""
    named: bool
    """Whether its overload was recorded, in a recording with overloads."""


class OperatorRow(NamedTuple):
    """An operator of the compiled recorder. Times in nanoseconds from the base."""

    start: int
    duration: int
    sequence: int
    forward: int
    """A Node's forward thread."""
    kind: int
    """Its kind, its results and its place, by number; 0 for none."""
    output: int
    at: int


class OperatorColumns:
    """Reads ``torchnav_ops``, ``torchnav_memory``, ``torchnav_versions`` and what they refer to.

    ``stacks`` and ``key_sets``: numbers in the file -> numbers in the table.
    """

    def __init__(
        self, table: Table, builder: Builder, stacks: dict[int, int], key_sets: dict[int, int]
    ) -> None:
        self._table, self._builder = table, builder
        self._stacks, self._key_sets = stacks, key_sets
        self._kinds: dict[int, OperatorKind] = {}
        self._outputs: dict[int, tuple[str, str]] = {}
        """Number in the file -> (text, places of the tensors)."""
        self._ats: dict[int, tuple[int, int]] = {}
        """Number in the file -> (stack, module)."""
        self.places: dict[int, str] = {}
        """Row -> device, for operators of the open window."""
        self.written: Counter[int] = Counter()
        """Thread -> number of rows in the file."""

    def kind(self, args: dict[str, Any]) -> None:
        """A kind: what many rows have in common."""
        name = split_name(str(args["name"]))
        types, dims, strides, values = (encode(args.get(field, [])) for field in _INPUTS)
        raw = (types, dims, strides, values)
        inputs = self._table.raw_inputs.number(raw) if _INPUTS[0] in args else NONE
        self._kinds[int(args["kind"])] = OperatorKind(
            ANNOTATION if args.get("annotation") else CALL if args.get("call") else OP,
            self._table.names.number(name),
            inputs,
            self._key_sets.get(int(args.get("keys", 0)), NONE),
            str(args.get("place", "")),
            any(parse_input.kind in ("tensor", "tensors") for parse_input in parse_inputs(*raw)),
            "overload" not in args,
        )

    def output(self, args: dict[str, Any]) -> None:
        """Results of rows."""
        types, dims = (encode(args[field]) for field in ("Output type", "Output Dims"))
        devices = [str(device) for device in args.get("Output device", ())]
        layouts = [str(layout) for layout in args.get("Output layout", ())]
        layouts = layouts or [_STRIDED] * len(devices)
        made = (
            device if layout == _STRIDED else f"{device}/{layout}"
            for device, layout in zip(devices, layouts, strict=True)
        )
        text = output_text(types, dims)
        self._outputs[int(args["output"])] = (text, "+".join(dict.fromkeys(made)))

    def at(self, args: dict[str, Any]) -> None:
        """Places in the program."""
        module = str(args.get("module", ""))
        number = self._table.modules.number(module) if module else NONE
        stack = self._stacks.get(int(args.get("stack", 0)), NONE)
        self._ats[int(args["at"])] = (stack, number)

    def operators(self, args: dict[str, Any], thread: int) -> None:
        """Operators of a thread, in the order of their ends."""
        self.written[thread] += len(args["start"])
        rows = [
            self.add_operator(OperatorRow(*one), thread) for one in column_rows(args, _OPERATORS)
        ]
        if "tensors" in args:
            self._place(rows, args["given"], args["made"], array("i", args["tensors"]))

    def _place(
        self, rows: list[int], taken: list[int], made: list[int], places: array[int]
    ) -> None:
        """The storages of rows' inputs and results, whose numbers are consecutive."""
        table, start = self._table, 0
        for row, took, gave in zip(rows, taken, made, strict=True):
            if took or gave:
                table.tensors[row] = len(table.placed)
                table.placed.extend((took, gave))
                table.placed.extend(places[start : start + took + gave])
                start += took + gave

    def add_operator(self, operator_row: OperatorRow, thread: int) -> int:
        """Returns its row in the table.

        Raises:
            KeyError: The recording does not define one of its numbers.
        """
        table, kind = self._table, self._kinds[operator_row.kind]
        output, made = self._outputs[operator_row.output] if operator_row.output else ("", "")
        stack, module = self._ats[operator_row.at] if operator_row.at else (NONE, NONE)
        sequence = operator_row.sequence if 0 <= operator_row.sequence < 2**63 else NONE
        times = (operator_row.start / 1000, operator_row.duration / 1000)
        row = table.append(kind.kind, kind.name, thread, *times, kind.inputs, sequence)
        table.keys[row], table.stack[row], table.module[row] = kind.keys, stack, module
        if output:
            table.outputs[row] = output
        if not kind.named:
            table.unnamed.add(row)
        if place := kind.place or ("" if kind.has_tensors else made):
            self.places[row] = place
        self._builder.add(row, row, operator_row.forward)
        return row

    def versions(self, args: dict[str, Any], thread: int) -> None:
        """Writes to storages in a thread."""
        self.written[thread] += len(args["start"])
        for start, storage, version in column_rows(args, _VERSIONS):
            self.add_version(start, storage, version)

    def add_version(self, start: int, storage: int, version: int) -> None:
        """Set a storage's version from ``start``, nanoseconds after the base."""
        self._table.versions.add(storage, start / 1000, version)

    def memory(self, args: dict[str, Any], thread: int) -> None:
        """Memory events of a thread."""
        self.written[thread] += len(args["start"])
        devices = [str(name) for name in args["devices"]]
        for start, size, device, address, total in column_rows(args, _MEMORY):
            self.add_memory(start, size, devices[device], address, total, thread)

    def add_memory(
        self, start: int, size: int, place: str, address: int, total: int, thread: int
    ) -> None:
        """A memory event ``start`` nanoseconds after the base."""
        allocations = self._table.allocations
        number = allocations.append(start / 1000, size, place, address, total)
        self._builder.add_allocation(thread, number)


WORK = {"kernel": 0, "gpu_memcpy": 1, "gpu_memset": 2, "Kernel": 0, "Memcpy": 1, "Memset": 2}
"""Categories of device work, with their index in ``columns.WORKS``."""
_LAUNCHES = ("work", "start", "duration", "correlation")
_WORKS = (*_LAUNCHES, "device", "stream", "node")
_ADDED = ("start", "call", "sequence", "address", "total", "correlation", "node")
"""Columns with differences to the previous row."""


class DeviceColumns:
    """Reads ``torchnav_work``, ``torchnav_launches`` and ``torchnav_works``."""

    def __init__(self, table: Table, builder: Builder) -> None:
        self._table, self._builder = table, builder
        self._names: dict[int, tuple[int, str]] = {}
        """Number in the file -> (kind of work, name)."""

    def name(self, args: dict[str, Any]) -> None:
        """The name of a launch or of work."""
        what = WORK.get(str(args["cat"]), 0)
        self._names[int(args["work"])] = what, str(args["name"])

    def launches(self, args: dict[str, Any], thread: int) -> None:
        """Runtime calls of a thread."""
        for work, start, duration, correlation in column_rows(args, _LAUNCHES):
            times = start / 1000, duration / 1000
            self._builder.add_launch(thread, *times, correlation, self._names[work][1])

    def works(self, args: dict[str, Any]) -> None:
        """Kernels, copies and fills."""
        kernels = self._table.kernels
        for work, start, duration, correlation, device, stream, node in column_rows(args, _WORKS):
            what, name = self._names[work]
            place, times = (str(device), str(stream)), (start / 1000, duration / 1000)
            kernels.append(what, name, place, *times, correlation)
            if node:
                kernels.graph_nodes[len(kernels) - 1] = node


def column_rows(args: dict[str, Any], names: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """The rows of an event with columns of these names."""
    columns = (accumulate(args[name]) if name in _ADDED else args[name] for name in names)
    return zip(*columns, strict=True)
