"""What the recorders have in common."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from navigator.capture.session import Announcer

_THREADS = Path("/proc/self/task")


@pytest.mark.skipif(not _THREADS.exists(), reason="only Linux lists the threads of a process")
def test_a_stopped_announcer_leaves_no_thread_to_warn_of_in_a_fork() -> None:
    announcer, before = Announcer(lambda: None), len(os.listdir(_THREADS))
    left = []
    for _ in range(50):
        announcer.start()
        announcer.stop()
        left.append(len(os.listdir(_THREADS)) - before)
    assert left == [0] * 50
