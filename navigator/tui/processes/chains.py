"""The chains that a reader asks for, and those that are likely to be asked for next."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Condition, Lock, Thread

from indexes.model.errors import TorchnavError
from indexes.model.vocabulary import Chain
from navigator.tui.processes.chain_process import ChainProcess

_KEPT = 64


class Chains:
    """Chains of one index. The last ones are kept, as a reader goes to and fro."""

    def __init__(
        self, make: Callable[[str], Chain], start: Callable[[], ChainProcess] | None = None
    ) -> None:
        """``make`` works one out here, ``start`` starts a process that does it beside."""
        self._make = make
        self._start = start
        self._process: ChainProcess | None = None
        self._kept: OrderedDict[str, Chain] = OrderedDict()
        self._one_at_a_time = Lock()
        self._wishes: list[str] = []
        self._wished = Condition()
        self._thread: Thread | None = None
        self._closed = False

    def at_hand(self, op: str) -> Chain | None:
        """A chain that is there already."""
        return self._kept.get(op)

    def __call__(self, op: str) -> Chain:
        """The chain of an operator, worked out unless it is at hand. For a thread.

        Raises NotFound with near names.
        """
        with self._wished:
            self._wishes = []
        with self._one_at_a_time:
            return self._chain(op)

    def _chain(self, op: str) -> Chain:
        chain = self._kept.get(op)
        if chain is None:
            chain = (self._process and self._process.chain(op)) or self._make(op)
            self._kept[op] = chain
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(op)
        return chain

    # -------------------------------------------------------------------------- ahead

    def ahead(self, ops: Sequence[str]) -> None:
        """Work these out while the reader reads, the first of them first, unless something
        else is wanted before. Does nothing where there is no process to do it beside."""
        wishes = [op for op in ops if op not in self._kept]
        if self._start is None or self._closed:
            return
        with self._wished:
            self._wishes = wishes
            self._wished.notify()
        if self._thread is None and wishes:
            self._thread = Thread(target=self._work_ahead, daemon=True)
            self._thread.start()

    def _work_ahead(self) -> None:
        assert self._start is not None
        try:
            self._process = self._start()
        except OSError:  # no more processes: chains are worked out when they are asked for
            return
        while (op := self._next_wish()) is not None:
            with self._one_at_a_time, suppress(TorchnavError):
                self._chain(op)

    def _next_wish(self) -> str | None:
        with self._wished:
            self._wished.wait_for(lambda: self._wishes or self._closed)
            return None if self._closed else self._wishes.pop(0)

    def close(self) -> None:
        """Nothing more will be asked."""
        with self._wished:
            self._closed = True
            self._wished.notify()
        if self._process is not None:
            self._process.close()
