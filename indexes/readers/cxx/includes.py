"""The ``#include`` lines of a C++ file, without a preprocessor: those under ``#if`` count too."""

from __future__ import annotations

import re
from typing import NamedTuple

from indexes.model.regex import regex


class Include(NamedTuple):
    """One ``#include``."""

    name: str
    """``ATen/core/Tensor.h``."""
    quoted: bool
    """Written with quotes, so that it is looked for beside the file first."""


_INCLUDE = regex(rb"^[ \t]*#[ \t]*(?:include|import)[ \t]*([<\"])([\w./+-]+)[>\"]", re.MULTILINE)


def read_includes(data: bytes) -> tuple[Include, ...]:
    """What a file includes, in order, each once."""
    found = dict.fromkeys(_INCLUDE.findall(data))
    return tuple(Include(name.decode(), mark == b'"') for mark, name in found)
