"""A process beside the screen that works out chains, so that keys never wait for one.

A chain costs a tenth of a second of Python; in a thread of the screen's own process it would
hold up everything else. The process ends with its input.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from navigator.tui.processes import worker as beside

if TYPE_CHECKING:
    from indexes.model.vocabulary import Chain, SourceKind
    from indexes.queries.index import Index
    from indexes.source.source import Source

_SIZE_BYTES = 8


class ChainProcess:
    """Answers one question at a time."""

    def __init__(self, source: Source, cache: Path) -> None:
        """Raises OSError when no process can be started."""
        self._process = beside.start(
            "navigator.tui.processes.chain_process", source.top, source.kind, str(cache)
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


def main(top: str, kind: SourceKind, cache: str) -> None:
    """Answers names of operators on stdin with chains on stdout."""
    from indexes.queries.index import Index
    from indexes.source.source import Source

    index = Index.as_left(Source(top, kind), Path(cache))
    for line in sys.stdin:
        answer = _answer(index, line.rstrip("\n"))
        sys.stdout.buffer.write(len(answer).to_bytes(_SIZE_BYTES, "little") + answer)
        sys.stdout.buffer.flush()


def _answer(index: Index, op: str) -> bytes:
    from indexes.model.errors import TorchnavError

    try:
        return pickle.dumps(index.chain(op), pickle.HIGHEST_PROTOCOL)
    except TorchnavError:  # who asked finds out why
        return b""
