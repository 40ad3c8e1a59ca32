"""Runs a command of a plan in the user's terminal, after showing it."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from textual.app import SuspendNotSupported
from textual.widget import Widget

from navigator.text.clean import printable
from navigator.tui.background import complain


def run_shown(owner: Widget, command: str, folder: Path) -> int | None:
    """Suspend the screen, show a command, run it on Enter, then return.

    Returns the exit status; None if the user declined or the terminal can't be suspended.
    """
    try:
        with owner.app.suspend():
            return _run_after_enter(command, folder)
    except SuspendNotSupported:
        complain(owner, "this terminal cannot be handed to a command")
    except OSError as error:
        complain(owner, str(error))
    return None


def _run_after_enter(command: str, folder: Path) -> int | None:
    print(f"in {printable(str(folder))}\n$ {printable(command)}")
    # The event loop's handler would end the application instead.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    status = None
    try:
        input("enter runs it, ctrl+c goes back ")
        status = subprocess.run(command, shell=True, cwd=folder, check=False).returncode
        input(f"it ended with status {status}: enter goes back ")
    except (KeyboardInterrupt, EOFError):
        pass
    finally:
        signal.signal(signal.SIGINT, before)
    return status
