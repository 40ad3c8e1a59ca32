"""Worker processes: an executor whose processes end with this one, however it ends."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, redirect_stderr
from multiprocessing import get_context, parent_process
from threading import Event, Lock, Thread
from typing import Literal

from indexes.model.errors import Cancelled, SourceError

in_worker = Event()
"""Set in a worker process."""


def start_workers(
    count: int = 1,
    prepare: Callable[..., object] | None = None,
    *arguments: object,
    method: Literal["spawn", "fork"] = "spawn",
) -> ProcessPoolExecutor:
    """An executor of ``count`` processes, each of which calls ``prepare`` first. They are spawned,
    which loads the main module again, or forked.

    Raises:
        OSError: No process can be started; ``submit`` of the executor may raise it too.
    """
    try:
        with redirect_stderr(sys.__stderr__):  # Textual's has no descriptor to hand on
            return ProcessPoolExecutor(
                count, get_context(method), initializer=_begin, initargs=(prepare, arguments)
            )
    except (ImportError, NotImplementedError) as error:  # a system without semaphores
        raise OSError(str(error)) from error


@contextmanager
def working(pool: ProcessPoolExecutor, process: str) -> Iterator[ProcessPoolExecutor]:
    """An executor that ends with the block. Raises SourceError if a process dies, killed or out of
    memory; ``process``: its name for the message."""
    try:
        yield pool
    except BrokenProcessPool as error:
        raise SourceError(f"{process} failed: {error}") from error
    except OSError:  # where a second one can't be started, nobody tells the first to end
        for started in [*(pool._processes or {}).values()]:
            started.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def forking() -> Iterator[None]:
    """Delays ctrl+c during forks, where Python would swallow it."""
    if not hasattr(signal, "pthread_sigmask"):  # nor is there a fork
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_cleaning_up = Lock()


@contextmanager
def stoppable() -> Iterator[None]:
    """In a worker: SIGTERM, or the end of the parent, raises Cancelled, so that the process can
    clean up. Otherwise SIGTERM ends the worker at once."""
    with _cleaning_up:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            yield
        except KeyboardInterrupt:
            raise Cancelled("stopped; nothing was changed") from None
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _begin(prepare: Callable[..., object] | None, arguments: tuple[object, ...]) -> None:
    """In a new process: leaves ctrl+c and a closed terminal to the parent."""
    in_worker.set()
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    if prepare is not None:
        prepare(*arguments)


def _end_with_parent() -> None:
    """Ends a worker whose parent was killed, which would wait for ever."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    signal.raise_signal(signal.SIGTERM)
    with _cleaning_up:
        os._exit(1)
