"""Decodes the profiler's Chrome trace events quickly and defensively."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

_T = TypeVar("_T")
_OVERLOAD = re.compile(r"(?P<name>\w+::\w+)\.(?P<overload>\w+)")


class Args(msgspec.Struct, kw_only=True):
    """The fields of ``args`` that readers use; the decoder skips others."""

    external: int | str | None = msgspec.field(name="External id", default=None)
    external_old: int | str | None = msgspec.field(name="external id", default=None)
    sequence: int | str | None = msgspec.field(name="Sequence number", default=None)
    forward_thread: int | str | None = msgspec.field(name="Fwd thread id", default=None)
    types: msgspec.Raw = msgspec.field(name="Input type", default=msgspec.Raw())
    dims: msgspec.Raw = msgspec.field(name="Input Dims", default=msgspec.Raw())
    dims_old: msgspec.Raw = msgspec.field(name="Input dims", default=msgspec.Raw())
    strides: msgspec.Raw = msgspec.field(name="Input Strides", default=msgspec.Raw())
    values: msgspec.Raw = msgspec.field(name="Concrete Inputs", default=msgspec.Raw())
    correlation: int | str | None = None
    size: int | str | None = msgspec.field(name="Bytes", default=None)
    address: int | str | None = msgspec.field(name="Addr", default=None)
    total_size: int | str | None = msgspec.field(name="Total Allocated", default=None)
    reserved_size: int | str | None = msgspec.field(name="Total Reserved", default=None)
    device_type: int | str | None = msgspec.field(name="Device Type", default=None)
    device_id: int | str | None = msgspec.field(name="Device Id", default=None)
    device: int | str | None = None
    stream: int | str | None = None
    kernel: msgspec.Raw = msgspec.Raw()
    """HIP launches: the name of the launched work."""
    graph_node: int | str | None = msgspec.field(name="graph node id", default=None)
    """Replays of CUDA graphs: the graph in the upper 32 bits, the node in the lower ones."""
    direction: str = ""
    """MTIA copies."""
    event_number: int | None = msgspec.field(name="seq_num", default=None)
    """MTIA stream events."""
    task: str = msgspec.field(name="Task Type", default="")
    """Ascend NPU tasks: ``AI_CORE``."""
    ours: msgspec.Raw = msgspec.field(name="torchnav", default=msgspec.Raw())
    """Fields that torchnav adds to rows that it exports."""
    stream_ascend: int | str | None = msgspec.field(name="Stream Id", default=None)


class Event(msgspec.Struct, kw_only=True):
    """An event; ``args`` is decoded on demand."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: int | str | float | None = None
    tid: int | str | float | None = None
    ts: float | str | None = None
    dur: float | str | None = None
    id: int | str | None = None
    """The id shared by both ends of an arrow."""
    args: msgspec.Raw = msgspec.Raw()


_EVENTS = msgspec.json.Decoder(list[Event], strict=False)
_RAW = msgspec.json.Decoder(list[msgspec.Raw])
_EVENT = msgspec.json.Decoder(Event, strict=False)
_ARGS = msgspec.json.Decoder(Args, strict=False)
_ANY = msgspec.json.Decoder()
_OBJECT = msgspec.json.Decoder(dict[str, Any])
_NO_ARGS = Args()
_CLOCK = 2.0**63
"""Upper bounds of times in microseconds and nanoseconds: clocks have 64 bits."""
_ERRORS = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)


def decode(chunk: bytes) -> tuple[list[Event], int]:
    """The events of a JSON array, and the number of unreadable ones."""
    try:
        return _EVENTS.decode(chunk), 0
    except _ERRORS:
        return _one_by_one(chunk, _EVENT)


def _one_by_one(chunk: bytes, decoder: msgspec.json.Decoder[_T]) -> tuple[list[_T], int]:
    found = [_decoded(decoder, text) for text in _texts(chunk)]
    values = [value for value in found if value is not None]
    return values, len(found) - len(values)


def _decoded(decoder: msgspec.json.Decoder[_T], text: bytes | msgspec.Raw) -> _T | None:
    try:
        return decoder.decode(text)
    except _ERRORS:
        return None


def _texts(chunk: bytes) -> Iterator[bytes]:
    """The text of each array element; after a syntax error, each whole line."""
    try:
        yield from (bytes(raw) for raw in _RAW.decode(chunk))
    except _ERRORS:
        yield from _scan(chunk.decode("utf-8", "replace").lstrip("["))


def _scan(text: str) -> Iterator[bytes]:
    decoder, at = json.JSONDecoder(), 0
    while (at := text.find("{", at)) >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = _after_bad(text, at)
            yield b"!"
            continue
        yield json.dumps(value).encode()
        at = end


def _after_bad(text: str, at: int) -> int:
    following = text.find("\n", at)
    return following if following >= 0 else len(text)


def whole_objects(chunk: bytes) -> tuple[list[dict[str, Any]], int]:
    """Every object of a JSON array with all fields, and the number of unreadable ones."""
    return _one_by_one(chunk, _OBJECT)


def args_of(event: Event) -> Args:
    """The fields of operators and device events, with defaults if unreadable."""
    return (_decoded(_ARGS, event.args) if event.args else None) or _NO_ARGS


def plain_args(event: Event) -> dict[str, Any]:
    """``args`` of a torchnav event; empty if unreadable."""
    return plain_object(event.args)


def plain_object(text: msgspec.Raw) -> dict[str, Any]:
    """An object with all fields; empty if unreadable."""
    return _decoded(_OBJECT, text) or {}


def encode(value: Any) -> bytes:
    """A value as JSON."""
    return msgspec.json.encode(value)


def text_of(raw: msgspec.Raw) -> str:
    """A string; empty for anything else."""
    value = _decoded(_ANY, raw) if raw else None
    return value if isinstance(value, str) else ""


def microseconds(value: float | str | None) -> float:
    """A time of an event, 0 if missing. Raises ValueError for impossible values."""
    time = float(value or 0.0)
    if not abs(time) < _CLOCK:  # also true for NaN
        raise ValueError(f"not a time: {value}")
    return time


def whole(value: int | str | None) -> int:
    """A number, which some versions write as text; 0 if missing."""
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else 0
    return int(value) if value and value.isdecimal() and len(value) < 19 else 0


def split_name(text: str) -> tuple[str, str | None]:
    """The name and overload in ``aten::add.Tensor``; the overload is None if missing."""
    match = _OVERLOAD.fullmatch(text)
    return (text, None) if match is None else (match["name"], match["overload"])


def json_object(text: str | bytes) -> dict[str, Any]:
    """An object in any JSON that Python accepts; else empty."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def device_place(kind: int, index: int) -> str:
    """``cpu``, ``cuda:0``: a device from its ``c10::DeviceType`` and index."""
    if not 0 <= kind < len(DEVICE_TYPES):
        raise ValueError(f"unknown device type: {kind}")
    name = DEVICE_TYPES[kind]
    return name if name == "cpu" or index < 0 else f"{name}:{index}"


DEVICE_TYPES = (
    "cpu cuda mkldnn opengl opencl ideep cuda fpga maia xla vulkan metal xpu mps meta hpu ve "
    "lazy ipu mtia privateuseone"
).split()
"""By ``c10::DeviceType``. HIP, number 6, is called CUDA in PyTorch."""
