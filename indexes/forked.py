"""Work done in a fork of this process while it does something else."""

from __future__ import annotations

import marshal
import os
import threading
from collections.abc import Callable
from typing import Any, NoReturn


def begin(work: Callable[[], Any]) -> Callable[[], Any]:
    """Begins ``work``, whose result is plain data; what is returned waits for that result.

    Without forks, or where other threads run, whose locks a fork would copy in whatever state
    they are, the work is done when its result is asked for.
    """
    if not hasattr(os, "fork") or threading.active_count() > 1:
        return work
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        _serve(work, write)
    os.close(write)
    return lambda: _result(child, read, work)


def _serve(work: Callable[[], Any], pipe: int) -> NoReturn:
    status = 1
    try:
        packed = marshal.dumps(work())
        with open(pipe, "wb") as out:
            out.write(packed)
        status = 0
    finally:
        os._exit(status)


def _result(child: int, pipe: int, work: Callable[[], Any]) -> Any:
    with open(pipe, "rb") as answer:
        packed = answer.read()
    _, status = os.waitpid(child, 0)
    # A fork that ended early, for want of memory perhaps, left the work to us.
    return work() if status else marshal.loads(packed)
