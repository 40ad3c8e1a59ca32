"""``python -m navigator`` is ``torchnav``."""

from __future__ import annotations

import signal  # nothing else: until run is called, ctrl+c would print a traceback


def run() -> None:
    """Run the command line; ctrl+c ends the process without a traceback from the start."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from navigator.cli.main import run as run_command

    run_command()


if __name__ == "__main__":  # worker processes import this module again
    run()
