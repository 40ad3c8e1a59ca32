"""``python -m navigator`` is ``torchnav``."""

from __future__ import annotations

from navigator.start import run

run()
