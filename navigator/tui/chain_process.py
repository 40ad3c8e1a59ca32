"""A process beside the screen that works out chains, so that keys never wait for one.

A chain costs a tenth of a second of Python; in a thread of the screen's own process it would
hold up everything else. The process ends with its input.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indexes.model import Chain

_START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv.pop(1));"
    "from navigator.tui.chain_process import main; main(*sys.argv[1:])"
)
_SIZE_BYTES = 8


class ChainProcess:
    """Answers one question at a time."""

    def __init__(self, root: str, cache: Path) -> None:
        """Raises OSError when no process can be started."""
        command = [sys.executable, "-c", _START, json.dumps(sys.path), root, str(cache)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def chain(self, op: str) -> Chain | None:
        """The chain of an operator; None when the process has no answer, or is no more."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{op}\n".encode())
            self._process.stdin.flush()
            size = int.from_bytes(self._process.stdout.read(_SIZE_BYTES), "little")
            answer = self._process.stdout.read(size)
        except (OSError, ValueError):  # it has ended
            return None
        if not size or len(answer) < size:
            return None
        chain: Chain = pickle.loads(answer)
        return chain

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()


def main(root: str, cache: str) -> None:
    """Answers names of operators on stdin with chains on stdout."""
    from indexes.query import Index
    from indexes.source import Source

    with suppress(OSError):
        os.nice(5)  # the screen comes first
    index = Index.as_left(Source.find(root), Path(cache))
    for line in sys.stdin:
        answer = _answer(index, line.rstrip("\n"))
        sys.stdout.buffer.write(len(answer).to_bytes(_SIZE_BYTES, "little") + answer)
        sys.stdout.buffer.flush()


def _answer(index: Index, op: str) -> bytes:
    from indexes.errors import TorchnavError

    try:
        return pickle.dumps(index.chain(op), pickle.HIGHEST_PROTOCOL)
    except TorchnavError:  # who asked finds out why
        return b""


if TYPE_CHECKING:
    from indexes.query import Index
