"""Compares the version of a source with that of the torch that recorded a trace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from indexes.model.vocabulary import SourceInfo
from indexes.queries.index import Index
from indexes.source.clones import clone_of
from indexes.source.source import Source, cache_folder
from indexes.source.torch_install import installed_torch, torch_in
from navigator.trace.model import TraceMeta
from navigator.trace.trace import Trace


def schema_index(
    trace: Trace,
    index: Index,
    cache: Path | None,
    opened: Callable[[Source, Path | None], Index] = Index.open,
) -> Index | None:
    """The index of the torch that recorded the trace, if its source is available.

    Returns:
        None if ``index`` is of that version, or that source is not available.

    Raises:
        SourceError: It cannot be indexed.
    """
    commit = trace.meta.torch_git
    if not commit or commit == index.info.commit:
        return None
    source = recorded_source(trace.meta, cache)
    return opened(source, cache) if source else None


def recorded_source(meta: TraceMeta, cache: Path | None = None) -> Source | None:
    """The source of the torch that recorded the trace: a clone of its commit, its package, or the
    installed torch; None if unavailable."""
    if not meta.torch_git:
        return None
    if clone := clone_of(meta.torch_git, cache or cache_folder()):
        return Source.find(str(clone.root), cache)
    package = torch_in(Path(meta.torch_root)) if meta.torch_root else None
    for torch in (package, installed_torch()):
        if torch and torch.commit == meta.torch_git:
            return Source.find(str(torch.root), cache)
    return None


def source_line(meta: TraceMeta, info: SourceInfo) -> str:
    """Whether the source matches the torch that ran, for a summary."""
    tree = f"PyTorch {info.version} in {info.root}"
    if not meta.torch:
        return f"{tree}; the trace does not say which torch ran"
    if meta.torch_git and meta.torch_git == info.commit:
        return f"{tree}: that of the torch that ran" + ", edited since" * info.dirty
    commit = f", torchnav clone {meta.torch_git}" if meta.torch_git else ""
    return f"{tree}: not that of torch {meta.torch}, which ran{commit}"


def version_note(trace: Trace, index: Index, schemas: Index) -> str:
    """A warning if the source does not match the torch that ran."""
    meta = trace.meta
    if not meta.torch or meta.torch_git == index.info.commit:
        return ""
    if schemas is not index:
        return (
            f"schema and formula from the torch that ran, {schemas.info.version}; kernel from "
            f"the tree {index.info.version}"
        )
    if _public(meta.torch) == _public(index.info.version):
        return ""
    return f"recorded with torch {meta.torch}; the source is that of {index.info.version}"


def _public(version: str) -> str:
    return version.partition("+")[0]
