"""Caches the summaries of ranks, so that each trace is read once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import msgspec

from indexes.source.aside import written_aside
from indexes.source.files import read_file
from navigator.trace.model import Arrival, BadRank, NameTotal, Rank
from navigator.trace.ranks.files import fsspec, is_url

Results = Iterator[Rank | BadRank]


def complete(
    folder: Path, files: Sequence[str], read: Callable[[Sequence[str]], Results]
) -> Results:
    """The rank of each file, from the cache in a folder or else ``read``. Raises OSError if the
    cache cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {file: folder / f"{_key(file)}.msgpack" for file in files}
    stored = {file: _stored_rank(file, path) for file, path in paths.items()}
    rest = read([file for file in files if stored[file] is None])
    for file in files:
        found = stored[file] or next(rest)
        if isinstance(found, Rank) and stored[file] is None:
            with written_aside(paths[file]) as part:
                part.write_bytes(msgspec.msgpack.encode(found))
                part.replace(paths[file])
        yield found


def _stored_rank(file: str, path: Path) -> Rank | None:
    try:
        rank = msgspec.msgpack.decode(read_file(path))
        rank["problems"] = tuple(rank["problems"])
        rank["totals"] = tuple(NameTotal(**one) for one in rank["totals"])
        rank["arrivals"] = tuple(Arrival(**one) for one in rank["arrivals"])
        return Rank(**rank | {"path": file})
    except (OSError, KeyError, TypeError, ValueError, RecursionError):
        return None  # missing, truncated, or of another version


def _key(file: str) -> str:
    """Identifies a trace's version and the code that reads it."""
    if is_url(file):
        system, path = fsspec().url_to_fs(file)
        state = str(system.checksum(path))
    else:
        found = os.stat(file)
        file, state = os.path.abspath(file), f"{found.st_size} {found.st_mtime_ns}"
    return hashlib.sha256("\0".join((file, state, _code())).encode()).hexdigest()[:24]


@cache
def _code() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(read_file(path))
    return digest.hexdigest()
