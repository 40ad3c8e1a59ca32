"""The index of the torch that recorded a trace, when that torch is installed here."""

from __future__ import annotations

from pathlib import Path

from indexes.queries.index import Index
from indexes.source.source import Source, installed_torch
from navigator.trace.trace import Trace


def schema_index(trace: Trace, index: Index, cache: Path | None) -> Index | None:
    """None when the tree of ``index`` is of that version itself, or that torch is not here."""
    commit = trace.meta.torch_git
    if not commit or commit == index.info.commit:
        return None
    installed = installed_torch()
    if installed is None or installed.commit != commit:
        return None
    return Index.open(Source.find(str(installed.root), cache), cache)
