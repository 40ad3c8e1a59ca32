"""Python names: where Python defines them, and the operators that they lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexes.linking.python.paths import Found
from indexes.model.places import Hit, NameMatch
from indexes.model.python import PythonAnswer, PythonPlace
from indexes.queries import python_names
from indexes.queries.naming.operators import leads_to, passing_on
from indexes.queries.naming.spelling import NameQuery

if TYPE_CHECKING:
    from indexes.queries.index import Index


def find(query: NameQuery, index: Index) -> NameMatch | None:
    """The definition of a name, with the operators that it passes its call on to."""
    for path in query.paths or (query.base,):
        answer = python_names.find(path, index)
        if answer and answer.places:  # a generated binding alone is its operator
            return _match(answer, index)
    return None


def _match(answer: PythonAnswer, index: Index) -> NameMatch:
    places = (*answer.places, *answer.others)
    overloads = answer.operators or leads_to(answer.name, index.facts)
    note = _note(answer.name, passing_on(answer.name, index.facts))
    hits = tuple(map(_hit, places))
    return NameMatch("python", answer.name, overloads, hits, note, confidence=answer.confidence)


def _hit(place: PythonPlace) -> Hit:
    return Hit(place.kind, place.name, place.location)


def _note(path: str, rows: list[Found]) -> str:
    called = dict.fromkeys(fact.target for _, fact in rows if fact.target not in ("", path))
    return f"{path} calls {', '.join(called)}" if called else ""
