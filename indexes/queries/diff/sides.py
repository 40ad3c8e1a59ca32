"""A change from its two sides."""

from __future__ import annotations

from indexes.queries.diff.model import Change, Facet, Side, What


def side_change(
    facet: Facet, ops: tuple[str, ...], subject: str, before: Side | None, after: Side | None
) -> Change:
    """``added`` without a side before, ``removed`` without one after, else ``changed``."""
    what: What = "added" if before is None else "removed" if after is None else "changed"
    return Change(facet, what, ops, subject, before, after)
