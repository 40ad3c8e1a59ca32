"""Regular expressions compiled on first use.

An answer loads modules with about 150 of them and uses a dozen.
"""

from __future__ import annotations

import re
from re import ASCII, IGNORECASE, MULTILINE, VERBOSE
from typing import TYPE_CHECKING, Any

__all__ = ["ASCII", "IGNORECASE", "MULTILINE", "VERBOSE", "regex"]

_METHODS = ("match", "search", "finditer", "findall", "sub", "split", "fullmatch")


class _Regex:
    """A ``re.Pattern`` compiled on first use."""

    def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled: Any = re.compile(self.pattern, self.flags)
        for method in _METHODS:  # found without us from now on
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


if TYPE_CHECKING:
    from re import compile as regex
else:
    regex = _Regex
