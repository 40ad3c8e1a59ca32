"""A small file beside a recording that outlives a crash: what was running, and what ran last.

It is mapped into memory, so that what is written there is kept whatever ends the process, and it
is removed when the recording ends well. ``docs/trace-format.md`` describes it.
"""

from __future__ import annotations

import os
from contextlib import suppress

SUFFIX = ".tail"


def open_tail(recording: str, size: int) -> int:
    """A new file of ``size`` bytes beside a recording, all of which are there: a mapped file that
    runs out of disk ends the program. Returns its descriptor, -1 where there can be none."""
    remove_tail(recording)  # never shortened: another process may have it mapped
    descriptor = -1
    try:
        descriptor = os.open(recording + SUFFIX, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        os.posix_fallocate(descriptor, 0, size)
    except (OSError, AttributeError):
        if descriptor >= 0:
            os.close(descriptor)
            remove_tail(recording)
        return -1
    return descriptor


def remove_tail(recording: str) -> None:
    """The recording holds everything, or begins anew."""
    with suppress(OSError):
        os.unlink(recording + SUFFIX)
