"""CPU time, for tests of what must not grow with the square of its input."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def least_seconds(run: Callable[[], object], times: int = 5) -> float:
    """The least CPU time of some runs, since a busy machine adds to single ones."""
    return min(_seconds(run) for _ in range(times))


def takes_less(run: Callable[[], object], seconds: float, times: int = 5) -> bool:
    """Whether the least CPU time of some runs is below ``seconds``: the first that is decides."""
    return any(_seconds(run) < seconds for _ in range(times))


def _seconds(run: Callable[[], object]) -> float:
    """Without the garbage collector, which would look at all that other tests have left."""
    gc.disable()
    try:
        begun = time.process_time()
        run()
        return time.process_time() - begun
    finally:
        gc.enable()
