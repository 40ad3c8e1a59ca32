"""Names of which a text may be a misspelling."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def near(
    text: str, names: Iterable[str], limit: int = 5, likeness: float = 0.65
) -> tuple[str, ...]:
    """Up to ``limit`` of ``names`` similar to ``text``, best first; ``likeness`` is difflib's
    cutoff."""
    wanted = text.casefold()
    by_folded = {name.casefold(): name for name in reversed(list(names))}
    close = get_close_matches(wanted, by_folded, limit, cutoff=likeness)
    longer = (name for name in by_folded if wanted in name) if len(wanted) > 2 else iter(())
    found = dict.fromkeys((*close, *sorted(longer, key=lambda name: (len(name), name))))
    return tuple(by_folded[name] for name in [*found][:limit])
