"""Reads many source files at once, in child processes."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from indexes.errors import Cancelled, SourceError
from indexes.readers.cpp_facts import CppFacts
from indexes.scan_worker import Contents, content_hash, decode, encode, read_safely
from indexes.walk import SourceFile

_FEW = 24
"""Up to so many files are read in this process: a child costs more than it saves."""
_MOST_CHILDREN = 4
_START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv.pop(1));"
    "from indexes.scan_worker import main; main(sys.argv[1])"
)


@dataclass(slots=True)
class FileFacts:
    """What was read from one file."""

    path: str
    hash: bytes
    cpp: CppFacts | None
    python: list[list[Any]] = field(default_factory=list)
    problems: list[list[Any]] = field(default_factory=list)


def read_files(
    root: str, files: list[SourceFile], cache: Path, cancelled: Callable[[], bool]
) -> Iterator[FileFacts]:
    """Facts of ``files``, in the order in which they come. Raises Cancelled."""
    if len(files) <= _FEW:
        contents = Contents(root)
        for file in files:
            if cancelled():
                raise Cancelled("indexing was cancelled; nothing was changed")
            yield _read_here(contents, file)
        return
    yield from _Pool(root, files, cancelled).run()


def _read_here(contents: Contents, file: SourceFile) -> FileFacts:
    try:
        data = contents.read(file.path, file.blob)
    except OSError as error:
        return FileFacts(file.path, b"", None, [], [[0, str(error)]])
    kind = reader_kind(file)
    packed = encode(read_safely(kind, file.path, data))
    return unpack(kind, file.path, content_hash(data), packed)


def reader_kind(file: SourceFile) -> str:
    """Which reader a file goes to."""
    return "cpp" if file.kind == "cpp" else "python"


def unpack(kind: str, path: str, digest: bytes, packed: bytes) -> FileFacts:
    """Facts as they were encoded by a worker."""
    facts, problems = decode(packed)
    if kind == "cpp":
        cpp = CppFacts.from_rows(facts) if facts else CppFacts()
        return FileFacts(path, digest, cpp, [], problems)
    return FileFacts(path, digest, None, facts, problems)


class _Pool:
    """Child processes that take files by size, largest first, and a thread for each to listen."""

    def __init__(self, root: str, files: list[SourceFile], cancelled: Callable[[], bool]) -> None:
        self._root = root
        self._cancelled = cancelled
        self._total = len(files)
        self._results: queue.Queue[tuple[str, str, bytes, bytes] | Exception | None] = queue.Queue(
            64
        )
        self._children: list[subprocess.Popen[bytes]] = []
        self._stopping = False
        self._lists = [part for part in self._split(files) if part]

    def _split(self, files: list[SourceFile]) -> list[list[str]]:
        """One list of ``kind NUL path NUL blob`` for each child, the C++ ones first."""
        width = max(1, min(_MOST_CHILDREN, os.cpu_count() or 1))
        ordered = sorted(files, key=lambda f: (f.kind != "cpp", -f.size))
        lines = [f"{reader_kind(f)}\0{f.path}\0{f.blob.hex()}" for f in ordered]
        return [lines[start::width] for start in range(width)]

    def run(self) -> Iterator[FileFacts]:
        threads = [
            threading.Thread(target=self._work, args=(part,), daemon=True) for part in self._lists
        ]
        for thread in threads:
            thread.start()
        try:
            yield from self._collect(len(threads))
        finally:
            self._stop()

    def _collect(self, running: int) -> Iterator[FileFacts]:
        while running:
            try:
                item = self._results.get(timeout=0.2)
            except queue.Empty:
                if self._cancelled():
                    raise Cancelled("indexing was cancelled; nothing was changed") from None
                continue
            if item is None:
                running -= 1
            elif isinstance(item, Exception):
                raise SourceError(f"a reader process failed: {item}") from item
            else:
                kind, path, digest, packed = item
                yield unpack(kind, path, digest, packed)

    def _work(self, paths: list[str]) -> None:
        try:
            self._listen(paths)
            self._put(None)
        except (OSError, ValueError) as error:
            self._put(error)

    def _put(self, item: tuple[str, str, bytes, bytes] | Exception | None) -> None:
        while not self._stopping:
            try:
                self._results.put(item, timeout=0.2)
                return
            except queue.Full:
                continue

    def _listen(self, paths: list[str]) -> None:
        child = subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps(sys.path), self._root],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self._children.append(child)
        assert child.stdin
        assert child.stdout
        feeder = threading.Thread(target=_feed, args=(child.stdin, paths), daemon=True)
        feeder.start()
        for _ in paths:
            header = child.stdout.readline()
            if not header:
                if self._stopping:
                    return
                raise OSError(f"a reader ended early: {_last_words(child)}")
            kind, path, digest, size = header.decode().rstrip("\n").split("\0")
            packed = child.stdout.read(int(size))
            self._put((kind, path, bytes.fromhex(digest), packed))
        child.wait()

    def _stop(self) -> None:
        self._stopping = True
        for child in self._children:
            if child.poll() is None:
                child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout, child.stderr):
                if pipe:
                    pipe.close()


def _last_words(child: subprocess.Popen[bytes]) -> str:
    assert child.stderr
    lines = child.stderr.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"status {child.wait()}"


def _feed(pipe: IO[bytes], paths: list[str]) -> None:
    try:
        pipe.write("".join(f"{path}\n" for path in paths).encode("utf-8", "surrogateescape"))
        pipe.close()
    except OSError:
        pass  # the child is gone; its reader says so
