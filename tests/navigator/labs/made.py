"""Labs made for tests."""

from __future__ import annotations

from pathlib import Path

from navigator.labs.cells import Lab, read_lab

HEAD = "# %% [markdown]\n# # A title\n# What it\n# is about.\n#\n"


def lab(folder: Path, text: str, head: str = HEAD) -> Lab:
    """A lab of these cells below a title."""
    path = folder / "07_made.py"
    path.write_text(f"{head}\n{text}", encoding="utf-8")
    return read_lab(path)
