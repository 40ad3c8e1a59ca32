"""Cuts a Chrome trace of any size into chunks of whole events, without loading it."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from indexes.source.files import open_file
from navigator.trace.readers.events import json_object
from navigator.trace.trace import BadTrace

BLOCK = 4 << 20
_TAIL = 1 << 16
_ARRAY_KEY = re.compile(rb'"traceEvents"\s*:\s*\[')
_NEXT_EVENT = re.compile(rb'\}\s*,\s*(?=\{\s*"(?:ph|name|cat|args|pid|tid|ts|dur)"\s*:)')
"""Between two events. It cannot stand inside a JSON string: its quotes would be escaped."""
_LARGEST = 64 << 20
"""Bytes of an event, and of what stands before the first one."""
_BOMB, _RATIO = 64 << 20, 200
"""A file that expands to more bytes than this, and as many times its size, is no trace: real
ones expand ten to forty times."""


@dataclass(slots=True)
class Surroundings:
    """What stands before and after the array of events, and how the file ends."""

    fields: dict[str, Any] = field(default_factory=dict)
    truncated: bool = False


def event_chunks(
    path: Path,
    around: Surroundings,
    array: re.Pattern[bytes] = _ARRAY_KEY,
    boundary: re.Pattern[bytes] = _NEXT_EVENT,
) -> Iterator[bytes]:
    """JSON arrays of events, in file order. ``around`` is complete when the last was given.

    ``array`` finds the array in its object, ``boundary`` the end of an event before another.
    Raises BadTrace for a file that holds no array of events, and for one that cannot be read in
    bounded memory: an event of more than 64 MB, or compressed so that it hardly ends.
    """
    cutter = _Cutter(path, around, array, boundary)
    try:
        with open_file(path, None) as file:
            plain = file.read(2) != b"\x1f\x8b"
            file.seek(0)
            blocks = iter(lambda: file.read(BLOCK), b"") if plain else _gzip_blocks(file, cutter)
            yield from cutter.chunks(blocks)
    except OSError as error:
        raise BadTrace(f"cannot read {path}: {error.strerror}") from error


def _gzip_blocks(file: IO[bytes], cutter: _Cutter) -> Iterator[bytes]:
    """Of a damaged or cut file what comes before the damage, which the gzip module drops."""
    unpacker, packed, expanded = _unpacker(), b"", 0
    try:
        while packed := packed or file.read(BLOCK >> 3):
            block = unpacker.decompress(packed, BLOCK)
            expanded += len(block)
            if expanded > max(_BOMB, _RATIO * file.tell()):
                raise BadTrace(f"{cutter.path} expands to over {_RATIO} times its size: no trace")
            if block:
                yield block
            packed = unpacker.unconsumed_tail
            if unpacker.eof:  # files of several members are allowed
                packed = unpacker.unused_data.lstrip(b"\0")
                unpacker = _unpacker()
    except zlib.error:
        cutter.around.truncated = True


def _unpacker() -> zlib._Decompress:
    return zlib.decompressobj(zlib.MAX_WBITS | 16)


@dataclass(slots=True)
class _Cutter:
    """Cuts blocks of a file behind whole events."""

    path: Path
    around: Surroundings
    array: re.Pattern[bytes]
    boundary: re.Pattern[bytes]

    def chunks(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        at, pending = self._after_header(blocks)
        seen = 0
        for block in blocks:
            pending += block
            cut = self._last_boundary(pending, seen)
            if cut:
                yield b"[" + pending[:cut].rstrip(b" \t\r\n,") + b"]"
                at, pending = at + cut, pending[cut:]
            if len(pending) > _LARGEST:
                raise BadTrace(f"{self.path}: the event at byte {at:,} is larger than 64 MB")
            seen = max(len(pending) - _TAIL, 0)
        yield from self._last_chunk(pending)

    def _after_header(self, blocks: Iterator[bytes]) -> tuple[int, bytes]:
        """Read up to the first event: where it stands, and what was read of it."""
        head = next(blocks, b"")
        if head.lstrip()[:1] == b"[":
            start = head.index(b"[") + 1
            return start, head[start:]
        while True:
            found = self.array.search(head)
            if found:
                self.around.fields |= json_object(head[: found.end()] + b"]}")
                return found.end(), head[found.end() :]
            block = next(blocks, b"") if len(head) < _LARGEST else b""
            if not block or head.lstrip()[:1] != b"{":
                raise BadTrace(f"{self.path} is no trace: it has no traceEvents")
            head += block

    def _last_boundary(self, text: bytes, seen: int = 0) -> int:
        """Where the last event of ``text`` begins; 0 when only one can be seen. No boundary
        lies wholly before ``seen``."""
        start = max(len(text) - _TAIL, seen)
        while True:
            cut = 0
            for found in self.boundary.finditer(text, start):
                cut = found.end()
            if cut or start <= seen:
                return cut
            start = max(start - (len(text) - start) * 4, seen)

    def _last_chunk(self, text: bytes) -> Iterator[bytes]:
        """The rest of the events, and then what follows the array."""
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
    """``], "traceName": ...}`` as fields."""
    rest = text.lstrip(" \t\r\n,").removeprefix("]").lstrip(" \t\r\n,")
    return json_object("{" + rest) if rest.endswith("}") and len(rest) > 1 else {}
