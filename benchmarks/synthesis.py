"""Large traces made from a real one by repeating its steps."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

REAL = Path(__file__).parents[1] / "tests" / "data" / "traces" / "h100-vit-image-classifier.json.gz"
_IDS = ("correlation", "External id", "Python id", "Python parent id")
_STRIDE = 1_000_000
_PAUSE_US = 1000.0

Event = dict[str, Any]


def write_trace(
    path: Path, events: int = 0, size: int = 0, rank: int = 0, slow: float = 1.0
) -> int:
    """A Chrome trace of at least this many events or bytes; returns the number of events.

    Every step ends in an NCCL all-reduce that waits for the slowest rank; ``slow`` scales this
    rank's computation.
    """
    whole = json.loads(gzip.decompress(REAL.read_bytes()))
    template: list[Event] = whole.pop("traceEvents")
    whole["distributedInfo"] = {"rank": rank}
    encode = msgspec.json.Encoder().encode
    written = steps = 0
    with path.open("wb") as file:
        file.write(encode(whole)[:-1] + b',\n"traceEvents": [\n')
        while written < events or file.tell() < size or not steps:
            lines = [encode(event) for event in _step(template, steps, slow)]
            file.write(b",\n" * bool(steps) + b",\n".join(lines))
            written += len(lines)
            steps += 1
        file.write(b"\n]}\n")
    return written


def _step(template: list[Event], step: int, slow: float) -> Iterator[Event]:
    start, length = _extent(template)
    later = step * (2 * length + _PAUSE_US)
    for event in template:
        if event["ph"] != "M" or not step:
            yield _moved(event, start, later, step, slow)
    begin = start + later + length * 0.8 * slow
    yield {
        "ph": "X",
        "cat": "kernel",
        "name": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
        "pid": 0,
        "tid": 99,
        "ts": begin,
        "dur": length * (1.6 - 0.8 * slow),
        "args": {"device": 0, "stream": 99, "correlation": step * _STRIDE + _STRIDE - 1},
    }


def _extent(template: list[Event]) -> tuple[float, float]:
    """The start of the template's operators, and their total duration."""
    timed = [e for e in template if e["ph"] == "X" and e.get("cat") in ("cpu_op", "kernel")]
    start = min(float(event["ts"]) for event in timed)
    return start, max(float(event["ts"]) + float(event["dur"]) for event in timed) - start


def _moved(event: Event, start: float, later: float, step: int, slow: float) -> Event:
    copy = dict(event)
    if "ts" in copy:
        copy["ts"] = start + (float(copy["ts"]) - start) * slow + later
    if "dur" in copy:
        copy["dur"] = float(copy["dur"]) * slow
    args = copy.get("args")
    if isinstance(args, dict):
        copy["args"] = {
            name: value + step * _STRIDE if name in _IDS and isinstance(value, int) else value
            for name, value in args.items()
        }
    return copy


def write_ranks(folder: Path, count: int, events: int, straggler: int) -> None:
    """Traces of a run whose ranks differ by a few thousandths; one takes 1.2 times as long."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(count):
        slow = 1.2 if rank == straggler else 1 + (rank * 7 % 11) / 2000
        write_trace(folder / f"rank{rank}.json", events, rank=rank, slow=slow)
