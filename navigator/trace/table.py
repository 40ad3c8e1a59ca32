"""The rows of a trace in columns: a million operators in about a hundred megabytes."""

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
"""Kind of calls that ran no operator."""
PHASES: tuple[str, ...] = ("forward", "backward", "optimizer", "compile")
FORWARD, BACKWARD, OPTIMIZER, COMPILE = range(4)
ORIGINS: tuple[str, ...] = ("", "engine", "hook", "recompute")
FORMULA, BY_ENGINE, BY_HOOK, RECOMPUTE = range(4)


class Stack:
    """Frames, innermost first, the index of the user's, and whether lines are exact."""

    __slots__ = ("exact", "frames", "user")

    def __init__(self, frames: tuple[StackFrame, ...], user: int, exact: bool = True) -> None:
        self.frames, self.user, self.exact = frames, user, exact

    @property
    def location(self) -> Location | None:
        return self.frames[self.user].location if 0 <= self.user < len(self.frames) else None


RawInputs = tuple[bytes, bytes, bytes, bytes]


class Table:
    """Columns of rows and of device kernels. Only builders write to it; rows never move."""

    def __init__(self) -> None:
        self.names: Interned[tuple[str, str | None]] = Interned()
        """(name, overload)"""
        self.threads: Interned[tuple[str, str]] = Interned()
        """(pid, tid)"""
        self.raw_inputs: Interned[RawInputs] = Interned()
        self.modules: Interned[str] = Interned()
        self.key_sets: Interned[tuple[str, ...]] = Interned()
        """Dispatch keys, highest priority first."""
        self.storage_places: dict[int, tuple[int, int]] = {}
        """Number -> storage and offset into it."""
        self.placed = array("i")
        """For each row with storages: the number of its inputs, of its results, and a storage
        number for each; 0 for one without a storage. ``tensors`` has the start index."""
        self.versions = VersionTable()
        self.places: Interned[str] = Interned()
        """``cuda:0``, ``cpu/sparse_coo``"""
        self.zero: float | None = None
        """Time of the earliest row, the zero of all times."""
        self.default_place = ""
        """Device of operators without a recorded one: ``cpu`` unless other devices were seen."""
        self.stacks: list[Stack] = []
        self.outputs: dict[int, str] = {}
        self.allocated: dict[int, int] = {}
        """Bytes allocated by a row itself, if allocations were recorded."""
        self.forward: dict[int, int] = {}
        """Row of a Node, or of the engine around it -> row of its forward operator."""
        self.forward_notes: dict[int, str] = {}
        """The same rows -> why there is no such operator, or the rule by which it was found if that
        is not the sequence number."""
        self.reverse: dict[int, int] = {}
        """Forward operator's row -> row of the Node."""
        self.forward_threads: dict[int, int] = {}
        """Row of a Node or the engine -> the profiler's number of its forward thread."""
        self.prints: set[int] = set()
        """Calls that print a tensor, which runs many operators."""
        self.compilations: dict[int, str] = {}
        """Rows in which a compiler ran -> the number of the compilation, ``0/1``, if recorded; all
        rows below have the phase ``compile``."""
        self.compiled: list[Compilation] = []
        """Each compilation's results."""
        self.unreal_places: set[str] = set()
        """Places with only a compiler's fake tensors: ``meta``."""
        self.untimed: set[int] = set()
        """Rows without a time: the compiler's messages."""
        self.graphs: dict[int, Graph] = {}
        """Graphs by row."""
        self.graphs_of: dict[tuple[str, bool], list[int]] = {}
        """(number of a compilation, whether of a backward graph) -> rows of graphs that run."""
        self.compilation_of: dict[int, str] = {}
        """Row of a graph -> number of its compilation."""
        self.unfinished: set[int] = set()
        """Rows that were running when the program died; they end with the recording."""
        self.unnamed: set[int] = set()
        """Operators without an overload in a trace with overloads."""
        self.kind, self.phase, self.origin = (array("b") for _ in range(3))
        self.name, self.thread, self.inputs = (array("i") for _ in range(3))
        self.start, self.duration = array("d"), array("d")
        self.sequence = array("q")
        self._unset = tuple(array("i") for _ in range(10))
        """Columns initialised to NONE: rows, and numbers of the interned values above."""
        self.parent, self.first_child, self.last_child, self.next_sibling, *rest = self._unset
        self.node, self.stack, self.module, self.place, self.keys, self.tensors = rest
        self.roots: list[int] = []
        self.definitions: list[ProgramDefinition] = []
        """The program's own definitions, in file order."""
        self.storages: list[tuple[float, str, tuple[int, ...]]] = []
        """(time, category, address) of memory known from Python, such as parameters."""
        self.kernels = KernelTable()
        self.launches = LaunchTable()
        self.allocations = AllocationTable()
        self._parsed = cache(lambda number: parse_inputs(*self.raw_inputs[number]))

    def __len__(self) -> int:
        return len(self.origin)  # the last column that ``append`` extends

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
        """Add a row: numbers of ``names``, ``threads`` and ``raw_inputs``; microseconds."""
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
        """Make rows without parents the first children of ``parent``."""
        for row in reversed(rows):
            self.parent[row] = parent
            self.next_sibling[row] = self.first_child[parent]
            self.first_child[parent] = row
            if self.last_child[parent] < 0:
                self.last_child[parent] = row

    def add_graphs(self, compilation: Compilation) -> None:
        """Add the graphs of a compilation that have rows by now. A backward graph is compiled at
        its first run, possibly long after the forward: the earlier version then has a row too, and
        runs belong to the later one."""
        graphs = [graph for graph in compilation.kept_graphs() if graph.row >= 0]
        self.graphs |= {graph.row: graph for graph in graphs}
        self.compilation_of |= dict.fromkeys((graph.row for graph in graphs), compilation.id)
        for backward in (False, True):
            rows = [graph.row for graph in graphs if graph.is_backward == backward]
            if rows:
                self.graphs_of[compilation.id, backward] = rows

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

    def ancestors(self, row: int) -> Iterator[int]:
        """The rows around a row, the nearest first."""
        while row >= 0 and (row := self.parent[row]) >= 0:
            yield row

    def operators(self) -> Iterator[int]:
        """Operators of the program, without those run by its compiler."""
        kinds, phases = self.kind, self.phase
        return (row for row in range(len(self)) if kinds[row] == OP and phases[row] != COMPILE)

    def compiler_rows(self) -> list[int]:
        """The rows of compilations, without unnumbered helper threads if possible."""
        numbered = [row for row, number in self.compilations.items() if number]
        return numbered or list(self.compilations)

    def enclosing_print(self, row: int) -> int:
        """The call around a row that prints a tensor, or NONE."""
        if row < 0 or not self.prints:
            return NONE
        return next((one for one in (row, *self.ancestors(row)) if one in self.prints), NONE)

    def op(self, row: int) -> TraceOp:
        """The row in full. Raises IndexError for an unknown id."""
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
        """A name by number, with the overload: ``aten::add.Tensor``."""
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
        """Whether any recorded input is a tensor."""
        return any(value.kind in ("tensor", "tensors") for value in self.inputs_of(row))

    def inputs_of(self, row: int) -> tuple[Input, ...]:
        number = self.inputs[row]
        return self._parsed(number) if number >= 0 else ()

    def states_of(self, row: int) -> tuple[States, States]:
        """The storages of a row's inputs at its start and of its results at its end."""
        at = self.tensors[row]
        if at < 0:
            return (), ()
        middle = at + 2 + self.placed[at]
        inputs, made = (
            self.placed[at + 2 : middle],
            self.placed[middle : middle + self.placed[at + 1]],
        )
        start = self.start[row]
        taken = iter([self._state(number, start) for number in inputs])
        recorded = self.inputs_of(row)
        counts = (1 if one.kind == "tensor" else len(one.elements) for one in recorded)
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
"""Each argument's tensors, several for a list; None for arguments without a storage."""
_NO_STACK = Stack((), -1)


def _thread_number(text: str) -> int:
    return int(text) if text.isdecimal() else 0
