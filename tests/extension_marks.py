"""The small extension beside the small tree, and the places that are marked in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

EXTENSION = Path(__file__).parent / "extension"


def marked_lines() -> Iterator[str]:
    """The text of every line with a mark."""
    for file in sorted(EXTENSION.rglob("*")):
        lines = file.read_text().splitlines() if file.is_file() else []
        yield from (line.partition("mark:")[0] for line in lines if "mark:" in line)


def marked(text: str) -> str:
    """``@extension/PATH:LINE`` of the line with a mark."""
    for file in sorted(EXTENSION.rglob("*")):
        lines = file.read_text().splitlines() if file.is_file() else []
        for number, line in enumerate(lines, 1):
            if line.endswith(f"mark: {text}"):
                return f"@extension/{file.relative_to(EXTENSION).as_posix()}:{number}"
    raise LookupError(text)
