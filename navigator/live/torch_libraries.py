"""Asks the installed torch, in a process of its own, for the operators outside aten."""

from __future__ import annotations

from pathlib import Path

from indexes.queries.audit.libraries import LiveOperator
from indexes.source.torch_install import target_python
from navigator.live.asking import ask

_DUMP = Path(__file__).with_name("libraries_dump.py")


def live_libraries() -> dict[str, LiveOperator]:
    """Runs Python with torch once. Raises SourceError, in one line, when that fails."""
    data = ask(target_python().path, str(_DUMP))
    return {
        name: LiveOperator(one["schema"], one["place"], one["kernels"])
        for name, one in data["operators"].items()
    }
