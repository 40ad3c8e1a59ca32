"""What somebody may have meant who typed a name that there is not."""

from __future__ import annotations

from collections.abc import Iterable


def near(text: str, names: Iterable[str], limit: int = 5) -> tuple[str, ...]:
    """Up to ``limit`` of ``names`` that ``text`` may be a slip of the keyboard for, best first."""
    from difflib import get_close_matches

    wanted = text.casefold()
    by_folded = {name.casefold(): name for name in reversed(list(names))}
    close = get_close_matches(wanted, by_folded, limit, cutoff=0.65)
    longer = (name for name in by_folded if wanted in name) if len(wanted) > 2 else iter(())
    found = dict.fromkeys((*close, *sorted(longer, key=lambda name: (len(name), name))))
    return tuple(by_folded[name] for name in [*found][:limit])
