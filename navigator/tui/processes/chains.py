"""Computes cards and chains: those requested, and in a second process those likely to be next."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from indexes.build.workers import start_workers
from indexes.model.answers import Card, Chain, Route
from indexes.model.errors import TorchnavError
from indexes.model.files import Roots
from indexes.model.vocabulary import SourceKind

if TYPE_CHECKING:
    from indexes.queries.index import Index
    from navigator.tui.processes.preview import Preview

_MOST_ANSWERS = 64


@dataclass(frozen=True, slots=True)
class Answer:
    """An operator's card, routes and chain."""

    chain: Chain
    card: Card
    routes: tuple[Route, ...] = ()


def answer_of(index: Index | Preview, op: str) -> Answer:
    """The card, routes and chain of an operator. Raises NotFound with similar names."""
    chain, routes = index.chain(op), index.routes(op)
    return Answer(chain, index.card(op, routes), routes)


class Chains:
    """A cache of the last answers from one index.

    Likely next ones are computed by another process, one at a time: each takes a tenth of a second
    of Python, which would delay keys in a thread of this process.
    """

    def __init__(
        self, make: Callable[[str], Answer], make_in_process: Callable[[str], Answer] | None = None
    ) -> None:
        """``make`` computes an answer here; ``make_in_process``, picklable, in a process."""
        self._make = make
        self._make_in_process = make_in_process
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._worker: Executor | None = None
        self._has_answered = False
        self._tasks: dict[str, Future[Answer]] = {}
        """The answer that the process computes: one at a time."""
        self._queue: list[str] = []
        self._lock = Lock()

    def cached(self, op: str) -> Answer | None:
        """A cached answer, or None."""
        return self._answers.get(op)

    def __call__(self, op: str) -> Answer:
        """The answer for an operator, from the cache or computed. Call in a thread.

        Raises NotFound with similar names.
        """
        with self._lock:
            self._queue = []
        answer = self.cached(op) or self._process_answer(op) or self._make(op)
        self._keep(op, answer)
        return answer

    def _keep(self, op: str, answer: Answer) -> None:
        with self._lock:
            self._answers[op] = answer
            self._answers.move_to_end(op)
            while len(self._answers) > _MOST_ANSWERS:
                self._answers.popitem(last=False)

    def _process_answer(self, op: str) -> Answer | None:
        """The process's answer; None without a running process."""
        if not self._has_answered or self._worker is None or self._make_in_process is None:
            return None
        with suppress(TorchnavError, RuntimeError, CancelledError):
            return (self._tasks.get(op) or self._worker.submit(self._make_in_process, op)).result()
        return None

    def ahead(self, ops: Sequence[str]) -> None:
        """Compute these in the background, in order, unless others are requested first. Does
        nothing if no process can be started."""
        with self._lock:
            self._queue = [op for op in ops if op not in self._answers]
        self._start_next()

    def _start_next(self) -> None:
        with self._lock:
            if self._make_in_process is None or self._tasks or not self._queue:
                return
            op = self._queue.pop(0)
            try:
                self._worker = self._worker or start_workers()
                future = self._worker.submit(self._make_in_process, op)
            except (OSError, RuntimeError):  # no process could start, or it was killed
                self._make_in_process = None
                return
            self._tasks[op] = future
        future.add_done_callback(partial(self._done, op))

    def _done(self, op: str, future: Future[Answer]) -> None:
        self._tasks.pop(op)
        if future.cancelled() or isinstance(future.exception(), BrokenExecutor):
            self._make_in_process = None
        elif future.exception() is None:
            self._has_answered = True
            self._keep(op, future.result())
        self._start_next()

    def close(self) -> None:
        """Stop; no more answers will be requested."""
        with self._lock:
            self._queue, self._make_in_process = [], None
        if self._worker is not None:
            self._worker.shutdown(wait=False, cancel_futures=True)


def answer_in_process(top: str, kind: SourceKind, roots: Roots, cache: Path, op: str) -> Answer:
    """An answer from the index as it is on disk, in a process that computes many of them."""
    return answer_of(index_in_process(top, kind, roots, cache), op)


@lru_cache(1)
def index_in_process(top: str, kind: SourceKind, roots: Roots, cache: Path) -> Index:
    from indexes.queries.index import Index
    from indexes.source.source import Source

    return Index.as_left(Source(top, kind, roots), cache)
