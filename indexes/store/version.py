"""What an index is valid for, besides the tree: the code that made it. Nobody keeps a number."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from indexes.source.files import read_file

_PACKAGE = Path(__file__).parents[1]

LAYOUT_ROOMS = ("model", "store")
"""The code that decides what the tables hold."""
SCAN_ROOMS = ("model", "readers")
"""The code that decides which facts the bytes of one file give."""
STAGE_ROOMS = ("model", "readers", "codegen", "linking", "build")
"""The code that decides what follows from the facts of all files."""


@cache
def code_digest(*rooms: str) -> str:
    """The digest of the source of rooms of ``indexes``, in hexadecimal."""
    digest = hashlib.blake2b(digest_size=8)
    for room in rooms:
        for path in sorted((_PACKAGE / room).rglob("*.py")):
            digest.update(f"{path.relative_to(_PACKAGE)}\0".encode() + read_file(path))
    return digest.hexdigest()


def index_version() -> str:
    """The digest of all the code that makes an index."""
    return code_digest(*sorted({*LAYOUT_ROOMS, *SCAN_ROOMS, *STAGE_ROOMS, "source"}))
