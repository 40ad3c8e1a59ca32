"""A bound on memory for libraries that take as much as their input says."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from indexes.source.files import read_text


@contextlib.contextmanager
def memory_bound(size: int) -> Iterator[None]:
    """While it holds, this process may take so many bytes more than it has; then MemoryError.

    Where the system has no such bound, or does not say how much there is, there is none.
    """
    try:
        import resource

        pages = int(read_text("/proc/self/statm").split()[0])
        before = resource.getrlimit(resource.RLIMIT_AS)
        wanted = pages * resource.getpagesize() + size
        soft = wanted if before[0] == resource.RLIM_INFINITY else min(wanted, before[0])
        resource.setrlimit(resource.RLIMIT_AS, (soft, before[1]))
    except (ImportError, OSError, ValueError, IndexError):
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
