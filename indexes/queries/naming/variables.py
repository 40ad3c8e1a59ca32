"""Variables of public interest: flags, environment variables, entries of configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexes.model.places import NameMatch
from indexes.queries.naming.spelling import NameQuery

if TYPE_CHECKING:
    from indexes.queries.index import Index


def find(query: NameQuery, index: Index) -> NameMatch | None:
    """Where a variable is defined, then where it is read."""
    return None
