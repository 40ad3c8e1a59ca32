"""Work done in a fork of this process while it does something else."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def possible() -> bool:
    """Whether this process can be forked: not where other threads run, whose locks a fork would
    copy in whatever state they are."""
    threads = sys.modules.get("threading")
    return hasattr(os, "fork") and (threads is None or threads.active_count() == 1)


class Fork:
    """A fork that does ``work`` and ends, with status 0 when all went well. What the parent has
    open is open in it too, and is not closed in order."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.returncode: int | None = None
        self._pid = os.fork()
        if not self._pid:
            status = 1
            try:
                work()
                status = 0
            finally:
                os._exit(status)

    def kill(self) -> None:
        """Ends it, if it has not ended."""
        if self.returncode is None:
            from signal import SIGKILL

            os.kill(self._pid, SIGKILL)

    def wait(self) -> int:
        """Its exit status, once it has ended."""
        if self.returncode is None:
            _, status = os.waitpid(self._pid, 0)
            self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def begin(work: Callable[[], Any]) -> Callable[[], Any]:
    """Begins ``work``, whose result is plain data; what is returned waits for that result. Where
    no fork is possible, the work is done when its result is asked for."""
    if not possible():
        return work
    read, write = os.pipe()
    fork = Fork(lambda: _answer(work, read, write))
    os.close(write)
    return lambda: _result(fork, read, work)


def _answer(work: Callable[[], Any], read: int, write: int) -> None:
    from marshal import dumps

    os.close(read)
    packed = dumps(work())
    with open(write, "wb") as out:
        out.write(packed)


def _result(fork: Fork, read: int, work: Callable[[], Any]) -> Any:
    from marshal import loads

    with open(read, "rb") as answer:
        packed = answer.read()
    # A fork that ended early, for want of memory perhaps, left the work to us.
    return work() if fork.wait() else loads(packed)
