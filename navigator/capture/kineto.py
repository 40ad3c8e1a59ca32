"""Splits the files that ``torch.profiler`` saves into one event a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_ARRAY = b'"traceEvents": ['
MARK = "torchnav|"
"""Prefix of the markers around the program's outermost torch calls."""
_MARKER = b'"name": "' + MARK.encode()
_ARROW = re.compile(rb'\{\s*"ph": "[stf]", "id": (?P<id>\d+)')
_FORWARD = re.compile(rb'\{\s+"ph": "[sf]",[^{}]*"cat": "fwdbwd"[^{}]*\}')
_CATEGORY = re.compile(rb'"cat": "([^"]*)"')


@dataclass(slots=True)
class Saved:
    """The parts of one saved profile."""

    header: dict[str, Any]
    body: bytes = b""
    """The text of the events."""

    def events(self) -> list[bytes]:
        """One line for each event. Raises OSError if there are none."""
        events = list(_events(self.body))
        if _sound(events):
            return events
        try:
            return [json.dumps(event).encode() for event in json.loads(b"[%b]" % self.body)]
        except ValueError as error:
            raise OSError("torch saved a profile that cannot be read") from error


def take_apart(data: bytes) -> Saved:
    """The parts of a saved profile. Raises ValueError when it has no ``traceEvents``."""
    start = data.index(_ARRAY) + len(_ARRAY)
    return Saved(_header(data[:start]), data[start : data.rindex(b"]")])


def _sound(events: list[bytes]) -> bool:
    """Whether splitting by layout gave whole events: the layout is kineto's, not a format."""
    try:
        return all(isinstance(json.loads(event), dict) for event in (events[:1] + events[-1:]))
    except ValueError:
        return False


def _header(text: bytes) -> dict[str, Any]:
    try:
        header: dict[str, Any] = json.loads(text + b"]}")
    except ValueError:
        return {}
    header.pop("traceEvents", None)
    return header


def _events(body: bytes) -> Iterator[bytes]:
    """Kineto prints an event over several indented lines; a raw newline is never data."""
    joined = body.replace(b"\n    ", b" ")
    for piece in joined.split(b"\n  },"):
        text = piece.strip()
        if text:
            yield (text if text.endswith(b"\n  }") else text + b"}").replace(b"\n", b" ")


class Arrows:
    """Renumbers the arrows from forward operators to Nodes and from launches to kernels: kineto
    restarts its numbers in each window, here they are unique in the file."""

    def __init__(self) -> None:
        self._count = 0
        self._numbers: dict[tuple[bytes, bytes], int] = {}

    def next_window(self) -> None:
        """A new window begins, with its own numbers."""
        self._numbers.clear()

    def renumbered(self, event: bytes) -> bytes:
        """The event with the file's number of its arrow; other events are unchanged."""
        arrow = _ARROW.match(event)
        if arrow is None:
            return event
        category = _CATEGORY.search(event)
        key = (category[1] if category else b"", arrow["id"])
        if key not in self._numbers:
            self._count += 1
            self._numbers[key] = self._count
        return b"%b%d%b" % (event[: arrow.start("id")], self._numbers[key], event[arrow.end() :])


def forward_arrows(body: bytes) -> list[bytes]:
    """Both ends of arrows from forward operators to Nodes, one a line."""
    return [b" ".join(arrow.split()) for arrow in _FORWARD.findall(body)]


def marker_number(event: bytes) -> int:
    """The number of the call that this event marks; -1 for an operator."""
    at = event.find(_MARKER)
    if at < 0:
        return -1
    start = at + len(_MARKER)
    return int(event[start : event.index(b'"', start)])


def is_bookkeeping(event: bytes) -> bool:
    """Whether the profiler describes itself with this event."""
    return event.startswith((b'{ "ph": "i",', b'{ "ph": "X", "cat": "Trace"')) and (
        b"PyTorch Profiler" in event or b"Record Window End" in event
    )


def metadata_key(event: bytes) -> str | None:
    """Identity of a metadata event, which is written once; None for other events."""
    if not event.startswith(b'{ "ph": "M"'):
        return None
    try:
        fields = json.loads(event)
    except ValueError:
        return None
    fields.pop("ts", None)
    return json.dumps(fields, sort_keys=True)


def nanoseconds(texts: Sequence[bytes]) -> list[int]:
    """From microseconds with three digits after the point."""
    return list(map(int, b",".join(texts).replace(b".", b"").split(b",")))
