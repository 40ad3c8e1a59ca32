"""Formats the numbers of a trace."""

from __future__ import annotations


def duration(microseconds: float) -> str:
    """``12.3us``, ``4.56ms``, ``7.89s``: at most four significant digits."""
    if microseconds < 0:
        return f"-{duration(-microseconds)}"
    for limit, divisor, unit in ((1e3, 1, "us"), (1e6, 1e3, "ms")):
        if microseconds < limit:
            value = microseconds / divisor
            return f"{value:.1f}{unit}" if value < 100 else f"{value:.0f}{unit}"
    return f"{microseconds / 1e6:.2f}s"


def size(count: int) -> str:
    """``512 B``, ``3.4 MB``."""
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def with_prefix(value: float) -> str:
    """``512``, ``3.40 M``, ``989 T``: three significant digits."""
    for prefix in ("", " k", " M", " G", " T"):
        if value < 999.5:
            return f"{value:.3g}{prefix}"
        value /= 1000
    return f"{value:.3g} P"
