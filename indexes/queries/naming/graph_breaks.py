"""The numbers of Dynamo's graph breaks: their entries, and the lines that break graphs for them."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from indexes.model.answers import Hit, NameMatch
from indexes.model.regex import IGNORECASE, regex
from indexes.model.vocabulary import Location
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.messages import Message, Messages
from indexes.queries.naming.errors import match_said
from indexes.queries.naming.query import NameQuery

_GRAPH_BREAK = regex(r"(?:[^\n]*\s)?(?:https?://\S+/)?(gb\d{4,})(?:\.html)?", IGNORECASE)
_GRAPH_BREAKS = "torch/_dynamo/graph_break_registry.json"


class _Break(msgspec.Struct, rename={"kind": "Gb_type"}):
    """A reason in Dynamo's registry of graph breaks."""

    kind: str


_BREAKS = dict[str, list[_Break]]


def find(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """``GB0023``, or its page's address: the entry in Dynamo's registry, and the lines that break
    graphs for this reason."""
    numbered = _GRAPH_BREAK.fullmatch(query.raw.strip())
    if numbered is None:
        return None
    number, text = numbered[1].upper(), index.source.text(_GRAPH_BREAKS)
    try:
        kinds = [one.kind for one in msgspec.json.decode(text, type=_BREAKS).get(number, ())]
        where = Location(_GRAPH_BREAKS, text[: text.index(f'"{number}"')].count("\n") + 1)
    except (msgspec.MsgspecError, ValueError):
        return None
    if not kinds:
        return None
    explanations = (
        _breaking(kind, index) for kind in kinds
    )  # the last name that it was given first
    match = match_said(next(filter(None, explanations), ()), index)
    match = match or NameMatch("error", kinds[0], note="no line breaks a graph for this reason now")
    return replace(match, hits=(Hit("text", number, where, kinds[0]), *match.hits))


def _breaking(kind: str, index: IndexedTree) -> tuple[Message, ...]:
    """The lines with exactly this reason, else those with values or more text."""
    found = Messages(index.facts.store).said(kind)
    return tuple(one for one in found if one.text == kind) or found
