"""Records the error that ends a program."""

from __future__ import annotations

import linecache
import os
import re
import traceback
from itertools import islice
from types import TracebackType
from typing import Any

from ..frames import USER_FRAMES, Stacks
from ..writer import metadata

_MOST_TEXT = 20_000
"""Maximum length of a message: the dispatcher's has a line for each key."""
_AGAIN = re.compile(r"\s*raise [a-z_]\w*\.with_traceback\(")
"""Raises an error that was made elsewhere, without its traceback: ``torch.compile`` does."""


def _message(error: BaseException) -> str:
    """Empty if the program's own class fails to format it."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - whatever the program's code raises
        return ""


def raised_in(traceback_: TracebackType | None) -> str:
    """The Python file that raised an error, or that called the C++ code that did; empty if the
    traceback does not go back that far."""
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(traceback_)]
    if not frames or _AGAIN.match(linecache.getline(*frames[-1])):
        return ""
    return frames[-1][0]


def error_line(error: BaseException, torch: Any) -> bytes:
    """The exception, and the program's own lines in the traceback, innermost first.

    Parameters:
        torch: The torch package, whose frames are skipped.
    """
    stacks = Stacks(next(iter(torch.__path__)))
    raised = [*traceback.walk_tb(error.__traceback__)][::-1]
    places = [(frame.f_code.co_filename, line, frame.f_code.co_name) for frame, line in raised]
    frames = [*islice((place for place in places if stacks.is_user(place[0])), USER_FRAMES)]
    fields = {
        "type": type(error).__name__,
        "message": _message(error)[:_MOST_TEXT],
        "raised_in": raised_in(error.__traceback__),
        "frames": frames,
    }
    return metadata("error", fields, os.getpid())
