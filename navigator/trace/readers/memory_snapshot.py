"""Reads CUDA memory snapshots, pickled by ``torch.cuda.memory._dump_snapshot``."""

from __future__ import annotations

import contextlib
import pickle
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from indexes.model.errors import SNAPSHOT_BYTES
from indexes.model.vocabulary import Location
from indexes.source.files import read_text
from navigator.trace.columns import NONE
from navigator.trace.model import StackFrame
from navigator.trace.readers.packed import Content
from navigator.trace.readers.ranked import Item, build
from navigator.trace.table import REGION, Stack, Table
from navigator.trace.trace import BadTrace, Trace, Watch
from navigator.trace.wording import size

_FRAMES = 32
_KERNEL = "at::native::"
_NODE = re.compile(r"torch::autograd::(?:generated::)?(\w+)::apply")
_DAMAGE = (pickle.UnpicklingError, EOFError, LookupError, ValueError, AttributeError, TypeError)
"""Errors that the unpickler raises for invalid data, apart from MemoryError."""

Frames = tuple[tuple[str, int, str], ...]
"""(path, line, function), innermost first. C++ functions, whose path is rarely recorded, use their
name as the path."""


class _PlainUnpickler(pickle.Unpickler):
    """Loads lists, dictionaries, strings and numbers; rejects pickles that name code."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise BadTrace(f"the snapshot names code ({module}.{name}): it is not loaded")

    def persistent_load(self, pid: object) -> NoReturn:
        raise BadTrace("the snapshot refers to objects outside of it: it is not loaded")


def recognises(_path: Path, head: bytes) -> bool:
    """A pickle begins with its protocol."""
    return head.startswith(b"\x80")


def read(path: Path, _watch: Watch) -> Trace:
    """Allocations in order, each with the Python and C++ lines that requested it."""
    snapshot = _load(path)
    trace = Trace()
    trace.meta.path, trace.meta.format = str(path), "memory snapshot"
    trace.meta.complete = True
    entries = list(_entries(snapshot))
    items = list(_items(entries, trace.table))
    if not items:
        trace.meta.problems.append(
            "the snapshot has no history: torch.cuda.memory._record_memory_history() before the "
            "program allocates would add it"
        )
    trace.meta.lacks.append("operators: a snapshot holds allocations with the lines that made them")
    build(trace, items)
    _set_times(trace.table, [entry for _, entry in entries])
    for device in dict.fromkeys(device for device, _ in entries):
        rows = [row for row, (one, _) in enumerate(entries) if one == device]
        Allocator(device, snapshot).add_allocations(
            trace.table, rows, [entries[row][1] for row in rows]
        )
    return trace


def _set_times(table: Table, entries: list[dict[str, Any]]) -> None:
    """Uses the order as time if the entries have none."""
    times = [entry.get("time_us") for entry in entries]
    known = [float(time) for time in times if isinstance(time, int) and 0 < time < 2**62]
    if known and len(known) == len(times):
        table.start[:] = array("d", known)
        table.zero = min(known)
        table.roots.sort(key=table.start.__getitem__)


def _load(path: Path) -> dict[str, Any]:
    try:
        with Content(path).opened() as file, _memory_bound(SNAPSHOT_BYTES), _quiet():
            value = _PlainUnpickler(file).load()
    except OSError as error:
        raise BadTrace(f"cannot read {path}: {error.strerror}") from error
    except (*_DAMAGE, MemoryError, RecursionError, OverflowError) as error:
        reason = error if str(error) else "it takes too much memory"
        raise BadTrace(f"{path} is not a memory snapshot: {reason}") from error
    if not isinstance(value, dict) or "segments" not in value:
        raise BadTrace(f"{path} is not a memory snapshot: it has no segments")
    return value


def _quiet() -> contextlib.AbstractContextManager[object]:
    """Suppresses an error that Python prints if a ``bytearray`` does not fit into memory."""
    return contextlib.redirect_stderr(None)


def _entries(snapshot: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The events of each device's allocator, by time."""
    for device, entries in enumerate(_list(snapshot.get("device_traces"))):
        yield from ((device, entry) for entry in _list(entries) if isinstance(entry, dict))


def _items(entries: list[tuple[int, dict[str, Any]]], table: Table) -> Iterator[Item]:
    @cache
    def stack(frames: Frames) -> int:
        found = [StackFrame(Location(path, line), name) for path, line, name in frames[:_FRAMES]]
        table.stacks.append(Stack(tuple(found), min(_users(frames), _FRAMES - 1)))
        return len(table.stacks) - 1

    for device, entry in entries:
        frames = tuple(_frames(entry))
        yield _item(entry, f"cuda:{device}", stack(frames) if frames else NONE)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _item(entry: dict[str, Any], device: str, stack: int) -> Item:
    return Item(
        kind=REGION,
        name=word(entry.get("action", "?")),
        thread=word(entry.get("stream", 0)),
        output=f"{size(number(entry.get('size')))} {device}",
        place=device,
        stack=stack,
    )


def _frames(entry: dict[str, Any]) -> Iterator[tuple[str, int, str]]:
    """Python frames, and C++ kernels and Nodes, without the allocator, dispatcher and CPython."""
    for frame in _list(entry.get("frames")):
        if isinstance(frame, dict):
            path, name = word(frame.get("filename", "")), word(frame.get("name", ""))
            line = frame.get("line")
            if path.endswith(".py"):
                yield path, line if isinstance(line, int) else 0, name
            elif function := _function(name):
                yield function, 0, function


def _function(name: str) -> str:
    """``at::native::linear`` or ``AddmmBackward0``; empty for other functions."""
    plain = name.replace("(anonymous namespace)::", "")
    node = _NODE.match(plain)
    return node[1] if node else plain.partition("(")[0] * plain.startswith(_KERNEL)


def _users(frames: Frames) -> int:
    """The innermost Python frame outside of torch, else any, else the Node, else the kernel."""
    python = [at for at, (path, _, _) in enumerate(frames) if path.endswith(".py")]
    users = [at for at in python if "/torch/" not in frames[at][0]]
    nodes = [at for at, (path, _, _) in enumerate(frames) if not path.startswith(_KERNEL)]
    return min(users or python or nodes, default=0)


@contextlib.contextmanager
def _memory_bound(size: int) -> Iterator[None]:
    """Limits this process to its present memory plus ``size`` bytes; beyond, MemoryError.

    No limit if the system does not support one, or does not report the present size.
    """
    try:
        import resource

        pages = int(read_text("/proc/self/statm").split()[0])
        before = resource.getrlimit(resource.RLIMIT_AS)
        limit = pages * resource.getpagesize() + size
        soft = limit if before[0] == resource.RLIM_INFINITY else min(limit, before[0])
        resource.setrlimit(resource.RLIMIT_AS, (soft, before[1]))
    except (ImportError, OSError, ValueError, IndexError):
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


_SEGMENTS = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
"""Segments that the allocator takes from the device (1) and returns."""

Change = tuple[int, int, int]
"""(index of the entry, address, bytes; negative for a release)"""


class Allocator:
    """The allocator of one device of a snapshot."""

    def __init__(self, device: int, snapshot: dict[str, Any]) -> None:
        self._place = f"cuda:{device}"
        segments = snapshot.get("segments")
        mine = [
            segment
            for segment in (segments if isinstance(segments, list) else [])
            if isinstance(segment, dict) and segment.get("device", 0) == device
        ]
        self._allocated = sum(number(one.get("allocated_size")) for one in mine)
        """Bytes allocated at the end; the next field has those reserved."""
        self._reserved = sum(number(one.get("total_size")) for one in mine)

    def add_allocations(
        self, table: Table, rows: Sequence[int], entries: Sequence[dict[str, Any]]
    ) -> None:
        """Allocations for the rows of its entries: blocks, and segments as a separate place."""
        segments = list(_segments(entries))
        reserved = _before(self._reserved, segments)
        held = _before(self._allocated, blocks := list(_blocks(entries)))
        for position, address, change in sorted([*segments, *blocks]):
            row, name = rows[position], str(entries[position].get("action"))
            start, is_segment = table.start[row], name in _SEGMENTS
            reserved += change if is_segment else 0
            held += 0 if is_segment else change
            place = f"{self._place} reserved" if is_segment else self._place
            total = reserved if is_segment else held
            one = table.allocations.append(start, change, place, address, total, reserved)
            table.allocations.assign(one, row)
            if change > 0 and not is_segment:
                table.allocated[row] = change


def number(value: Any) -> int:
    """A size or an address; 0 for other values."""
    return value if isinstance(value, int) and 0 <= value < 2**63 else 0


def word(value: Any) -> str:
    """A string or number; nested lists that contain each other could be endless."""
    return str(value) if isinstance(value, (str, int, float)) else "?"


def _before(after: int, changes: Iterable[Change]) -> int:
    """The memory before them; unknown in a snapshot without segments."""
    return max(after - sum(change for *_, change in changes), 0)


def _segments(entries: Sequence[dict[str, Any]]) -> Iterator[Change]:
    for position, entry in enumerate(entries):
        sign = _SEGMENTS.get(word(entry.get("action")))
        if sign:
            yield position, number(entry.get("addr")), sign * number(entry.get("size"))


def _blocks(entries: Sequence[dict[str, Any]]) -> Iterator[Change]:
    """A block counts as freed when that is requested, though it may complete later."""
    requested: set[int] = set()
    for position, entry in enumerate(entries):
        action, address = entry.get("action"), number(entry.get("addr"))
        if action == "alloc":
            requested.discard(address)
            yield position, address, number(entry.get("size"))
        elif action == "free_requested":
            requested.add(address)
            yield position, address, -number(entry.get("size"))
        elif action == "free_completed" and address not in requested:
            yield position, address, -number(entry.get("size"))
