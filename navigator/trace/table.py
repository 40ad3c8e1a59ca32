"""The rows of a trace as columns: a million operators in about a hundred megabytes."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import cast

from indexes.model.vocabulary import Location
from navigator.trace.columns import (
    NONE,
    AllocationTable,
    Interned,
    KernelTable,
    LaunchTable,
    VersionTable,
    optional,
)
from navigator.trace.compiling.model import Compilation, Graph
from navigator.trace.inputs import parse_inputs
from navigator.trace.model import (
    Input,
    OpKind,
    Origin,
    Phase,
    ProgramDefinition,
    StackFrame,
    TensorState,
    TraceOp,
)

KINDS: tuple[str, ...] = ("call", "op", "node", "engine", "annotation", "region")
CALL, OP, NODE, ENGINE, ANNOTATION, REGION = range(6)
GONE = 6
"""Kind of a call that turned out to run no operator."""
PHASES: tuple[str, ...] = ("forward", "backward", "optimizer", "compile")
FORWARD, BACKWARD, OPTIMIZER, COMPILE = range(4)
ORIGINS: tuple[str, ...] = ("", "engine", "hook", "recompute")
FORMULA, BY_ENGINE, BY_HOOK, RECOMPUTE = range(4)


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
        """Number of a compilation and whether it is a backward graph -> rows of graphs that run."""
        self.compilation_of: dict[int, str] = {}
        """Row of a graph -> number of its compilation."""
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
        """Take in the graphs of a compilation that have rows by now. A backward graph is compiled
        when it first runs, which may be long after it was made: then the one that was made has a
        row too, and what ran is of the later one."""
        kept = [graph for graph in one.kept_graphs() if graph.row >= 0]
        self.graphs |= {graph.row: graph for graph in kept}
        self.compilation_of |= dict.fromkeys((graph.row for graph in kept), one.id)
        for backward in (False, True):
            rows = [graph.row for graph in kept if graph.is_backward == backward]
            if rows:
                self.graphs_of[one.id, backward] = rows

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

    def enclosing_print(self, row: int) -> int:
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
            parent=optional(self.parent[row]),
            kind=cast(OpKind, KINDS[min(self.kind[row], REGION)]),
            name=name,
            overload=overload,
            phase=cast(Phase, PHASES[self.phase[row]]),
            origin=cast(Origin, ORIGINS[self.origin[row]]),
            node=self._node_name(node) if node >= 0 else None,
            node_id=optional(node),
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
_TENSORS = {"tensor": 1, "scalar": 0, "scalars": 0, "list": 0, "other": 0}
_NO_STACK = Stack((), -1)


def _thread_number(text: str) -> int:
    return int(text) if text.isdecimal() else 0
