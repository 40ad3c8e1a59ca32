"""Public Python names that a text may be a slip of the keyboard for: ``torch.nn.Conv2d`` for
``nn.Conv2D``."""

from __future__ import annotations

from collections import defaultdict
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from indexes.queries.naming.near import near
from indexes.queries.python_names.finding import Finder

if TYPE_CHECKING:
    from indexes.queries.index import Index

_LIKE = 0.85
"""How like the name asked for a whole name must be."""
_PREFIX = "name:"
"""Of the targets by which public names are kept, each by its last part."""


def near_python(path: str, index: Index, limit: int = 3) -> tuple[str, ...]:
    """The public names, at most so many, that are nearly a dotted one, the likest first."""
    sql = "SELECT DISTINCT target FROM python WHERE target>? AND target<?"
    bounds = (_PREFIX, f"{_PREFIX}\x7f")
    spelled: dict[str, list[str]] = defaultdict(list)
    for target in index.facts.store.column(sql, bounds):
        name = target.removeprefix(_PREFIX)
        spelled[name.casefold()].append(name)
    finder = Finder(index)
    found = {
        public: SequenceMatcher(None, path, public).ratio()
        for folded in near(path.rpartition(".")[2], spelled, 5, 0.8)
        for last in spelled[folded]
        for public in finder.public_names(last)
    }
    like = [
        one for one, ratio in found.items() if ratio >= _LIKE and ("._" in path or "._" not in one)
    ]
    return tuple(sorted(like, key=lambda one: (-found[one], one))[:limit])
