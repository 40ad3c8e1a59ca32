"""``python -m navigator`` is ``torchnav``."""

from __future__ import annotations

from navigator.cli.main import run

run()
