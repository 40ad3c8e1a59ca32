"""Determines the kind, phase, Node, origin, line and module of a row from its parent."""

from __future__ import annotations

import re
from functools import cache

from navigator.trace.building.forward_links import ForwardLinks
from navigator.trace.columns import NONE
from navigator.trace.table import (
    ANNOTATION,
    BACKWARD,
    BY_ENGINE,
    BY_HOOK,
    CALL,
    COMPILE,
    ENGINE,
    FORMULA,
    NODE,
    OP,
    OPTIMIZER,
    RECOMPUTE,
    REGION,
    Table,
)

ENGINE_PREFIX = "autograd::engine::evaluate_function: "
_NODES = "torch::autograd::"
"""Names of Nodes not written by torchgen: ``torch::autograd::AccumulateGrad``."""
_OPTIMIZER_PREFIX = "Optimizer."
_CHECKPOINT = "torch/utils/checkpoint.py"
_COMPILER_STEP = " (dynamo_timed)"
"""Names of the regions that torch/_dynamo/utils.py times while compiling."""
_COMPILER_FACTS = re.compile(r"(?P<step>.+)_data: .*?compile_id=(?P<id>[^,\s]+)")
"""Names of blocks inside these regions."""


class Settling:
    """Completes the rows of a trace, parents first."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.links = ForwardLinks(table)
        self.backward: list[tuple[float, float, int]] = []
        """(start, end, row of the call) of backward passes that Python started."""
        self._kind_of_name = cache(self._new_kind)
        self._is_compiler = cache(lambda name: table.names[name][0].endswith(_COMPILER_STEP))
        self._is_recomputing = cache(lambda stack: goes_through(table, stack, _CHECKPOINT))

    def settle(self, row: int, parent: int, frame: int, module: int) -> None:
        """Sets kind, phase, Node, origin, line and module of a row whose parent is complete."""
        table = self.table
        kind = table.kind[row]
        if kind == OP:
            kind = table.kind[row] = self._kind_of(row, parent)
        if parent >= 0:
            table.phase[row] = table.phase[parent]
            table.node[row] = table.node[parent]
            table.origin[row] = table.origin[parent]
        if kind in (NODE, ENGINE):
            self._settle_node(row, parent, frame)
        elif kind == ANNOTATION:
            self._settle_annotation(row, parent)
        elif parent >= 0 and table.node[row] >= 0:
            self._settle_origin(row, parent, kind)
        if kind in (OP, REGION) and table.sequence[row] >= 0:
            self.links.started(row)
        if self._is_compiler(table.name[row]) or row in table.compilations:
            self._compile(row, parent)
        if table.stack[row] < 0:
            table.stack[row] = frame
        if table.module[row] < 0:
            above = table.module[parent] if parent >= 0 else NONE
            table.module[row] = above if above >= 0 else module

    def _settle_annotation(self, row: int, parent: int) -> None:
        table, name = self.table, self.table.name_of(row)
        if name.startswith(_OPTIMIZER_PREFIX) and table.phase[row] != COMPILE:
            table.phase[row] = OPTIMIZER
        facts = _COMPILER_FACTS.fullmatch(name) if parent >= 0 else None
        if facts and table.name_of(parent).removesuffix(_COMPILER_STEP) == facts["step"]:
            self._compile(parent, table.parent[parent], facts["id"])
            table.phase[row] = COMPILE

    def _compile(self, row: int, parent: int, number: str = "") -> None:
        """A row within which the compiler runs; the outermost one represents the compilation."""
        table = self.table
        table.phase[row] = COMPILE
        if parent >= 0 and table.phase[parent] == COMPILE:
            table.compilations.pop(row, None)
        elif number or row not in table.compilations:
            table.compilations[row] = number

    def _kind_of(self, row: int, parent: int) -> int:
        table = self.table
        under_engine = parent >= 0 and table.kind[parent] == ENGINE
        if under_engine and table.name_of(parent) == ENGINE_PREFIX + table.name_of(row):
            return NODE
        kind = self._kind_of_name(table.name[row])
        # before 1.10 only Nodes were recorded, which alone have a forward thread
        return NODE if kind == REGION and table.forward_threads.get(row) else kind

    def _new_kind(self, number: int) -> int:
        name, _ = self.table.names[number]
        if name.startswith(ENGINE_PREFIX):
            return ENGINE
        if name.startswith(_NODES):
            return NODE
        namespace, separator, rest = name.partition("::")
        named = separator and namespace.isidentifier() and " " not in rest
        return OP if named and "::" not in rest else REGION

    def _settle_node(self, row: int, parent: int, frame: int) -> None:
        table = self.table
        if table.phase[row] != COMPILE:
            table.phase[row] = BACKWARD
        table.node[row] = row
        table.origin[row] = FORMULA
        if table.stack[row] < 0:
            table.stack[row] = frame
        if parent < 0:
            self._under_backward(row)
        name = table.name_of(row).removeprefix(ENGINE_PREFIX)
        engine = parent if parent >= 0 and table.kind[parent] == ENGINE else row
        forward = self.links.link(row, engine, name, self.table.forward_threads.get(row, 0))
        if forward >= 0:
            table.module[row] = table.module[forward]
            table.module[engine] = table.module[forward]  # its following work is for this Node too

    def _under_backward(self, row: int) -> None:
        """Gives a Node on an engine thread the stack of the call that began its backward pass."""
        start = self.table.start[row]
        calls = {call for begin, end, call in self.backward if begin <= start <= end}
        if len(calls) == 1:
            self.table.stack[row] = self.table.stack[calls.pop()]

    def _settle_origin(self, row: int, parent: int, kind: int) -> None:
        table = self.table
        above, stack = table.kind[parent], table.stack[row]
        from_python = stack >= 0 and (kind == CALL or stack != table.stack[parent])
        if from_python and self._is_recomputing(stack):
            table.origin[row] = RECOMPUTE
        elif above == ENGINE:
            table.origin[row] = BY_HOOK if from_python else BY_ENGINE


def goes_through(table: Table, stack: int, file: str) -> bool:
    """Whether one of the frames is in a file, given by the end of its path."""
    paths = (frame.location.path for frame in table.stacks[stack].frames)
    return any(path.replace("\\", "/").endswith(file) for path in paths)
