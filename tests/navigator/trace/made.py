"""Small profiles made by hand: events as kineto writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace

Event = dict[str, Any]


def slice_(cat: str, name: str, start: float, duration: float, tid: int = 1, **args: Any) -> Event:
    event = {"ph": "X", "cat": cat, "name": name, "pid": 9, "tid": tid}
    return event | {"ts": start, "dur": duration, "args": args}


def op(name: str, start: float, duration: float, tid: int = 1, **args: Any) -> Event:
    return slice_("cpu_op", name, start, duration, tid, **args)


def block(name: str, start: float, duration: float, tid: int = 1) -> Event:
    """A ``record_function`` block."""
    return slice_("user_annotation", name, start, duration, tid)


def launch(start: float, to: int, name: str = "cudaLaunchKernel", duration: float = 1.0) -> Event:
    return slice_("cuda_runtime", name, start, duration, correlation=to)


def kernel(
    name: str, start: float, duration: float, to: int, stream: int = 7, **args: Any
) -> Event:
    work = {"correlation": to, "device": 0, "stream": stream, **args}
    return slice_("kernel", name, start, duration, stream, **work) | {"pid": 0}


def tensors(*shapes: list[int], dtype: str = "float", values: Iterable[str] = ()) -> Event:
    """``args`` of an operator with tensors, and then scalars."""
    values = list(values)
    kinds = ["ScalarList" if value.startswith("[") else "Scalar" for value in values]
    return {
        "Input Dims": [*shapes, *([] for _ in values)],
        "Input type": [*(dtype for _ in shapes), *kinds],
        "Concrete Inputs": [*("" for _ in shapes), *values],
    }


def made(folder: Path, events: Iterable[Event], device: str = "", name: str = "made.json") -> Trace:
    """The trace of a profile with these events."""
    devices = [{"id": 0, "name": device}] if device else []
    text = json.dumps({"deviceProperties": devices, "traceEvents": list(events)})
    (folder / name).write_text(text)
    return read_trace(folder / name)
