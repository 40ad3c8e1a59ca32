"""Reads many source files at once, in child processes."""

from __future__ import annotations

import contextlib
import marshal
import os
import selectors
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from indexes.build.scan_pool import FEW, FileFacts, read_here, reader_kind, stop_if, unpack
from indexes.build.scan_worker import SIZE_BYTES, Answer, Asked, serve, tell_failure
from indexes.model.errors import SourceError
from indexes.source import forked
from indexes.source.forked import Fork
from indexes.source.walk import SourceFile

if TYPE_CHECKING:
    import subprocess

_MOST_CHILDREN = 4
_PIPE_BYTES = 1 << 20
"""Asked of the system for each pipe, so that a child rarely waits for this process."""
_START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv.pop(1));"
    "from indexes.build.scan_worker import main; main(sys.argv[1], json.loads(sys.argv[2]))"
)


@contextlib.contextmanager
def reading(
    root: str, files: list[SourceFile], cancelled: Callable[[], bool]
) -> Iterator[Iterator[FileFacts]]:
    """Facts of ``files``, in the same order every time. The children begin at once, so
    that the caller may do other things first. Raises Cancelled."""
    if len(files) <= FEW or not hasattr(os, "fork"):
        yield read_here(root, files, cancelled)
        return
    pool = _Children(root, files, cancelled)
    try:
        yield pool.facts()
    finally:
        pool.stop()


class _Children:
    """A child process that forks into several once it has loaded the readers; each part
    answers in a pipe of its own. It is a fork of this process itself where that is possible,
    which saves starting Python and loading again what is loaded here."""

    def __init__(self, root: str, files: list[SourceFile], cancelled: Callable[[], bool]) -> None:
        self._cancelled = cancelled
        self._waiting: dict[int, bytearray] = {}
        self._ended: set[int] = set()
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 closed in stop
        width = max(1, min(_MOST_CHILDREN, os.cpu_count() or 1, len(files)))
        pipes = [os.pipe() for _ in range(width)]
        try:
            self._child = self._start(root, files, pipes)
        except OSError as error:
            raise SourceError(f"a reader process could not start: {error}") from error
        finally:
            for _, write in pipes:
                os.close(write)
        for read, _ in pipes:
            self._waiting[read] = bytearray()

    def _start(
        self, root: str, files: list[SourceFile], pipes: list[tuple[int, int]]
    ) -> Fork | subprocess.Popen[bytes]:
        # The C++ files, which cost most, come first, and every part gets its share of them.
        ordered = sorted(files, key=lambda f: (f.kind != "cpp", -f.size, f.path))
        asked: list[Asked] = [(reader_kind(f), f.path, f.blob) for f in ordered]
        reads, writes = zip(*pipes, strict=True)
        for pipe in writes:
            _enlarge(pipe)
        if forked.possible():
            return Fork(lambda: self._serve(root, asked, reads, writes))
        return self._run(root, asked, writes)

    def _serve(
        self, root: str, asked: list[Asked], reads: Sequence[int], writes: Sequence[int]
    ) -> None:
        """The work of a fork of this process."""
        os.dup2(self._words.fileno(), 2)
        for pipe in reads:
            os.close(pipe)
        try:
            serve(root, asked, list(writes))
        except BaseException:
            tell_failure()
            raise

    def _run(self, root: str, asked: list[Asked], pipes: Sequence[int]) -> subprocess.Popen[bytes]:
        """The same in a process that has nothing of this one: it may have threads."""
        import json
        import subprocess

        with tempfile.TemporaryFile() as wanted:
            marshal.dump(asked, wanted)
            wanted.seek(0)
            command = [sys.executable, "-S", "-c", _START]
            command += [json.dumps(sys.path), root, json.dumps(pipes)]
            return subprocess.Popen(command, stdin=wanted, stderr=self._words, pass_fds=pipes)

    def facts(self) -> Iterator[FileFacts]:
        """The facts of all files. Raises SourceError when a reader ends early."""
        answers: dict[int, deque[Answer]] = {pipe: deque() for pipe in self._waiting}
        turns = cycle(answers.values())
        turn = next(turns)
        with selectors.DefaultSelector() as ready:
            for pipe in answers:
                ready.register(pipe, selectors.EVENT_READ)
            while ready.get_map():
                stop_if(self._cancelled)
                for key, _ in ready.select(timeout=0.2):
                    if received := os.read(key.fd, _PIPE_BYTES):
                        answers[key.fd].extend(self._take(key.fd, received))
                    else:
                        ready.unregister(key.fd)
                        self._check_end(key.fd)
                while turn:  # the files were dealt out in turns
                    yield unpack(*turn.popleft())
                    turn = next(turns)

    def _take(self, pipe: int, received: bytes) -> Iterator[Answer]:
        waiting = self._waiting[pipe]
        waiting += received
        while len(waiting) >= SIZE_BYTES:
            end = SIZE_BYTES + int.from_bytes(waiting[:SIZE_BYTES], "little")
            if len(waiting) < end:
                return
            batch: list[Answer] = marshal.loads(waiting[SIZE_BYTES:end])
            del waiting[:end]
            if not batch:
                self._ended.add(pipe)
            yield from batch

    def _check_end(self, pipe: int) -> None:
        if pipe not in self._ended:
            self._child.kill()
            raise SourceError(f"a reader process failed: {self._last_words()}")

    def stop(self) -> None:
        """Ends the children, whether they are done or not."""
        # The forks end when they find their pipes closed.
        for pipe in self._waiting:
            os.close(pipe)
        if len(self._ended) < len(self._waiting):
            self._child.kill()
        self._child.wait()
        self._words.close()

    def _last_words(self) -> str:
        self._child.wait()
        self._words.seek(0)
        lines = self._words.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"status {self._child.returncode}"


def _enlarge(pipe: int) -> None:
    """Makes a pipe hold more, where the system lets one."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
