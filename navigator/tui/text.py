"""Fits text into terminal cells.

Text from source files and traces is not trusted: control characters are removed.
"""

from __future__ import annotations

from rich.cells import cell_len

from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from navigator.text.clean import pictured

ELLIPSIS = "…"
clean = pictured
_NAMESPACES = regex(r"^(?:(?:\w+|\(anonymous\))::)+(?=[\w~])")


def one_line(text: str) -> str:
    """``text`` on one line, with runs of white space as one blank."""
    return clean(" ".join(text.split()))


def short_symbol(symbol: str) -> str:
    """A C++ symbol on one line, without its namespaces."""
    return one_line(_NAMESPACES.sub("", symbol))


def source_lines(text: str) -> list[str]:
    """The lines of a file; only newlines end lines."""
    text = text.replace("\r\n", "\n").expandtabs(4)
    if text.endswith("\n"):
        text = text[:-1]
    return [clean(line) for line in text.split("\n")]


def shorten(text: str, width: int) -> str:
    """At most ``width`` cells, cut at the end."""
    if cell_len(text) <= width:
        return text
    return _first_cells(text, width - 1) + ELLIPSIS if width > 0 else ""


def _first_cells(text: str, width: int) -> str:
    """The longest prefix that fits: wide characters take two cells, marks none."""
    if text.isascii():
        return text[:width]
    taken = 0
    for at, character in enumerate(text):
        taken += cell_len(character)
        if taken > width:
            return text[:at]
    return text


def shorten_start(text: str, width: int) -> str:
    """At most ``width`` cells, cut at the start."""
    if cell_len(text) <= width:
        return text
    if width <= 0:
        return ""
    start = len(text)
    while start and cell_len(text[start - 1 :]) < width:
        start -= 1
    return ELLIPSIS + text[start:]


def shorten_path(path: str, width: int) -> str:
    """``path`` in at most ``width`` cells: middle folders are dropped first.

    ``aten/src/ATen/native/cuda/SoftMax.cu:1274`` becomes ``aten/…/cuda/SoftMax.cu:1274``,
    ``…/SoftMax.cu:1274``, ``SoftMax.cu:1274`` and only then loses letters.
    """
    if cell_len(path) <= width:
        return path
    *folders, name = path.split("/")
    for count in range(len(folders) - 1, -1, -1):
        short = _with_folders(folders, count, name)
        if cell_len(short) <= width:
            return short
    return name if cell_len(name) <= width else shorten_start(name, width)


def _with_folders(folders: list[str], count: int, name: str) -> str:
    """The first folder and the last ones, ``count`` in total, around an ellipsis."""
    if count == 0:
        return f"{ELLIPSIS}/{name}"
    tail = folders[len(folders) - count + 1 :]
    return "/".join([folders[0], ELLIPSIS, *tail, name])


def place(location: Location | None, width: int = 10_000) -> str:
    """``path:line`` of a location in at most ``width`` characters."""
    return shorten_path(clean(str(location)), width) if location else ""
