"""The chains that a reader asks for, and those that are likely to be asked for next."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from indexes.build.workers import start_workers
from indexes.model.errors import TorchnavError
from indexes.model.vocabulary import Chain, SourceKind

if TYPE_CHECKING:
    from indexes.queries.index import Index

_KEPT = 64


class Chains:
    """Chains of one index. The last ones are kept, as a reader goes to and fro.

    Those that may be asked for next are worked out by another process, one at a time: a chain
    costs a tenth of a second of Python, which in a thread of the screen would hold up its keys.
    """

    def __init__(
        self, make: Callable[[str], Chain], make_beside: Callable[[str], Chain] | None = None
    ) -> None:
        """``make`` works one out here; ``make_beside``, which can be pickled, in a process."""
        self._make = make
        self._make_beside = make_beside
        self._kept: OrderedDict[str, Chain] = OrderedDict()
        self._worker: Executor | None = None
        self._has_answered = False
        self._ahead: dict[str, Future[Chain]] = {}
        """What the process works at: one at most."""
        self._wishes: list[str] = []
        self._lock = Lock()

    def at_hand(self, op: str) -> Chain | None:
        """A chain that is there already."""
        return self._kept.get(op)

    def __call__(self, op: str) -> Chain:
        """The chain of an operator, worked out unless it is at hand. For a thread.

        Raises NotFound with near names.
        """
        with self._lock:
            self._wishes = []
        chain = self.at_hand(op) or self._beside(op) or self._make(op)
        self._keep(op, chain)
        return chain

    def _keep(self, op: str, chain: Chain) -> None:
        with self._lock:
            self._kept[op] = chain
            self._kept.move_to_end(op)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)

    def _beside(self, op: str) -> Chain | None:
        """The answer of the process; None where there is none that has come up, or is no more."""
        if not self._has_answered or self._worker is None or self._make_beside is None:
            return None
        with suppress(TorchnavError, RuntimeError, CancelledError):
            return (self._ahead.get(op) or self._worker.submit(self._make_beside, op)).result()
        return None

    def ahead(self, ops: Sequence[str]) -> None:
        """Work these out while the reader reads, the first of them first, unless something
        else is wanted before. Does nothing where no process can be started."""
        with self._lock:
            self._wishes = [op for op in ops if op not in self._kept]
        self._work_ahead()

    def _work_ahead(self) -> None:
        with self._lock:
            if self._make_beside is None or self._ahead or not self._wishes:
                return
            op = self._wishes.pop(0)
            try:
                self._worker = self._worker or start_workers()
                future = self._worker.submit(self._make_beside, op)
            except (OSError, RuntimeError):  # no more processes, or it was killed
                self._make_beside = None
                return
            self._ahead[op] = future
        future.add_done_callback(partial(self._done, op))

    def _done(self, op: str, future: Future[Chain]) -> None:
        self._ahead.pop(op)
        if future.cancelled() or isinstance(future.exception(), BrokenExecutor):
            self._make_beside = None
        elif future.exception() is None:
            self._has_answered = True
            self._keep(op, future.result())
        self._work_ahead()

    def close(self) -> None:
        """Nothing more will be asked."""
        with self._lock:
            self._wishes, self._make_beside = [], None
        if self._worker is not None:
            self._worker.shutdown(wait=False, cancel_futures=True)


def chain_of(top: str, kind: SourceKind, cache: Path, op: str) -> Chain:
    """A chain of the index as it was left, in a process that is asked for many of them."""
    return _index(top, kind, cache).chain(op)


@lru_cache(1)
def _index(top: str, kind: SourceKind, cache: Path) -> Index:
    from indexes.queries.index import Index
    from indexes.source.source import Source

    return Index.as_left(Source(top, kind), cache)
