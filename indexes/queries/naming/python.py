"""Python names: where Python defines them, and the operators that they lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexes.linking.python.paths import Found, place_of
from indexes.model.places import Hit, NameMatch
from indexes.queries.naming.operators import KINDS, leads_to, passing_on
from indexes.queries.naming.spelling import NameQuery

if TYPE_CHECKING:
    from indexes.queries.index import Index


def find(query: NameQuery, index: Index) -> NameMatch | None:
    """The definition of a dotted name, with the operators that it passes its call on to."""
    for path in query.paths:
        if rows := passing_on(path, index.facts):
            hits = tuple(dict.fromkeys(_hit(path, row) for row in rows))[:1]
            overloads, note = leads_to(path, index.facts), _note(path, rows)
            return NameMatch("python", path, overloads, hits, note)
    return None


def _hit(path: str, found: Found) -> Hit:
    return Hit(KINDS[found[1].kind], path, place_of(found))


def _note(path: str, rows: list[Found]) -> str:
    called = dict.fromkeys(fact.target for _, fact in rows if fact.target not in ("", path))
    return f"{path} calls {', '.join(called)}" if called else ""
