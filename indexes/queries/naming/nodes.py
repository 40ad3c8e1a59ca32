"""Node classes of autograd, as a ``grad_fn`` shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexes.model.answers import Hit, NameMatch
from indexes.queries.naming.query import NameQuery

if TYPE_CHECKING:
    from indexes.queries.index import Index


def find(query: NameQuery, index: Index) -> NameMatch | None:
    """The operators that record a Node class, and its entries in derivatives.yaml."""
    facts = index.facts
    for name in query.grad_fns:
        if operators := facts.node_operators(name):
            entries = facts.node_entries(name)
            hits = tuple(Hit("grad_fn", name, entry.location, entry.op) for entry in entries)
            own = {entry.op for entry in entries}
            ops = sorted(operators, key=lambda op: op not in own)
            return NameMatch("grad_fn", name, tuple(ops), hits)
    return None
