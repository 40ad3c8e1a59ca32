"""Messages of errors, as a person pastes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexes.model.places import NameMatch
from indexes.queries.naming.spelling import NameQuery

if TYPE_CHECKING:
    from indexes.queries.index import Index


def find(query: NameQuery, index: Index) -> NameMatch | None:
    """The lines that can raise ``query.raw``, with the operators that reach them."""
    return None
