"""Whether a copy can be expected to arrive.

A terminal takes text for the clipboard by an escape sequence (OSC 52) and never says
whether it did. Some are known not to.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping


def is_deaf(environ: Mapping[str, str] = os.environ) -> bool:
    """True for terminals that are known to ignore OSC 52."""
    if "TMUX" in environ:
        return False
    if environ.get("TERM_PROGRAM") == "Apple_Terminal" or environ.get("TERM") == "linux":
        return True
    return "VTE_VERSION" in environ


def tell_tmux(text: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Hand ``text`` to tmux, which by default ignores OSC 52 from what runs inside it.

    True when tmux took it, for its own paste buffer and for the outer terminal.
    """
    if "TMUX" not in environ:
        return False
    command = ["tmux", "load-buffer", "-w", "-"]
    try:
        done = subprocess.run(
            command, check=False, input=text.encode(), capture_output=True, timeout=2
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
