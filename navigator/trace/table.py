"""The rows of a trace as columns: a million operators in about a hundred megabytes."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from itertools import islice
from operator import itemgetter
from typing import Generic, TypeVar, cast

from indexes.model.vocabulary import Location
from navigator.trace.compiling.model import Compilation, Graph
from navigator.trace.inputs import parse_inputs
from navigator.trace.model import (
    Allocation,
    DeviceKernel,
    DeviceWork,
    Input,
    OpKind,
    Origin,
    Phase,
    ProgramDefinition,
    StackFrame,
    TensorState,
    TraceOp,
)

_T = TypeVar("_T", bound=Hashable)

KINDS: tuple[str, ...] = ("call", "op", "node", "engine", "annotation", "region")
CALL, OP, NODE, ENGINE, ANNOTATION, REGION = range(6)
GONE = 6
"""Kind of a call that turned out to run no operator."""
PHASES: tuple[str, ...] = ("forward", "backward", "optimizer", "compile")
FORWARD, BACKWARD, OPTIMIZER, COMPILE = range(4)
ORIGINS: tuple[str, ...] = ("", "engine", "hook", "recompute")
FORMULA, BY_ENGINE, BY_HOOK, RECOMPUTE = range(4)
WORKS: tuple[str, ...] = ("kernel", "memcpy", "memset")
NONE = -1


class Interned(Generic[_T]):
    """Values seen, each once; a number stands for each."""

    def __init__(self) -> None:
        self.values: list[_T] = []
        self._numbers: dict[_T, int] = {}

    def number(self, value: _T) -> int:
        if value not in self._numbers:
            self._numbers[value] = len(self.values)
            self.values.append(value)
        return self._numbers[value]

    def __getitem__(self, number: int) -> _T:
        return self.values[number]


class Stack:
    """Frames innermost first, the index of the user's, and whether lines are exact."""

    __slots__ = ("exact", "frames", "user")

    def __init__(self, frames: tuple[StackFrame, ...], user: int, exact: bool = True) -> None:
        self.frames, self.user, self.exact = frames, user, exact

    @property
    def location(self) -> Location | None:
        return self.frames[self.user].location if 0 <= self.user < len(self.frames) else None


RawInputs = tuple[bytes, bytes, bytes, bytes]


class Table:
    """Columns of rows, and of device kernels. Only builders write to it; rows never move."""

    def __init__(self) -> None:
        self.names: Interned[tuple[str, str | None]] = Interned()
        """(name, overload)"""
        self.threads: Interned[tuple[str, str]] = Interned()
        """(pid, tid)"""
        self.raw_inputs: Interned[RawInputs] = Interned()
        self.modules: Interned[str] = Interned()
        self.key_sets: Interned[tuple[str, ...]] = Interned()
        """Dispatch keys, the first one first."""
        self.storage_places: dict[int, tuple[int, int]] = {}
        """A storage and an offset into it, by the number that stands for them."""
        self.placed = array("i")
        """Of each row that says so: how many tensors it took, how many it made, and the number of
        each; 0 for one without a storage. ``tensors`` says where that begins."""
        self.versions = VersionTable()
        self.places: Interned[str] = Interned()
        """``cuda:0``, ``cpu/sparse_coo``"""
        self.zero: float | None = None
        """Time of the earliest row, from which all times are counted."""
        self.default_place = ""
        """Where operators run that say nothing: ``cpu`` as long as nothing else was seen."""
        self.stacks: list[Stack] = []
        self.outputs: dict[int, str] = {}
        self.allocated: dict[int, int] = {}
        """Bytes that a row itself allocated, where allocations were recorded."""
        self.forward: dict[int, int] = {}
        """Row of a Node, or of the engine around it -> row of its forward operator."""
        self.forward_notes: dict[int, str] = {}
        """The same rows -> why there is no such operator, or by which rule it was found, where
        that is not the sequence number."""
        self.reverse: dict[int, int] = {}
        """Forward operator's row -> row of the Node."""
        self.forward_threads: dict[int, int] = {}
        """Row of a Node, or of the engine around it -> the profiler's number of the thread on which
        it was made."""
        self.prints: set[int] = set()
        """Calls that print a tensor, which takes many operators."""
        self.compilations: dict[int, str] = {}
        """Rows within which a compiler ran -> the number of the compilation, ``0/1``, where told;
        all below them is of the phase ``compile``."""
        self.compiled: list[Compilation] = []
        """What torch.compile said of each compilation."""
        self.unreal_places: set[str] = set()
        """Those where nothing but a compiler's tensors without data were: ``meta``."""
        self.untimed: set[int] = set()
        """Rows of what was told without a time: what a compiler says of itself."""
        self.graphs: dict[int, Graph] = {}
        """The graphs among them, by their rows."""
        self.graphs_of: dict[tuple[str, bool], list[int]] = {}
        """Number of a compilation and whether it is a backward graph -> rows of graphs."""
        self.unfinished: set[int] = set()
        """Rows that were running when the program died: they end when the recording does."""
        self.unnamed: set[int] = set()
        """Operators without an overload in a trace whose other operators have one."""
        self.kind, self.phase, self.origin = (array("b") for _ in range(3))
        self.name, self.thread, self.inputs = (array("i") for _ in range(3))
        self.start, self.duration = array("d"), array("d")
        self.sequence = array("q")
        self._unset = tuple(array("i") for _ in range(10))
        """Columns that begin as NONE; rows, and numbers of what is interned above."""
        self.parent, self.first_child, self.last_child, self.next_sibling, *rest = self._unset
        self.node, self.stack, self.module, self.place, self.keys, self.tensors = rest
        self.roots: list[int] = []
        self.definitions: list[ProgramDefinition] = []
        """What the program defines itself, in the order of the file."""
        self.storages: list[tuple[float, str, tuple[int, ...]]] = []
        """When, what for and where: memory that Python knew, such as that of parameters."""
        self.kernels = KernelTable()
        self.launches = LaunchTable()
        self.allocations = AllocationTable()
        self._parsed = cache(lambda number: parse_inputs(*self.raw_inputs[number]))

    def __len__(self) -> int:
        return len(self.origin)  # the column that a new row reaches last

    def append(
        self,
        kind: int,
        name: int,
        thread: int,
        start: float,
        duration: float,
        inputs: int = NONE,
        sequence: int = NONE,
    ) -> int:
        """A new row: numbers of ``names``, ``threads`` and ``raw_inputs``; microseconds."""
        row = len(self.kind)
        self.kind.append(kind)
        self.name.append(name)
        self.thread.append(thread)
        self.start.append(start)
        self.duration.append(duration)
        self.inputs.append(inputs)
        self.sequence.append(sequence)
        for column in self._unset:
            column.append(NONE)
        self.phase.append(FORWARD)
        self.origin.append(FORMULA)
        return row

    def adopt(self, parent: int, row: int) -> None:
        """Make ``row`` the last child of ``parent``."""
        self.parent[row] = parent
        last = self.last_child[parent]
        if last < 0:
            self.first_child[parent] = row
        else:
            self.next_sibling[last] = row
        self.last_child[parent] = row

    def adopt_first(self, parent: int, rows: Sequence[int]) -> None:
        """Make rows, which have no parent yet, the first children of ``parent``."""
        for row in reversed(rows):
            self.parent[row] = parent
            self.next_sibling[row] = self.first_child[parent]
            self.first_child[parent] = row
            if self.last_child[parent] < 0:
                self.last_child[parent] = row

    def add_graphs(self, one: Compilation) -> None:
        """Take in the graphs of a compilation that have rows by now."""
        for graph in one.kept_graphs():
            if graph.row >= 0 and graph.row not in self.graphs:
                self.graphs[graph.row] = graph
                self.graphs_of.setdefault((one.id, graph.is_backward), []).append(graph.row)

    # ------------------------------------------------------------------------ reading

    def children(self, row: int) -> Iterator[int]:
        child = self.first_child[row]
        while child >= 0:
            yield child
            child = self.next_sibling[child]

    def descendants(self, row: int) -> Iterator[int]:
        """Everything below, in order of time within each thread."""
        waiting = list(self.children(row))[::-1]
        while waiting:
            child = waiting.pop()
            yield child
            waiting += list(self.children(child))[::-1]

    def operators(self) -> Iterator[int]:
        """The operators of the program: those that its compiler runs are none."""
        kinds, phases = self.kind, self.phase
        return (row for row in range(len(self)) if kinds[row] == OP and phases[row] != COMPILE)

    def compiler_rows(self) -> list[int]:
        """The rows of compilations, but for threads that help in them, which have no number; older
        versions tell none at all."""
        numbered = [row for row, number in self.compilations.items() if number]
        return numbered or list(self.compilations)

    def compilation_around(self, row: int) -> int:
        """The outermost compilation in which a row stands, NONE where it stands in none."""
        found = NONE
        while row >= 0 and self.phase[row] == COMPILE:
            found = row
            row = self.parent[row]
        return found

    def print_around(self, row: int) -> int:
        """The call that prints a tensor in which a row stands, NONE where it stands in none."""
        while self.prints and row >= 0 and row not in self.prints:
            row = self.parent[row]
        return row if self.prints else NONE

    def op(self, row: int) -> TraceOp:
        """The row in full. Raises IndexError for a row that is not there."""
        name, overload = self.names[self.name[row]]
        node = self.node[row]
        stack = self.stacks[self.stack[row]] if self.stack[row] >= 0 else _NO_STACK
        device, _, layout = self._place(row).partition("/")
        return TraceOp(
            id=row,
            parent=_optional(self.parent[row]),
            kind=cast(OpKind, KINDS[min(self.kind[row], REGION)]),
            name=name,
            overload=overload,
            phase=cast(Phase, PHASES[self.phase[row]]),
            origin=cast(Origin, ORIGINS[self.origin[row]]),
            node=self._node_name(node) if node >= 0 else None,
            node_id=_optional(node),
            forward_id=self.forward.get(node),
            sequence=self.sequence[row],
            thread=_thread_number(self.threads[self.thread[row]][1]),
            start_us=self.start[row] - (self.zero or 0.0),
            duration_us=self.duration[row],
            inputs=self.inputs_of(row),
            output=self.outputs.get(row, ""),
            user=stack.location,
            user_exact=stack.exact,
            stack=stack.frames,
            module=self.modules[self.module[row]] if self.module[row] >= 0 else "",
            device=device or None,
            layout=layout or "strided",
            keys=self.key_sets[self.keys[row]] if self.keys[row] >= 0 else (),
            unfinished=row in self.unfinished,
        )

    def label(self, number: int) -> str:
        """A name by its number, with the overload: ``aten::add.Tensor``."""
        name, overload = self.names[number]
        return f"{name}.{overload}" if overload else name

    def name_of(self, row: int) -> str:
        """The name of a row, without the overload."""
        name, _ = self.names[self.name[row]]
        return name

    def _node_name(self, row: int) -> str:
        name = self.name_of(row)
        return name.rpartition(": ")[2] if self.kind[row] == ENGINE else name

    def _place(self, row: int) -> str:
        return self.places[self.place[row]] if self.place[row] >= 0 else self.default_place

    def has_tensors(self, row: int) -> bool:
        """Whether any of its recorded inputs is a tensor."""
        return any(value.kind in ("tensor", "tensors") for value in self.inputs_of(row))

    def inputs_of(self, row: int) -> tuple[Input, ...]:
        number = self.inputs[row]
        return self._parsed(number) if number >= 0 else ()

    def states_of(self, row: int) -> tuple[States, States]:
        """The storages of what a row took, by argument, when it began, and of what it made, when it
        ended; empty where they were not recorded."""
        at = self.tensors[row]
        if at < 0:
            return (), ()
        middle = at + 2 + self.placed[at]
        given, made = (
            self.placed[at + 2 : middle],
            self.placed[middle : middle + self.placed[at + 1]],
        )
        start = self.start[row]
        taken = iter([self._state(number, start) for number in given])
        counts = (_TENSORS.get(one.kind, len(one.elements)) for one in self.inputs_of(row))
        end = start + self.duration[row]
        return (
            tuple(tuple(islice(taken, count)) for count in counts),
            tuple((self._state(number, end),) for number in made),
        )

    def _state(self, number: int, moment: float) -> TensorState | None:
        if number not in self.storage_places:
            return None
        storage, offset = self.storage_places[number]
        return TensorState(storage, offset, self.versions.at(storage, moment))


States = tuple[tuple[TensorState | None, ...], ...]
"""For each argument its tensors, or those of a list; None for one without a storage."""
_TENSORS = {"tensor": 1, "scalar": 0, "scalars": 0, "other": 0}
_NO_STACK = Stack((), -1)


def _optional(row: int) -> int | None:
    return row if row >= 0 else None


def _thread_number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


class KernelTable:
    """Device work as columns."""

    def __init__(self) -> None:
        self.names: Interned[str] = Interned()
        self.places: Interned[tuple[str, str]] = Interned()
        """(device, stream)"""
        self.work = array("b")
        self.name, self.place, self.op = (array("i") for _ in range(3))
        self.start, self.duration = array("d"), array("d")
        self.correlation = array("q")
        self.launch: dict[int, str] = {}
        """Correlation -> name of the runtime call."""
        self.reasons: dict[int, str] = {}
        self.graph_nodes: dict[int, int] = {}
        """Of work that the replay of a graph did: the graph in the upper 32 bits, in the lower ones
        its node, which count in the order of the capture."""
        self.by_op: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return len(self.work)

    def append(
        self, work: int, name: str, place: tuple[str, str], start: float, duration: float, to: int
    ) -> None:
        """``to`` is the correlation id of its launch."""
        self.name.append(self.names.number(name))
        self.place.append(self.places.number(place))
        self.start.append(start)
        self.duration.append(duration)
        self.correlation.append(to)
        self.op.append(NONE)
        self.work.append(work)

    def assign(self, kernel: int, op: int) -> None:
        """Note which operator launched it, in place of one that was known before."""
        if self.op[kernel] >= 0:
            self.by_op[self.op[kernel]].remove(kernel)
        self.op[kernel] = op
        self.by_op.setdefault(op, []).append(kernel)

    def kernel(self, number: int, zero: float = 0.0) -> DeviceKernel:
        device, stream = self.places[self.place[number]]
        return DeviceKernel(
            id=number,
            op_id=_optional(self.op[number]),
            kind=cast(DeviceWork, WORKS[self.work[number]]),
            name=self.names[self.name[number]],
            start_us=self.start[number] - zero,
            duration_us=self.duration[number],
            device=device,
            stream=stream,
            launch=self.launch.get(self.correlation[number], ""),
            reason=self.reasons.get(number, ""),
        )


class LaunchTable:
    """Calls of the device's runtime on the host, those that wait too, as columns."""

    def __init__(self) -> None:
        self.names: Interned[str] = Interned()
        self.name, self.thread, self.op = (array("i") for _ in range(3))
        """``op`` is the smallest operator around it, NONE without one."""
        self.start, self.duration = array("d"), array("d")
        self.correlation = array("q")
        self.numbers: dict[int, int] = {}
        """Correlation -> number of the call."""
        self.kernels: dict[int, str] = {}
        """Number of the call -> name of the kernel that it launches, where the trace says so even
        of what is only captured."""

    def __len__(self) -> int:
        return len(self.correlation)

    def append(
        self, name: str, thread: int, start: float, duration: float, correlation: int
    ) -> int:
        self.name.append(self.names.number(name))
        self.thread.append(thread)
        self.op.append(NONE)
        self.start.append(start)
        self.duration.append(duration)
        self.correlation.append(correlation)
        self.numbers[correlation] = len(self.correlation) - 1
        return len(self.correlation) - 1


class VersionTable:
    """How the versions of storages rose, or began anew with a new storage of that number."""

    def __init__(self) -> None:
        self._changes: dict[int, list[tuple[float, int]]] = {}
        self._sorted = True

    def add(self, storage: int, moment: float, version: int) -> None:
        """``moment`` in microseconds; those of one thread come in their order."""
        self._changes.setdefault(storage, []).append((moment, version))
        self._sorted = False

    def at(self, storage: int, moment: float) -> int:
        """The version at a moment; 0 before the first change."""
        if not self._sorted:
            for changes in self._changes.values():
                changes.sort()
            self._sorted = True
        changes = self._changes.get(storage, [])
        before = bisect_right(changes, moment + _HALF_NS, key=itemgetter(0))
        return changes[before - 1][1] if before else 0


_HALF_NS = 0.0005
"""Moments are sums of floats."""


class AllocationTable:
    """Memory that was taken and given back, as columns."""

    def __init__(self) -> None:
        self.places: Interned[str] = Interned()
        self.place, self.op = array("i"), array("i")
        self.start = array("d")
        self.size, self.address, self.total, self.reserved = (array("q") for _ in range(4))
        self.by_op: dict[int, list[int]] = {}
        """Row, NONE for those outside of any -> numbers of allocations."""

    def __len__(self) -> int:
        return len(self.total)

    def append(
        self, start: float, size: int, place: str, address: int, total: int, reserved: int = 0
    ) -> int:
        """``size`` is negative for memory that is given back."""
        self.place.append(self.places.number(place))
        self.op.append(NONE)
        self.start.append(start)
        self.size.append(size)
        self.address.append(address)
        self.total.append(total)
        self.reserved.append(reserved)
        return len(self.total) - 1

    def assign(self, number: int, op: int) -> None:
        self.op[number] = op
        self.by_op.setdefault(op, []).append(number)

    def allocation(self, number: int, zero: float = 0.0) -> Allocation:
        return Allocation(
            id=number,
            op_id=_optional(self.op[number]),
            start_us=self.start[number] - zero,
            bytes=self.size[number],
            device=self.places[self.place[number]],
            address=self.address[number],
            total_bytes=self.total[number],
            reserved_bytes=self.reserved[number],
        )
