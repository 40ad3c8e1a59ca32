"""Unpacks files: gzip, zstd, tar, also nested.

The packing is recognised by the first bytes, never by the name. Nothing is unpacked to disk, and
there is a limit for the unpacked size.
"""

from __future__ import annotations

import errno
import importlib
import io
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any

from indexes.model.errors import EXPANDED_BYTES, EXPANSION, PACKINGS
from indexes.source.files import open_file
from navigator.trace.trace import BadTrace

BLOCK = 4 << 20
_TAR_AT, _TAR = 257, b"ustar"
_ZSTD = b"\x28\xb5\x2f\xfd"
_GZIP = b"\x1f\x8b"
_PEEK = 1 << 16
LOG_ENTRY = rb"^[VIWE]\d{4} "
"""Start of a log entry."""
_START = re.compile(rb"\s*[{\[]|" + LOG_ENTRY + rb'|==PROF==|"ID",')
"""Start of a trace, required of members of an archive: JSON, a log, a report of ncu."""


class Content:
    """The unpacked bytes of a file.

    Raises a one-line BadTrace, here and while reading, for data that can't be unpacked.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged = False
        """Whether the file is truncated or damaged; the data before that was read."""
        self.others: list[str] = []
        """Other members of an archive that look like traces."""

    def blocks(self) -> Iterator[bytes]:
        """The content in blocks of a few megabytes. Raises OSError."""
        with open_file(self.path, None) as file:
            blocks = iter(lambda: file.read(BLOCK), b"")
            for _ in range(PACKINGS):
                head, blocks = _peeked(blocks)
                unpack = self._packing(head)
                if unpack is None:
                    break
                blocks = self._bounded(unpack(blocks), file)
            yield from blocks

    def head(self, size: int) -> bytes:
        """The first bytes of the content."""
        found = b""
        for block in self.blocks():
            found += block
            if len(found) >= size:
                break
        return found[:size]

    def whole(self, limit: int) -> bytes:
        """The whole content. Raises OSError, also if it exceeds ``limit``."""
        found = []
        for block in self.blocks():
            found.append(block)
            if sum(map(len, found)) > limit:
                raise OSError(errno.EFBIG, f"larger than {limit >> 20} MB")
        return b"".join(found)

    @property
    def left_out(self) -> list[str]:
        """A line about files of an archive that are skipped."""
        more = ", ".join(self.others[:3]) + ", ..." * (len(self.others) > 3)
        text = f"the archive holds {len(self.others)} more, which are not shown: {more}"
        return [text] * bool(self.others)

    def opened(self) -> IO[bytes]:
        """The content as a file for reading once, from its start."""
        return io.BufferedReader(_Stream(self.blocks()))

    def _packing(self, head: bytes) -> Callable[[Iterator[bytes]], Iterator[bytes]] | None:
        if head.startswith(_GZIP):
            return self._gzip
        if head.startswith(_ZSTD):
            return self._zstd
        return self._member if head[_TAR_AT:].startswith(_TAR) else None

    def _bounded(self, blocks: Iterator[bytes], file: IO[bytes]) -> Iterator[bytes]:
        expanded = 0
        for block in blocks:
            expanded += len(block)
            if expanded > max(EXPANDED_BYTES, EXPANSION * file.tell()):
                raise BadTrace(
                    f"{self.path} expands to over {EXPANSION} times its size: not a trace"
                )
            yield block

    def _gzip(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Yields a damaged or truncated file up to the damage, which the gzip module drops."""
        unpacker, packed = _unpacker(), b""
        try:
            while packed := packed or next(blocks, b""):
                block = unpacker.decompress(packed, BLOCK)
                if block:
                    yield block
                packed = unpacker.unconsumed_tail
                if unpacker.eof:  # files of several members are allowed
                    packed = unpacker.unused_data.lstrip(b"\0")
                    unpacker = _unpacker()
        except zlib.error:
            self.damaged = True

    def _zstd(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        opened, error = _zstd_reader(self.path)
        reader = opened(_Stream(blocks))
        try:
            yield from iter(lambda: reader.read(BLOCK), b"")
        except (error, EOFError):
            self.damaged = True

    def _member(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """The first file of an archive that looks like a trace; the others are noted."""
        found = False
        try:
            with tarfile.open(fileobj=_Stream(blocks), mode="r|") as archive:
                for name, content in _files(archive):
                    start = content.read(_PEEK)
                    if found and _may_be_trace(start):
                        self.others.append(name)
                    elif _may_be_trace(start):
                        found = True
                        yield start
                        yield from iter(partial(content.read, BLOCK), b"")
        except (tarfile.TarError, EOFError):
            self.damaged = True
        if not found and not self.damaged:
            raise BadTrace(f"{self.path} is an archive that holds no trace")


class _Stream(io.RawIOBase):
    """Blocks as a file for reading once, from its start."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._rest = blocks, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = block
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


def _peeked(blocks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Enough first bytes to recognise the packing, and all blocks again."""
    head = b""
    for block in blocks:
        head += block
        if len(head) >= _TAR_AT + len(_TAR):
            break
    return head, chain((head,) if head else (), blocks)


def _unpacker() -> zlib._Decompress:
    return zlib.decompressobj(zlib.MAX_WBITS | 16)


def _zstd_reader(path: Path) -> tuple[Callable[[io.RawIOBase], Any], type[Exception]]:
    """The function that opens a zstd stream, and its exceptions: from Python 3.14 or a package."""
    try:
        module = importlib.import_module("compression.zstd")
        return module.ZstdFile, module.ZstdError
    except ImportError:
        pass
    try:
        package = importlib.import_module("zstandard")
    except ImportError as error:
        raise BadTrace(
            f"{path} is compressed with zstd: pip install 'torchnav[zstd]' reads it"
        ) from error
    across = partial(package.ZstdDecompressor().stream_reader, read_across_frames=True)
    return across, package.ZstdError


def _files(archive: tarfile.TarFile) -> Iterator[tuple[str, IO[bytes]]]:
    for member in archive:
        content = archive.extractfile(member) if member.isfile() else None
        if content is not None:
            yield member.name, content


def _may_be_trace(start: bytes) -> bool:
    return _START.match(start) is not None
