"""Names of kernels that ATen compiles at run time ("jiterator").

``constexpr char sinc_name[] = "sinc";`` stands beside the source of such a kernel, which profilers
show as ``sinc_kernel`` or ``sinc_vectorized4_kernel``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexes.model.regex import MULTILINE, regex
from indexes.model.vocabulary import Definition, Location, Problem

if TYPE_CHECKING:
    from re import Match

_CONSTANT = regex(r'^[^\n"/]*\bchar\s+(\w+)\s*\[\s*\]\s*=\s*"(\w+)"\s*;', MULTILINE)


def read(data: bytes, path: str) -> tuple[tuple[Definition, ...], tuple[Problem, ...]]:
    """A definition of kind ``global`` for each name, with the constant as its ``parameters``."""
    # The first test is implied by the second, and cheaper: few files hold the letters at all.
    if b"jit" not in data or not (b"jiterator" in data or b"jitted_" in data):
        return (), ()
    text = data.decode("utf-8", "replace")
    return tuple(_definition(found, text, path) for found in _CONSTANT.finditer(text)), ()


def _definition(found: Match[str], text: str, path: str) -> Definition:
    line = text.count("\n", 0, found.start(2)) + 1
    constant, name = found.groups()
    return Definition(name, "", "global", Location(path, line, line), constant)
