"""``torchnav index --list`` and ``--prune``: the indexes that are kept in the cache."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from indexes.build.shelf import Shelved, prune, shelved
from indexes.model.vocabulary import SCHEMA_VERSION
from indexes.serialize.answers import Object, to_object
from indexes.source.source import cache_folder
from navigator.cli.session import Settings
from navigator.text.clean import clean


def show(settings: Settings, pruned: bool) -> None:
    """Writes what is in the cache, and with ``pruned`` removes what is of no use first."""
    cache = settings.cache or cache_folder()
    gone = prune(cache) if pruned else ()
    kept = shelved(cache)
    settings.answer(lambda: _json(cache, kept, gone), lambda: _text(cache, kept, gone))


def _json(cache: Path, kept: Sequence[Shelved], gone: Sequence[Shelved]) -> Object:
    return {
        "schema_version": SCHEMA_VERSION,
        "cache": str(cache),
        "indexes": [_one(one) for one in kept],
        "removed": [_one(one) for one in gone],
    }


def _one(one: Shelved) -> Object:
    keys = "path root? commit=revision? state files bytes=size used"
    return to_object(one, keys, path=str(one.path), used=round(one.used))


def _text(cache: Path, kept: Sequence[Shelved], gone: Sequence[Shelved]) -> Iterator[str]:
    for one in gone:
        yield f"removed: {_line(one)}"
    for one in kept:
        yield _line(one)
    total = sum(one.size for one in kept)
    yield f"{len(kept):,} indexes, {total / 1e6:,.1f} MB in {clean(str(cache))}"


def _line(one: Shelved) -> str:
    day = time.strftime("%Y-%m-%d", time.localtime(one.used))
    name = one.revision[:12] if one.revision else one.path.name
    where = f" {one.root}" if one.root else ""
    return clean(f"{day} {one.size / 1e6:6.1f} MB  {one.state:12} {name}{where}")
