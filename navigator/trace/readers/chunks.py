"""Splits a Chrome trace of any size into chunks of whole events, without loading it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indexes.model.errors import EVENT_BYTES
from navigator.trace.readers.events import json_object
from navigator.trace.readers.packed import Content
from navigator.trace.trace import BadTrace

_TAIL = 1 << 16
_ARRAY_KEY = re.compile(rb'"traceEvents"\s*:\s*\[')
_NEXT_EVENT = re.compile(rb'\}\s*,\s*(?=\{\s*"(?:ph|name|cat|args|pid|tid|ts|dur)"\s*:)')
"""Separator of events. It cannot occur in a JSON string, where quotes are escaped."""


@dataclass(slots=True)
class Surroundings:
    """The text before and after the array of events, and how the file ends."""

    fields: dict[str, Any] = field(default_factory=dict)
    truncated: bool = False
    left_out: list[str] = field(default_factory=list)
    """A line about files of an archive that are skipped."""


def event_chunks(
    path: Path,
    around: Surroundings,
    array: re.Pattern[bytes] = _ARRAY_KEY,
    boundary: re.Pattern[bytes] = _NEXT_EVENT,
) -> Iterator[bytes]:
    """JSON arrays of events, in file order. ``around`` is complete after the last one.

    ``array`` finds the array in its object, ``boundary`` the end of an event before another. Raises
    BadTrace for a file without an array of events, and for one that would need unbounded memory: an
    event of more than 64 MB, or extreme compression.
    """
    cutter, content = _Cutter(path, around, array, boundary), Content(path)
    try:
        yield from cutter.chunks(content.blocks())
    except OSError as error:
        raise BadTrace(f"cannot read {path}: {error.strerror or error}") from error
    around.truncated |= content.damaged
    around.left_out = content.left_out


@dataclass(slots=True)
class _Cutter:
    """Splits a file's blocks after whole events."""

    path: Path
    around: Surroundings
    array: re.Pattern[bytes]
    boundary: re.Pattern[bytes]

    def chunks(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        at, pending = self._after_header(blocks)
        searched = 0
        for block in blocks:
            pending += block
            cut = self._last_boundary(pending, searched)
            if cut:
                yield b"[" + pending[:cut].rstrip(b" \t\r\n,") + b"]"
                at, pending = at + cut, pending[cut:]
            if len(pending) > EVENT_BYTES:
                raise BadTrace(
                    f"{self.path}: the event at byte {at:,} is larger than {EVENT_BYTES >> 20} MB"
                )
            searched = max(len(pending) - _TAIL, 0)
        yield from self._last_chunk(pending)

    def _after_header(self, blocks: Iterator[bytes]) -> tuple[int, bytes]:
        """Reads up to the first event; returns its position and the text read so far."""
        head = next(blocks, b"")
        if head.lstrip()[:1] == b"[":
            start = head.index(b"[") + 1
            return start, head[start:]
        while True:
            found = self.array.search(head)
            if found:
                self.around.fields |= json_object(head[: found.end()] + b"]}")
                return found.end(), head[found.end() :]
            block = next(blocks, b"") if len(head) < EVENT_BYTES else b""
            if not block or head.lstrip()[:1] != b"{":
                raise BadTrace(f"{self.path} is not a trace: it has no traceEvents")
            head += block

    def _last_boundary(self, text: bytes, searched: int = 0) -> int:
        """Start of the last event in ``text``; 0 if there is only one. No boundary lies entirely
        before ``searched``."""
        start = max(len(text) - _TAIL, searched)
        while True:
            cut = 0
            for found in self.boundary.finditer(text, start):
                cut = found.end()
            if cut or start <= searched:
                return cut
            start = max(start - (len(text) - start) * 4, searched)

    def _last_chunk(self, text: bytes) -> Iterator[bytes]:
        """The rest of the events; then parses what follows the array."""
        cut = self._last_boundary(text)
        if cut:
            yield b"[" + text[:cut].rstrip(b" \t\r\n,") + b"]"
            text = text[cut:]
        last = text.decode("utf-8", "replace").strip(" \t\r\n,")
        if not last or last.startswith("]"):
            self.around.fields |= _trailer(last)
            return
        try:
            event, end = json.JSONDecoder().raw_decode(last)
        except (ValueError, RecursionError):
            self.around.truncated = True
            return
        yield json.dumps([event]).encode()
        self.around.fields |= _trailer(last[end:].strip())


def _trailer(text: str) -> dict[str, Any]:
    """The fields of ``], "traceName": ...}``."""
    rest = text.lstrip(" \t\r\n,").removeprefix("]").lstrip(" \t\r\n,")
    return json_object("{" + rest) if rest.endswith("}") and len(rest) > 1 else {}
