"""Work done in a fork of this process while it does something else."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

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


class Task:
    """``work``, whose result is plain data, begun in a fork. Where no fork is possible, it is done
    when its result is asked for."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._fork: Fork | None = None
        if possible():
            self._pipe, end = os.pipe()
            self._fork = Fork(lambda: _answer(work, self._pipe, end))
            os.close(end)

    def is_ready(self) -> bool:
        """Whether the result can be had at once."""
        from select import select

        return self._fork is not None and bool(select([self._pipe], (), (), 0)[0])

    def result(self) -> Any:
        """The result, waited for; to be asked for once."""
        from marshal import loads

        if self._fork is None:
            return self._work()
        with open(self._pipe, "rb") as answer:
            packed = answer.read()
        # A fork that ended early, for want of memory perhaps, left the work to us.
        return self._work() if self._fork.wait() else loads(packed)

    def drop(self) -> None:
        """Ends the work, whose result nobody wants."""
        if self._fork and self._fork.returncode is None:
            os.close(self._pipe)
            self._fork.kill()
            self._fork.wait()


def begin(work: Callable[[], Any]) -> Callable[[], Any]:
    """Begins ``work`` as a ``Task`` does; what is returned waits for its result."""
    return Task(work).result


def _answer(work: Callable[[], Any], read: int, write: int) -> None:
    from marshal import dumps

    os.close(read)
    packed = dumps(work())
    with open(write, "wb") as out:
        out.write(packed)
