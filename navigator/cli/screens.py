"""Whether the terminal can show a screen."""

from __future__ import annotations

import os
import sys

_WITHOUT_SCREEN = ("dumb", "unknown")
"""Values of TERM of terminals that cannot place text."""


def why_no_screen() -> str:
    """Why no screen can be shown here; empty where one can."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return "the screen needs a terminal; in a pipe"
    term = os.environ.get("TERM", "")
    if term in _WITHOUT_SCREEN:
        return f"a terminal with TERM={term} cannot show the screen; there"
    return ""
