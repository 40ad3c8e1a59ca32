"""Operators of namespaces other than aten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexes.model.places import NameMatch
from indexes.queries.naming.spelling import NameQuery

if TYPE_CHECKING:
    from indexes.queries.index import Index


def find(query: NameQuery, index: Index) -> NameMatch | None:
    """The operator ``namespace::name.overload``, or those of a bare name in any namespace."""
    return None
