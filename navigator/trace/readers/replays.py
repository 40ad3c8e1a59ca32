"""Joins replays of CUDA graphs with the trace in which the graphs were captured.

A replay is one launch of many kernels. Only the capture, during which nothing runs, shows their
operators. Its launches match the replay's kernels one to one, in order: a graph's nodes are
numbered in capture order (``graph node id``); without numbers, kernels of one stream are in this
order. HIP records the name of what is launched: then names decide, and order within a name.
Operators of the capture become rows below the replay, without a duration.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from indexes.model.lines import grouped
from navigator.trace.columns import NONE, WORKS, work_launched
from navigator.trace.readers import read_trace
from navigator.trace.table import Table
from navigator.trace.trace import Trace

Number = int
"""Number of a launch or a kernel in its table."""


class Capture(NamedTuple):
    """The launches of one graph, in order."""

    trace: Trace
    begin: float
    launches: Sequence[Number]


class Replay(NamedTuple):
    """One launch of a graph, with its kernels in capture order if known."""

    launch: Number
    kernels: Sequence[Number]
    is_ordered: bool
    graph: int
    """The graph's number, in order of creation; 0 if unknown."""


class Joined(NamedTuple):
    """The result of joining."""

    replays: int
    kernels: int
    joined: int
    reasons: Sequence[str]
    """Why kernels have no operator, with counts."""

    def __str__(self) -> str:
        text = f"{self.joined} of {self.kernels} kernels of {self.replays} replays have operators"
        return "; ".join([text, *self.reasons])


def read_with_captures(
    path: Path,
    captures: Sequence[Path],
    progress: Callable[[int], bool] | None = None,
    early: Callable[[Trace], None] | None = None,
) -> tuple[Trace, Joined | None]:
    """``read_trace``, with operators for replayed graphs captured in other traces or, if none are
    given, in the trace itself.

    Returns:
        The trace, and the result of joining; None without captures.

    Raises:
        BadTrace: One of the files is not a trace; the message is one line.
    """
    trace = read_trace(path, progress, early)
    others = [read_trace(capture) for capture in captures] or [trace] * _has_captures(trace)
    return trace, join_captures(trace, others) if others else None


def _has_captures(trace: Trace) -> bool:
    launches = trace.table.launches
    return any("BeginCapture" in name for name in launches.names.values) and bool(replays_of(trace))


def join_captures(trace: Trace, others: Sequence[Trace]) -> Joined:
    """Assign kernels of replays to the operators that launched them in the capture."""
    captures = [capture for other in others for capture in captures_of(other)]
    replays = replays_of(trace)
    joiner = _Joiner(trace, captures)
    joiner.join(replays)
    count = sum(len(replay.kernels) for replay in replays)
    reasons = [f"{number}: {reason}" for reason, number in joiner.reasons.items()]
    return Joined(len(replays), count, joiner.joined, reasons)


# ------------------------------------------------------------------- captures and replays


def captures_of(trace: Trace) -> list[Capture]:
    """Graphs captured in a trace: launches between the begin and the end of a capture that did not
    run; without these calls, all launches that did not run."""
    launches = trace.table.launches
    ran = set(trace.table.kernels.correlation)
    order = sorted(range(len(launches)), key=launches.start.__getitem__)
    names = {number: launches.names[launches.name[number]] for number in order}
    captured = [n for n in order if work_launched(names[n]) and launches.correlation[n] not in ran]
    spans = list(_spans(trace, order, names))
    found = [
        Capture(trace, begin, [n for n in captured if begin <= launches.start[n] < end])
        for begin, end in spans or [(float("-inf"), float("inf"))]
    ]
    return [capture for capture in found if capture.launches]


def _spans(
    trace: Trace, order: Sequence[Number], names: dict[Number, str]
) -> Iterator[tuple[float, float]]:
    """The begin and end of each capture."""
    begin: float | None = None
    for number in order:
        if "BeginCapture" in names[number]:
            begin = trace.table.launches.start[number]
        elif "EndCapture" in names[number]:
            yield float("-inf") if begin is None else begin, trace.table.launches.start[number]
            begin = None
    if begin is not None:
        yield begin, float("inf")


def replays_of(trace: Trace) -> list[Replay]:
    """Launches of graphs, by time."""
    launches, kernels = trace.table.launches, trace.table.kernels
    graphs = [n for n, name in enumerate(launches.names.values) if "GraphLaunch" in name]
    calls = [n for n in range(len(launches)) if launches.name[n] in graphs]
    by_launch: dict[int, list[Number]] = {launches.correlation[n]: [] for n in calls}
    for number, correlation in enumerate(kernels.correlation):
        if correlation in by_launch:
            by_launch[correlation].append(number)
    calls.sort(key=launches.start.__getitem__)
    found = [_replay(trace.table, n, by_launch[launches.correlation[n]]) for n in calls]
    return [replay for replay in found if replay.kernels]


def _replay(table: Table, launch: Number, numbers: list[Number]) -> Replay:
    kernels = table.kernels
    nodes = kernels.graph_nodes
    if numbers and all(number in nodes for number in numbers):
        ordered = sorted(numbers, key=nodes.__getitem__)
        return Replay(launch, ordered, True, nodes[ordered[0]] >> _NODE_BITS)
    streams = {kernels.place[number] for number in numbers}
    ordered = sorted(numbers, key=kernels.start.__getitem__)
    return Replay(launch, ordered, len(streams) == 1, 0)


# ------------------------------------------------------------------------------ the join

_NODE_BITS = 32
"""The bits of a "graph node id" that identify the node, by cudaGraphNodeGetToolsId."""
_NAMELESS = "the capture does not name what it launches, and "
_NO_CAPTURE = "no matching capture"
_Key = tuple[str, str]
"""Kind of work and name, empty if unknown."""


class _Joiner:
    """Pairs kernels of replays with launches of captures, and adds rows of their operators."""

    def __init__(self, trace: Trace, captures: Sequence[Capture]) -> None:
        self._trace, self._table = trace, trace.table
        self._captures = captures
        self._keys = [[_launch_key(capture, n) for n in capture.launches] for capture in captures]
        self._interned: dict[tuple[int, int], int] = {}
        """Trace of the capture and number of its stack -> number here."""
        self.joined = 0
        self.reasons: Counter[str] = Counter()

    def join(self, replays: Sequence[Replay]) -> None:
        alike: defaultdict[tuple[int, ...], list[Replay]] = defaultdict(list)
        known: dict[tuple[_Key, ...], tuple[int, ...]] = {}
        for replay in replays:
            keys = self._kernel_keys(replay)
            if keys not in known:
                known[keys] = self._most_alike(keys, replay.is_ordered)
            alike[known[keys]].append(replay)
        for captures, those in alike.items():
            for replay, capture in zip(those, self._chosen(captures, those), strict=True):
                self._join(replay, capture, captures)
        self._table.roots.sort(key=self._table.start.__getitem__)

    def _kernel_keys(self, replay: Replay) -> tuple[_Key, ...]:
        return tuple(_kernel_key(self._table, number) for number in replay.kernels)

    def _most_alike(self, keys: Sequence[_Key], is_ordered: bool) -> tuple[int, ...]:
        """The captures with the largest share of matching launches and kernels."""
        likeness = [
            2 * len(_pairs(launches, keys, is_ordered)[0]) / (len(launches) + len(keys))
            for launches in self._keys
        ]
        most = max(likeness, default=0.0)
        return tuple(number for number, one in enumerate(likeness) if one == most > 0)

    def _chosen(self, captures: Sequence[int], replays: Sequence[Replay]) -> list[int | None]:
        """For captures that match equally, the one of each replay: by graph numbers, which follow
        the order of captures; without numbers, captures with the same operators are used in turn,
        others are ambiguous."""
        graphs = sorted({replay.graph for replay in replays})
        if len(graphs) == len(captures) and 0 not in graphs:
            return [captures[graphs.index(replay.graph)] for replay in replays]
        if len({self._operators(capture) for capture in captures}) == 1:
            return [captures[turn % len(captures)] for turn in range(len(replays))]
        return [None] * len(replays)

    def _operators(self, number: int) -> tuple[tuple[str, int], ...]:
        """Names and inputs of a capture's operators."""
        capture = self._captures[number]
        table = capture.trace.table
        ops = [table.launches.op[launch] for launch in capture.launches]
        return tuple((table.label(table.name[op]), table.inputs[op]) for op in ops if op >= 0)

    def _join(self, replay: Replay, chosen: int | None, alike: Sequence[int]) -> None:
        if chosen is None and len(self._captures) != 1:
            several = f"{len(alike)} captures are like their replay" if alike else _NO_CAPTURE
            self._refuse(replay.kernels, several)
            return
        capture = chosen or 0  # a single capture explains the mismatch
        keys = self._kernel_keys(replay)
        pairs, reason = _pairs(self._keys[capture], keys, replay.is_ordered)
        self._refuse([n for at, n in enumerate(replay.kernels) if at not in pairs], reason)
        self._graft(replay, self._captures[capture], pairs)

    def _refuse(self, kernels: Sequence[Number], reason: str) -> None:
        for number in kernels:
            self._table.kernels.reasons[number] = f"replayed in a graph; {reason}"
        if kernels:
            self.reasons[reason] += len(kernels)

    def _graft(self, replay: Replay, capture: Capture, pairs: dict[int, int]) -> None:
        """Adds rows for the operators of a capture below the launch of its replay."""
        rows: dict[int, int] = {}
        around = _enclosing_row(self._table, replay.launch)
        other = capture.trace.meta.path if capture.trace is not self._trace else "its capture"
        source = f"replayed; launched while {other} was recorded"
        for at, place in pairs.items():
            number = replay.kernels[at]
            op = capture.trace.table.launches.op[capture.launches[place]]
            chain = list(_chain(capture, op))
            if not chain:
                self._refuse([number], "it was captured outside of any operator")
                continue
            for one in reversed(chain):
                if one not in rows:
                    above = rows.get(capture.trace.table.parent[one], around)
                    rows[one] = self._copy(capture.trace, one, above, replay.launch)
            self._table.kernels.assign(number, rows[op])
            self._table.kernels.reasons[number] = source
            self.joined += 1

    def _copy(self, other: Trace, row: int, parent: int, launch: Number) -> int:
        """A row of another trace, at the time of a launch."""
        table, source, launches = self._table, other.table, self._table.launches
        inputs = source.inputs[row]
        copied = table.append(
            source.kind[row],
            table.names.number(source.names[source.name[row]]),
            launches.thread[launch],
            launches.start[launch],
            0.0,
            table.raw_inputs.number(source.raw_inputs[inputs]) if inputs >= 0 else NONE,
        )
        table.phase[copied], table.origin[copied] = source.phase[row], source.origin[row]
        table.stack[copied] = self._stack(other, source.stack[row])
        for name, values in (("module", "modules"), ("place", "places"), ("keys", "key_sets")):
            number = getattr(source, name)[row]
            if number >= 0:
                value = getattr(source, values)[number]
                getattr(table, name)[copied] = getattr(table, values).number(value)
        if row in source.outputs:
            table.outputs[copied] = source.outputs[row]
        if parent >= 0:
            table.adopt(parent, copied)
        else:
            table.roots.append(copied)
        return copied

    def _stack(self, other: Trace, stack: int) -> int:
        if stack < 0:
            return NONE
        key = (id(other), stack)
        if key not in self._interned:
            self._table.stacks.append(other.table.stacks[stack])
            self._interned[key] = len(self._table.stacks) - 1
        return self._interned[key]


def _launch_key(capture: Capture, number: Number) -> _Key:
    launches = capture.trace.table.launches
    work = work_launched(launches.names[launches.name[number]]) or "kernel"
    return _key(work, launches.kernels.get(number, ""))


def _kernel_key(table: Table, number: Number) -> _Key:
    kernels = table.kernels
    return _key(WORKS[kernels.work[number]], kernels.names[kernels.name[number]])


def _key(work: str, name: str) -> _Key:
    """Copies and fills have no own names; HIP runs kernels of its runtime for both."""
    if work == "memcpy" or "rocclr_copyBuffer" in name:
        return "memcpy", ""
    if work == "memset" or "rocclr_fillBuffer" in name:
        return "memset", ""
    return "kernel", name


def _pairs(
    launches: Sequence[_Key], kernels: Sequence[_Key], is_ordered: bool
) -> tuple[dict[int, int], str]:
    """Kernel -> launch, by index; and why others have none."""
    if all(name for work, name in launches if work == "kernel"):
        return _by_name(launches, kernels)
    if len(launches) != len(kernels):
        return {}, f"{_NAMELESS}made {len(launches)} nodes, of which {len(kernels)} ran"
    if not is_ordered:
        return {}, f"{_NAMELESS}the replay used several streams without numbers of nodes"
    if not all(map(_may_be, launches, kernels)):
        return {}, f"{_NAMELESS}copies, fills and kernels come in another order"
    return {place: place for place in range(len(kernels))}, ""


def _may_be(launch: _Key, kernel: _Key) -> bool:
    return launch[0] == kernel[0] and launch[1] in ("", kernel[1])


def _by_name(launches: Sequence[_Key], kernels: Sequence[_Key]) -> tuple[dict[int, int], str]:
    """The n-th kernel of a name belongs to its n-th launch, if their numbers agree."""
    places = grouped((key, place) for place, key in enumerate(launches))
    counts = Counter(kernels)
    even = {key: iter(found) for key, found in places.items() if len(found) == counts[key]}
    pairs = {place: next(even[key]) for place, key in enumerate(kernels) if key in even}
    return pairs, "the capture launched kernels of this name more or less often"


# ------------------------------------------------------------------------------ the rows


def _chain(capture: Capture, op: int) -> Iterator[int]:
    """An operator and its callers, as far as they began after the capture did."""
    table = capture.trace.table
    while op >= 0 and table.start[op] >= capture.begin:
        yield op
        op = table.parent[op]


def _enclosing_row(table: Table, launch: Number) -> int:
    """The innermost row around a runtime call, or NONE."""
    if table.launches.op[launch] >= 0:
        return table.launches.op[launch]
    moment, thread = table.launches.start[launch], table.launches.thread[launch]
    waiting, found = list(table.roots), NONE
    while waiting:
        inside = [row for row in waiting if _covers(table, row, thread, moment)]
        if not inside:
            break
        found = inside[-1]
        waiting = list(table.children(found))
    return found


def _covers(table: Table, row: int, thread: int, moment: float) -> bool:
    start = table.start[row]
    return table.thread[row] == thread and start <= moment < start + table.duration[row]
