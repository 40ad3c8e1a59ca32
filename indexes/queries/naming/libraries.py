"""Operators of namespaces other than aten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexes.model.answers import NameMatch
from indexes.queries.naming.query import NameQuery
from indexes.queries.overloads import in_order

if TYPE_CHECKING:
    from indexes.queries.index import Index


def find(query: NameQuery, index: Index) -> NameMatch | None:
    """The operator ``namespace::name.overload``, or those of a bare name in any namespace."""
    if not query.namespace:
        return _bare(query, index)
    name = f"{query.namespace}::{query.base}"
    found = index.facts.overloads(name)
    if query.overload is not None:
        found = [one for one in found if one.overload == query.overload]
    return NameMatch("operator", name, in_order(found)) if found else None


def _bare(query: NameQuery, index: Index) -> NameMatch | None:
    """Where one namespace alone has the name, what it means there."""
    found = index.facts.named_in_libraries(query.base)
    spaces = dict.fromkeys(one.space for one in found)
    if not found:
        return None
    listed = ", ".join(f"{space}{query.base}" for space in spaces)
    note = f"no operator {query.base} of aten; {listed}"
    return NameMatch("operator", query.base, in_order(found), note=note, confidence="by rule")
