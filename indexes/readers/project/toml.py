"""Parses TOML, of a tree and of torchnav's settings."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from indexes.model.errors import TOML_LINE


def parse_toml(text: str) -> dict[str, Any]:
    """A TOML table. Raises ValueError if invalid."""
    module = "tomllib" if sys.version_info >= (3, 11) else "tomli"
    try:
        loads = import_module(module).loads
    except ImportError:
        raise ValueError(f"needs Python 3.11, or the package {module}") from None
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > TOML_LINE:
            raise ValueError(f"line {number} is longer than {TOML_LINE:,} characters")
    try:
        return dict(loads(text))
    except RecursionError:
        raise ValueError("nested too deep") from None
