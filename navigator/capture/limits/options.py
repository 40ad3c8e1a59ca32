"""Options for the part of a run that is recorded, and the notes on what a trace lacks.

Imports no torch, so that the command line can check values before the program starts.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

_STEPS = re.compile(r"(\d*)(:?)(\d*)")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", re.IGNORECASE)
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_MODULE = "module:"


class Limits(NamedTuple):
    """What is recorded; by default, everything."""

    first: int = 0
    """The first step that is recorded; the program begins in step 0."""
    last: int | None = None
    """The step at which recording ends; None for the end of the program."""
    step: str = ""
    """Name of the ``record_function`` blocks that are steps; empty if ``Optimizer.step`` or a
    profiler's ``step`` ends them."""
    only: str = ""
    """Pattern of module paths; operators outside of these modules are not recorded."""
    operators: int = 0
    """Maximum number of operators; 0 for no limit."""
    size: int = 0
    """Maximum size of the file in bytes; 0 for no limit."""

    @property
    def steps(self) -> bool:
        """Whether steps have to be counted."""
        return self.first > 0 or self.last is not None

    def matches(self, module: str) -> bool:
        """Whether to record code in the module with this path, ``Net.blocks.0.attn``."""
        return not self.only or _inside(module, self.only)

    def unrecorded(self) -> list[str]:
        """What the trace will lack, as far as known before the program runs."""
        unrecorded = []
        if self.first:
            what = f"steps 0 to {self.first - 1} are" if self.first > 1 else "step 0 is"
            unrecorded.append(f"{what} not recorded: {self.option}")
        if self.last is not None:
            unrecorded.append(f"steps from {self.last} on are not recorded: {self.option}")
        if self.only:
            unrecorded.append(
                "only operators in the forward of matching modules are recorded: "
                f"--only {_MODULE}{self.only}"
            )
        return unrecorded

    @property
    def option(self) -> str:
        """The steps in command line syntax."""
        return f"--steps {self.first}:{'' if self.last is None else self.last}"


@lru_cache(maxsize=4096)
def _inside(module: str, pattern: str) -> bool:
    """Whether the module or an enclosing one matches, with or without the root's class name."""
    parts = module.split(".")
    around = (".".join(parts[start:end]) for start in (0, 1) for end in range(1, len(parts) + 1))
    return any(path and fnmatchcase(path, pattern) for path in around)


def steps_of(text: str) -> tuple[int, int | None]:
    """``10:13`` for steps 10, 11 and 12, ``10:`` from 10 on, ``:3`` for the first three, ``7``.

    Raises:
        ValueError: The text has another form, or selects no step.
    """
    found = _STEPS.fullmatch(text)
    if found is None or not text.strip(":"):
        raise ValueError(
            f"not a range of steps: {text}; 10:13 is steps 10, 11 and 12, counted from 0"
        )
    first = int(found[1] or 0)
    last = first + 1 if not found[2] else int(found[3]) if found[3] else None
    if last is not None and last <= first:
        raise ValueError(f"{text} has no steps: 10:13 is steps 10, 11 and 12")
    return first, last


def size_of(text: str) -> int:
    """``100MB``, ``1.5G``, ``64KiB`` or a number of bytes. Units are powers of a thousand, with
    an ``i`` of 1024. Raises ValueError."""
    found = _SIZE.fullmatch(text.strip())
    if found is None or not float(found[1]):
        raise ValueError(f"not a size: {text}; write 100MB, 1.5GB or a number of bytes")
    unit = _UNITS[found[2].upper()]
    if "i" in text.lower():
        unit = 1024 ** list(_UNITS.values()).index(unit)
    return max(int(float(found[1]) * unit), 1)


def pattern_of(text: str) -> str:
    """The pattern of ``module:PATTERN``. Raises ValueError."""
    kind, pattern = text[: len(_MODULE)], text[len(_MODULE) :]
    if kind != _MODULE or not pattern:
        raise ValueError(f"not a pattern: {text}; write module:PATTERN, as in module:blocks.0.*")
    return pattern


def count_of(text: str) -> int:
    """A number above 0, with or without ``_`` between digits. Raises ValueError."""
    digits = text.replace("_", "").replace(",", "")
    if not (digits.isascii() and digits.isdecimal() and int(digits)):
        raise ValueError(f"not a number of operators: {text}")
    return int(digits)
