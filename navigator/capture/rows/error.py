"""Records the error that ends a program."""

from __future__ import annotations

import os
import traceback
from itertools import islice
from typing import Any

from ..frames import USER_FRAMES, Stacks
from ..writer import metadata

_MOST_TEXT = 20_000
"""Maximum length of a message: the dispatcher's has a line for each key."""


def _message(error: BaseException) -> str:
    """Empty if the program's own class fails to format it."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - whatever the program's code raises
        return ""


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
        "raised_in": places[0][0] if places else "",
        "frames": frames,
    }
    return metadata("error", fields, os.getpid())
