"""Collectives of a rank: size, time, the region that asked; and skew between ranks."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import prod

from navigator.trace.building.settling import ENGINE_PREFIX
from navigator.trace.columns import NONE
from navigator.trace.inputs import item_size
from navigator.trace.model import Arrival, DeviceKernel, Input
from navigator.trace.table import ANNOTATION, BY_ENGINE, CALL, ENGINE, NODE, OP, REGION
from navigator.trace.trace import Trace

_NAMESPACE = "c10d::"
"""Operators that pass a collective to a process group; all others call these."""
_WORK = re.compile(r"[a-z]*(?:gloo|ccl|mpi|ucc):\w+")
"""Spans of process groups' backends: ``gloo:all_reduce``, ``nccl:all_gather``."""
_STEP = "ProfilerStep#"
_ACCUMULATE = "AccumulateGrad"
NO_CAUSE = "unknown: neither a region nor a line was recorded (--compiled records the line)"


@dataclass(frozen=True, slots=True)
class Collective:
    """A call into a process group, by rows of the trace."""

    row: int
    tensors: str
    """Its largest argument, ``float32[212]``, or empty."""
    bytes: int | None
    """Size of that argument in bytes; None if its type or shape was not recorded."""
    cause: str
    cause_row: int
    """The nearest region that asked for it, or NONE."""
    spans: tuple[int, ...]
    """Rows of the backend's spans."""
    kernels: tuple[DeviceKernel, ...]
    """Its device work."""

    def work_us(self, trace: Trace) -> float | None:
        """Time in the backend, in microseconds; None if not recorded."""
        if self.kernels:
            return sum(kernel.duration_us for kernel in self.kernels)
        return sum(trace.table.duration[row] for row in self.spans) if self.spans else None

    def end_us(self, trace: Trace) -> float:
        """End of the collective, in microseconds from the start of the trace."""
        ends = [kernel.start_us + kernel.duration_us for kernel in self.kernels]
        ops = [trace.op(row) for row in (self.row, *self.spans)]
        return max([*ends, *(op.start_us + op.duration_us for op in ops)])


def collectives(trace: Trace) -> list[Collective]:
    """Calls into process groups, by time. Collectives without an operator, as in older versions,
    are represented by the backend's span."""
    table = trace.table
    named = [name.startswith(_NAMESPACE) for name, _ in table.names.values]
    rows = [row for row in table.operators() if named[table.name[row]]]
    spans = _spans(trace)
    rows.sort(key=table.start.__getitem__)
    work = _joined(trace, rows, spans)
    joined, known = {one for found in work.values() for one in found}, frozenset(spans)
    above = trace.table.ancestors
    alone = [span for span in spans if span not in joined and known.isdisjoint(above(span))]
    rows = sorted([*rows, *alone], key=table.start.__getitem__)
    return [_collective(trace, row, work.get(row, [])) for row in rows]


def _spans(trace: Trace) -> list[int]:
    """Rows of backend spans, by time."""
    table = trace.table
    named = [bool(_WORK.fullmatch(name)) for name, _ in table.names.values]
    rows = (row for row, kind in enumerate(table.kind) if kind == ANNOTATION)
    return sorted((row for row in rows if named[table.name[row]]), key=table.start.__getitem__)


def _collective(trace: Trace, row: int, work: list[int]) -> Collective:
    table = trace.table
    dtypes = {one.dtype for span in work for one in table.inputs_of(span) if one.dtype}
    if table.parent[row] >= 0:
        dtypes |= {one.dtype for one in table.inputs_of(table.parent[row]) if one.dtype}
    dtype = dtypes.pop() if len(dtypes) == 1 else ""
    sized = [_sized(one, dtype) for one in table.inputs_of(row)]
    count, tensors, size = max(sized, default=(0, "", None), key=lambda one: one[0])
    cause, region = _cause(trace, row)
    below = (row, *table.descendants(row))
    kernels = tuple(one for part in below for one in trace.kernels_of(part) if one.kind == "kernel")
    text = tensors if count else ""
    return Collective(row, text, size, cause, region, tuple(work), kernels)


def _sized(value: Input, dtype: str) -> tuple[int, str, int | None]:
    """The element count, description and bytes of an argument. Lists of tensors have no recorded
    type; they take that of the span or operator around."""
    count = sum(_elements(value))
    size = item_size(value.dtype or dtype)
    text = str(value) if value.dtype or not dtype else f"{dtype}{value}"
    return count, text, count * size if size else None


def _elements(value: Input) -> list[int]:
    """Element counts of the tensors in an argument."""
    if value.kind == "tensor":
        return [prod(value.shape)]
    return [prod(shape) for shape in value.elements]


# --------------------------------------------------------------------------- who asked


def _cause(trace: Trace, row: int) -> tuple[str, int]:
    """The regions around a collective, nearest first; without one, the program's call."""
    table = trace.table
    if table.origin[row] == BY_ENGINE and table.kind[table.parent[row]] == ENGINE:
        return _hook(trace, table.parent[row]), table.parent[row]
    above = list(trace.table.ancestors(row))
    regions = [one for one in above if _asks(trace, one)]
    if regions:
        names = (_of_operator(trace, region) for region in regions)
        return " < ".join(dict.fromkeys(names)), regions[0]
    calls = [one for one in above if table.kind[one] == CALL]
    if calls:
        return f"{table.name_of(calls[-1])}()", calls[-1]
    return _called(trace, row), NONE


def _hook(trace: Trace, engine: int) -> str:
    """A C++ hook of a Node that the engine runs: for leaves, DDP's reducer."""
    node = _name(trace, engine)
    return f"{'DDP: reducer, ' if node.endswith(_ACCUMULATE) else ''}hook of {node}"


def _asks(trace: Trace, row: int) -> bool:
    """Whether a row is a region that states a purpose, unlike steps and backend spans."""
    table = trace.table
    if table.kind[row] == ANNOTATION:
        name = table.name_of(row)
        return not (name.startswith(_STEP) or _WORK.fullmatch(name))
    return table.kind[row] in (REGION, NODE, ENGINE)


def _name(trace: Trace, row: int) -> str:
    name = trace.table.name_of(row).removeprefix(ENGINE_PREFIX)
    return name.removeprefix("torch::autograd::")


def _of_operator(trace: Trace, region: int) -> str:
    """The region's name, with its operator if the name is as general as PythonSubclass."""
    parent = trace.table.parent[region]
    if parent < 0 or (trace.table.kind[region], trace.table.kind[parent]) != (REGION, OP):
        return _name(trace, region)
    return f"{_name(trace, region)} of {trace.table.name_of(parent)}"


def _called(trace: Trace, row: int) -> str:
    """The function that called the operator, from the stack, named like calls."""
    number = trace.table.stack[row]
    frames = trace.table.stacks[number].frames if number >= 0 else ()
    if not frames:
        return NO_CAUSE
    path = frames[0].location.path.replace("\\", "/").rpartition("site-packages/")[2]
    return f"{path.removesuffix('.py').replace('/', '.')}.{frames[0].function}()"


# ----------------------------------------------------------------------- what then ran


def _joined(trace: Trace, rows: list[int], spans: list[int]) -> dict[int, list[int]]:
    """Assigns spans to the rows that began them: by nesting, then across threads."""
    known, work = frozenset(rows), defaultdict[int, list[int]](list)
    unmatched: list[int] = []
    for span in spans:
        over = next((one for one in trace.table.ancestors(span) if one in known), NONE)
        (unmatched if over < 0 else work[over]).append(span)
    waiting = {row: _sizes(trace, row) for row in rows if row not in work}
    in_order = len(waiting) == len(unmatched)
    for span in unmatched:
        fitting = _fitting(trace, span, waiting)
        if fitting:
            row = fitting[0 if in_order else -1]  # some are missing: the one just before
            work[row].append(span)
            del waiting[row]
    return work


def _fitting(trace: Trace, span: int, waiting: Mapping[int, set[int]]) -> list[int]:
    """Rows that may have begun a span: earlier, with as many elements, of its name if possible."""
    table = trace.table
    start, sizes = table.start[span], _sizes(trace, span)
    earlier = takewhile(lambda row: table.start[row] <= start, waiting)
    fitting = [row for row in earlier if not sizes or sizes & waiting[row]]
    letters = _letters(table.name_of(span).partition(":")[2])
    named = [row for row in fitting if letters in _letters(table.name_of(row))]
    return named or (fitting if sizes else [])


def _sizes(trace: Trace, row: int) -> set[int]:
    """Elements of each tensor argument, and of all tensors in a list."""
    counts = [_elements(one) for one in trace.table.inputs_of(row)]
    return {size for count in counts for size in (*count, sum(count)) if count}


def _letters(name: str) -> str:
    return name.replace("_", "")


_BETWEEN_TWO = ("send", "recv")


@dataclass(frozen=True, slots=True)
class Skew:
    """A collective across the ranks that call it. Times in microseconds."""

    name: str
    number: int
    """Index among collectives of this name, from 0."""
    ranks: int
    start_us: float
    """From the first rank's call to the last one's."""
    end_us: float
    """From the first rank's end to the last one's."""
    last: int
    """The last rank, for which the others wait."""


def arrivals(trace: Trace) -> Iterator[Arrival]:
    """The collectives of a rank by time, without point-to-point transfers."""
    base = trace.meta.base_ns / 1000 + (trace.table.zero or 0.0)
    numbers: Counter[str] = Counter()
    for collective in collectives(trace):
        operator = trace.table.name_of(collective.row)
        if operator.rpartition("::")[2].startswith(_BETWEEN_TWO):
            continue
        name = f"{operator} {collective.tensors}".rstrip()
        start, end = base + trace.op(collective.row).start_us, base + collective.end_us(trace)
        yield Arrival(name, numbers[name], start, end)
        numbers[name] += 1


def skews(ranks: Mapping[int, Sequence[Arrival]]) -> list[Skew]:
    """Collectives of several ranks, longest wait first; hosts' clocks may differ."""
    together: defaultdict[tuple[str, int], dict[int, Arrival]] = defaultdict(dict)
    for rank, arrived in ranks.items():
        for one in arrived:
            together[one.name, one.number][rank] = one
    found = [_skew(*key, calls) for key, calls in together.items() if len(calls) > 1]
    return sorted(found, key=lambda one: (-one.start_us, one.name, one.number))


def _skew(name: str, number: int, calls: Mapping[int, Arrival]) -> Skew:
    starts = [call.start_us for call in calls.values()]
    ends = [one.end_us for one in calls.values()]
    last = max(calls, key=lambda rank: calls[rank].start_us)
    return Skew(name, number, len(calls), max(starts) - min(starts), max(ends) - min(ends), last)
