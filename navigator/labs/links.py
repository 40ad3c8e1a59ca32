"""The names in a lab's narration, looked up in the reader's tree.

``[[AccumulateGrad]]`` is what that name means there, ``[[addmm: CPU]]`` a line of an operator's
card: ``CPU``, ``CUDA``, ``grad``, ``Python`` and the like.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from indexes.model.answers import Hit, NameMatch
from indexes.model.errors import NotFound
from indexes.model.vocabulary import Location
from indexes.queries.index import Index
from navigator.labs.cells import Lab

LINK = re.compile(r"\[\[([^\[\]]+)\]\]")


@dataclass(frozen=True, slots=True)
class Link:
    """A name in the narration, and where that is."""

    name: str
    """As written."""
    location: Location | None
    others: int = 0
    """How many further places the name can mean just as well."""
    absent: str = ""
    """Why there is no place: what the tree does not have."""


def names_in(lab: Lab) -> tuple[str, ...]:
    """What the narration of a lab links to, each once."""
    texts = (cell.text for cell in lab.cells if cell.is_markdown)
    return tuple(dict.fromkeys(name for text in texts for name in LINK.findall(text)))


def links(lab: Lab, index: Index) -> Mapping[str, Link]:
    """Each name of a lab, looked up in the tree of an index."""
    return {name: look_up(name, index) for name in names_in(lab)}


def look_up(name: str, index: Index) -> Link:
    """Where a name leads; why nowhere, if so."""
    operator, _, label = name.partition(": ")
    try:
        match = index.meant(operator)
        return _card_line(name, label, match, index) if label else _place(name, match, index)
    except NotFound as error:
        return Link(name, None, absent=str(error))


def _card_line(name: str, label: str, match: NameMatch, index: Index) -> Link:
    """A line of the card of an operator."""
    if not match.overloads:
        raise NotFound(f"{match.text} is not an operator in PyTorch {index.info.version}")
    for line in index.card(match.overloads[0]).lines:
        if line.label == label:
            return Link(name, line.location, absent="" if line.location else line.text)
    raise NotFound(f"no {label} of {match.overloads[0]} is known in PyTorch {index.info.version}")


def _place(name: str, match: NameMatch, index: Index) -> Link:
    if hits := _best(match.hits):
        others = len(hits) - 1 if match.confidence == "ambiguous" else 0
        return Link(name, hits[0].location, others)
    native = index.native(match.overloads[0]) if match.overloads else None
    if native is None:
        raise NotFound(f"{match.text} has no location of its own")
    return Link(name, native.location)


def _best(hits: Iterable[Hit]) -> list[Hit]:
    """Of a class and its constructors the class; of a declaration and a definition the latter."""
    found = list(hits)
    return [hit for hit in found if hit.kind == "class"] or found
