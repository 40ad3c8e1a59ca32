"""``python -m navigator`` is ``torchnav``."""

from __future__ import annotations

import sys

from navigator.start import main

sys.exit(main())
