"""Asks the installed torch, in a process of its own, what its compilers make of operators."""

from __future__ import annotations

from pathlib import Path

from indexes.queries.audit.compilers import LiveCompilers
from indexes.source.torch_install import target_python
from navigator.live.asking import ask

_DUMP = Path(__file__).with_name("compilers_dump.py")


def live_compilers() -> LiveCompilers:
    """Runs Python with torch once. Raises SourceError, in one line, when that fails."""
    data = ask(target_python().path, str(_DUMP))
    opinfos = data["opinfos"]
    return LiveCompilers(
        data["lowerings"],
        frozenset(data["core"]),
        frozenset(data["inductor"]),
        None if opinfos is None else frozenset(map(tuple, opinfos)),
    )
