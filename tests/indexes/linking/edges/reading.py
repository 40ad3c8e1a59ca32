"""What tests of edges ask of the index."""

from __future__ import annotations

from pathlib import Path

from indexes.linking.facts import Edge
from indexes.queries.index import Index

EDGES = Path(__file__).parents[3] / "data" / "edges"
"""Files that the small tree has more for these tests."""


def edges(index: Index, name: str) -> list[Edge]:
    (known,) = index.facts.named(name)
    return list(index.facts.edges(known.id))


def said(index: Index, name: str) -> list[tuple[str, str, str]]:
    """Kind, name and target (its line, for a definition) of each edge of a function."""
    found: list[tuple[str, str, str]] = []
    for edge in edges(index, name):
        known = index.facts.by_id(edge.target) if isinstance(edge.target, int) else None
        place = known and f"{known.definition.name}:{known.definition.location.line}"
        found.append((edge.kind, edge.symbol, place or str(edge.target)))
    return found
