"""Building an index in a test, and what it says as data that can be compared."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexes.query import Index
from indexes.source import Source

Answers = dict[tuple[str, str], tuple[str, ...]]


@contextlib.contextmanager
def opened(tree: Path, cache: Path, **options: Any) -> Iterator[Index]:
    """The index of ``tree``, brought up to date."""
    with contextlib.closing(Index.open(Source.find(str(tree)), cache, **options)) as index:
        yield index


def answers(index: Index) -> Answers:
    """What an index says of every kernel."""
    return {
        (row.op, row.key): (row.symbol, row.kind, *(str(d.location) for d in row.definitions))
        for row in index.kernel_rows()
    }
