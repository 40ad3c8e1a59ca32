"""The view of work and speed: operations and bytes per second, and the share of the peak."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

from navigator.trace.figures.peaks import Peak, peak_of
from navigator.trace.figures.work import Shape, Work, broadcast, bytes_of, has_formula, work_of
from navigator.trace.model import Input, TraceOp
from navigator.trace.table import COMPILE, OP
from navigator.trace.trace import Trace
from navigator.trace.views.view import Column, Links, View
from navigator.trace.wording import with_prefix

_COLUMNS = (
    Column("time_us", "time", "us"),
    Column("count", "calls", "count"),
    Column("flops", "FLOP", "si"),
    Column("flops_s", "FLOP/s", "si"),
    Column("of_peak", "of peak", "ratio"),
    Column("bytes", "bytes", "bytes"),
    Column("bytes_s", "B/s", "si"),
    Column("of_bandwidth", "of peak", "ratio"),
    Column("operator", "operator"),
    Column("inputs", "inputs"),
)
_TENSOR = re.compile(r"(\w+)\[([\d, ]*)\]")
_TF32 = re.compile("tf32|tensorop", re.IGNORECASE)
_POINTWISE, _REDUCTION = "pointwise", "reduction"


@dataclass(slots=True)
class _Calls:
    """Calls of an operator with the same inputs."""

    op: TraceOp
    work: Work
    bytes: int | None
    dtype: str
    count: int = 0
    time: float = 0.0
    """Time in microseconds: of the launched kernels, else self time."""
    kernels: set[int] = field(default_factory=set)
    """Numbers of the kernels' names."""


def flops_view(trace: Trace, links: Links, peak: Peak | None = None) -> View:
    """Operators by inputs, longest time first. ``peak`` overrides the device's."""
    gathered = _Gathered(trace, links)
    peak = peak or peak_of(trace.meta.devices)
    calls = sorted(gathered.calls(), key=lambda one: -one.time)
    rows = [_row(trace, call, peak or Peak()) for call in calls]
    notes = (*_notes(calls, gathered), _peak_note(trace, peak))
    return View("flops", "work and speed", _COLUMNS, rows, notes)


# ----------------------------------------------------------------------------- the calls


class _Gathered:
    """Calls with known work, which includes that of their callees."""

    def __init__(self, trace: Trace, links: Links) -> None:
        self._trace, self._table = trace, trace.table
        self._linker = links()
        operators = self._linker.schemas.operators() if self._linker else ()
        self._tags = {operator.full_name: operator.tags for operator in operators}
        self._known: dict[tuple[object, ...], _Calls | None] = {}
        self._unknown: dict[int, str] = {}
        for root in trace.table.roots:
            self._gather(root)

    @property
    def has_tags(self) -> bool:
        """Whether it is known which operators are elementwise."""
        return bool(self._tags)

    def calls(self) -> list[_Calls]:
        return [one for one in self._known.values() if one is not None]

    def unknown(self) -> dict[str, int]:
        """By name, calls whose inputs do not determine their work, without any such callee."""
        counts: dict[str, int] = {}
        for name in self._unknown.values():
            counts[name] = counts.get(name, 0) + 1
        return counts

    def _gather(self, root: int) -> None:
        waiting = [root]
        while waiting:
            row = waiting.pop()
            if self._table.phase[row] == COMPILE:  # on tensors without data
                continue
            calls = self._calls_of(row) if self._table.kind[row] == OP else None
            if calls is not None:
                self._add(calls, row)
            else:
                self._note_unknown(row)
                waiting += self._table.children(row)

    def _note_unknown(self, row: int) -> None:
        """Counts the outermost of nested calls."""
        name = self._table.name_of(row)
        has_work = self._table.kind[row] == OP and has_formula(name)
        if has_work and not any(one in self._unknown for one in self._table.ancestors(row)):
            self._unknown[row] = name

    def _add(self, calls: _Calls, row: int) -> None:
        table, time = self._table, 0.0
        for one in (row, *table.descendants(row)):
            for kernel in table.kernels.by_op.get(one, ()):
                time += table.kernels.duration[kernel]
                calls.kernels.add(table.kernels.name[kernel])
        calls.count += 1
        calls.time += time or table.duration[row]
        for ancestor in table.ancestors(row):
            self._unknown.pop(ancestor, None)

    def _calls_of(self, row: int) -> _Calls | None:
        """The group of a call; None without known work."""
        table = self._table
        key = (table.name[row], table.inputs[row], table.outputs.get(row, ""), table.place[row])
        if key not in self._known:
            self._known[key] = self._new_calls(self._trace.op(row))
        return self._known[key]

    def _new_calls(self, op: TraceOp) -> _Calls | None:
        made = _outputs(op.output)
        work = work_of(op.name, op.inputs, [shape for _, shape in made])
        work = work or self._tagged(op, [shape for _, shape in made])
        known = has_formula(op.name) and work is not None
        dtype = next((one.dtype for one in op.inputs if _is_floating(one, known)), "")
        if work is None or not dtype or op.layout != "strided":
            return None
        result = made[0][0] if made else dtype
        moved = bytes_of(op.inputs, [shape for _, shape in made] or work.outputs, result)
        return _Calls(op, work, moved, dtype)

    def _tagged(self, op: TraceOp, made: Sequence[Shape]) -> Work | None:
        """One operation per element of the result, or of the reduced input."""
        tags = self._tags_of(op)
        shapes = [one.shape for one in op.inputs if one.kind == "tensor"]
        if not shapes or any(one.kind == "tensors" for one in op.inputs):
            return None
        if _POINTWISE in tags:
            whole = made[0] if made else broadcast(shapes)
            return None if whole is None else Work(prod(whole), (whole,))
        if _REDUCTION in tags:
            return Work(prod(shapes[0]), tuple(made))
        return None

    def _tags_of(self, op: TraceOp) -> Sequence[str]:
        """The operator's tags in native_functions.yaml."""
        if self._linker is None or not self._tags:
            return ()
        return self._tags.get(self._linker.link(op).full_name or "", ())


def _is_floating(value: Input, or_whole: bool) -> bool:
    """Whether it is a tensor of floating point numbers; for a product, or of integers."""
    names = ("float", "bfloat", "complex", *(("int", "uint") if or_whole else ()))
    return value.kind == "tensor" and value.dtype.startswith(names)


def _outputs(text: str) -> list[tuple[str, Shape]]:
    """Dtypes and shapes in a text of results: ``float32[2, 8] cpu``."""
    found = _TENSOR.findall(text)
    return [(dtype, tuple(map(int, re.findall(r"\d+", sizes)))) for dtype, sizes in found]


# ------------------------------------------------------------------------------ the view


def _row(trace: Trace, calls: _Calls, peak: Peak) -> dict[str, object]:
    flops = calls.work.flops * calls.count
    moved = calls.bytes * calls.count if calls.bytes is not None else None
    width = peak.bandwidth
    seconds = calls.time / 1e6
    speed = flops / seconds if seconds else None
    rate = moved / seconds if seconds and moved is not None else None
    limit = _limit(trace, calls, peak, speed or 0.0)
    return {
        "time_us": calls.time,
        "count": calls.count,
        "flops": flops,
        "flops_s": speed,
        "of_peak": speed / limit / 1e12 if limit and speed is not None else None,
        "bytes": moved,
        "bytes_s": rate,
        "of_bandwidth": rate / width / 1e9 if width and rate is not None else None,
        "operator": calls.op.label,
        "inputs": ", ".join(str(one) for one in calls.op.inputs if one.kind == "tensor"),
        "on": "device" if calls.kernels else calls.op.device,
        "op_id": calls.op.id,
        "term": f"op:{calls.op.label}",
    }


def _limit(trace: Trace, calls: _Calls, peak: Peak, speed: float) -> float | None:
    """The peak in TFLOP/s for the compute dtype. float32 runs as TF32 on tensor cores if kernel
    names say so, or if the speed is impossible otherwise."""
    names = trace.table.kernels.names
    limit = peak.of(calls.dtype)
    if calls.dtype == "float32":
        tf32 = any(_TF32.search(names[number]) for number in calls.kernels)
        if tf32 or (limit is not None and speed > limit * 1e12):
            return peak.of(calls.dtype, tf32=True) or limit
    return limit


def _notes(calls: Sequence[_Calls], gathered: _Gathered) -> Iterator[str]:
    flops = sum(call.work.flops * call.count for call in calls)
    yield f"{with_prefix(flops)} FLOP in {sum(one.count for one in calls):,} calls"
    yield (
        "counted as torch.utils.flop_counter does; bytes are inputs and outputs; times are those "
        "of the kernels, on the CPU of the operator"
    )
    if not gathered.has_tags:
        yield "elementwise operators are left out: PyTorch's source does not list them"
    unknown = gathered.unknown()
    if unknown:
        names = ", ".join(f"{name} ({count})" for name, count in unknown.items())
        yield f"without recorded shapes or values: {names}; record_shapes=True records them"


def _peak_note(trace: Trace, peak: Peak | None) -> str:
    if peak is not None:
        return f"peak: {peak.source}"
    nameless = "the device, which the trace does not name" if trace.table.kernels else "the CPU"
    devices = ", ".join(trace.meta.devices) or nameless
    return f"the peak of {devices} is unknown: --peak bfloat16=989,bandwidth=3350 (TFLOP/s, GB/s)"
