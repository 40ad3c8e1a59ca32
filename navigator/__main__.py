"""``python -m navigator`` is ``torchnav``."""

from __future__ import annotations

from navigator.cli.main import run

if __name__ == "__main__":  # a worker of ours loads this module again
    run()
