"""The clones made by ``torchnav clone``, by the record in each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from indexes.source.files import CLONE_RECORD, layout_of, listed, read_file


@dataclass(frozen=True, slots=True)
class CloneRecord:
    """The record of a finished clone."""

    root: Path
    commit: str
    ref: str
    """As requested: a tag, a branch, a commit."""
    finished: float
    """Seconds since the epoch."""


def clones(cache: Path) -> tuple[CloneRecord, ...]:
    """The finished clones in the cache, in no order."""
    paths = listed(cache, f"clones/*/.git/{CLONE_RECORD}")
    records = (read_clone_record(path.parent.parent) for path in paths)
    return tuple(record for record in records if record)


def clone_of(commit: str, cache: Path) -> CloneRecord | None:
    """A clone at this commit of PyTorch; None if there is none."""
    return next((one for one in clones(cache) if one.commit == commit), None)


def read_clone_record(root: Path) -> CloneRecord | None:
    """The record in ``root``; None for an unfinished clone."""
    try:
        data = json.loads(read_file(root / ".git" / CLONE_RECORD))
        record = CloneRecord(root, str(data["commit"]), str(data["ref"]), float(data["finished"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return record if layout_of(str(record.root)) == "checkout" else None
