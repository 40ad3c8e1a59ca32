"""CPU time, for tests of what must not grow with the square of its input."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def least_seconds(run: Callable[[], object], times: int = 5) -> float:
    """The least CPU time of some runs, since a busy machine adds to single ones; without the
    garbage collector, which would look at all that other tests have left."""
    gc.disable()
    try:
        return min(_seconds(run) for _ in range(times))
    finally:
        gc.enable()


def _seconds(run: Callable[[], object]) -> float:
    begun = time.process_time()
    run()
    return time.process_time() - begun
