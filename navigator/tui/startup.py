"""Import this before textual: what has to be set while it loads.

Textual reads its frame rate from the environment when it is imported, and at its
default a key waits up to 16 ms for the next frame; likewise how long it waits after an
escape for the rest of a sequence, 100 ms. The collector finds nothing among
modules that stay for good, yet runs dozens of times while they load. Threads take turns
every 5 ms, and that long what was painted would wait to be written, once a buffer.
"""

from __future__ import annotations

import gc
import os
import sys

os.environ.setdefault("TEXTUAL_FPS", "240")
os.environ.setdefault("ESCDELAY", "40")
sys.setswitchinterval(0.0005)
gc.set_threshold(10_000, 10, 10)  # a screenful is thousands of objects, none of them garbage


def pause_collector() -> None:
    """Stop collecting garbage until :func:`resume_collector`."""
    gc.disable()


def resume_collector() -> None:
    """Collect again, leaving out what start-up has made: it stays for good."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def leave_out() -> None:
    """Have the collector leave out all there is now: to look through it takes a key's time."""
    if gc.isenabled():
        gc.freeze()


pause_collector()
