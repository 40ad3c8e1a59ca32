"""Text made fit for a terminal: no control characters, never wider than its place.

Everything shown comes from source files and traces, which are not ours to trust.
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
    """``text`` on one line: runs of white space become one blank."""
    return clean(" ".join(text.split()))


def short_symbol(symbol: str) -> str:
    """A C++ symbol on one line, without the namespaces it is in."""
    return one_line(_NAMESPACES.sub("", symbol))


def source_lines(text: str) -> list[str]:
    """The lines of a file as they are shown; lines end at a newline and nowhere else."""
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
    """As many characters from the first as take so many cells: wide ones take two, marks on the
    character before them none."""
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
    kept = len(text)
    while kept and cell_len(text[kept - 1 :]) < width:
        kept -= 1
    return ELLIPSIS + text[kept:]


def shorten_path(path: str, width: int) -> str:
    """``path`` in at most ``width`` cells: folders in the middle go first.

    ``aten/src/ATen/native/cuda/SoftMax.cu:1274`` becomes ``aten/…/cuda/SoftMax.cu:1274``,
    ``…/SoftMax.cu:1274``, ``SoftMax.cu:1274`` and only then loses letters.
    """
    if cell_len(path) <= width:
        return path
    *folders, name = path.split("/")
    for kept in range(len(folders) - 1, -1, -1):
        short = _with_folders(folders, kept, name)
        if cell_len(short) <= width:
            return short
    return name if cell_len(name) <= width else shorten_start(name, width)


def _with_folders(folders: list[str], kept: int, name: str) -> str:
    """The first folder and the last ones, ``kept`` in all, around an ellipsis."""
    if kept == 0:
        return f"{ELLIPSIS}/{name}"
    tail = folders[len(folders) - kept + 1 :]
    return "/".join([folders[0], ELLIPSIS, *tail, name])


def place(location: Location | None, width: int = 10_000) -> str:
    """``path:line`` of a location in at most ``width`` characters."""
    return shorten_path(clean(str(location)), width) if location else ""
