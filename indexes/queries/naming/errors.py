"""Messages of errors, as a person pastes them: the lines that say them, the functions around, the
dtypes that a macro does cover, the operators that get there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from indexes.model.errors import NotFound
from indexes.model.places import Hit, NameMatch, Place
from indexes.model.vocabulary import Confidence, Location
from indexes.queries.messages import Message, Messages
from indexes.queries.naming.places import files_named
from indexes.queries.naming.spelling import NameQuery
from indexes.queries.pasted import asserted, dispatch_name
from indexes.readers.messages import DISPATCH

if TYPE_CHECKING:
    from indexes.queries.index import Index

_LOOKED_AT = 5
"""Lines of which is told what is around them and what reaches them."""
_OPERATORS = 8
_FOR_ALL = "torchCheckMsgImpl"
"""What makes the text of each TORCH_CHECK that is given none."""


def find(query: NameQuery, index: Index) -> NameMatch | None:
    """The lines that can say ``query.raw``, then the operators that reach the first of them."""
    if (where := asserted(query.raw)) and (match := _assertion(*where, index)):
        return match
    found = Messages(index.facts.store).said(query.raw)
    if not found:
        return None
    if found[0].kind.endswith(_FOR_ALL) and (match := _checks(found[0].values, index)):
        return match
    if found[0].kind != DISPATCH and (name := dispatch_name(query.raw)):
        return _of_macro(name, found, index)
    return _match(found, index, query.raw)


def _match(found: tuple[Message, ...], index: Index, text: str = "") -> NameMatch | None:
    """The lines, what is around the first of them, and the operators that get there or that the
    text names."""
    if not found:
        return None
    around = [_around(index, one.location) for one in found[:_LOOKED_AT]]
    reached = next((places for places in around if _operators(places)), ())
    hits = [_hit(index, one, places) for one, places in zip(found, around, strict=False)]
    hits += [_hit(index, one, ()) for one in found[_LOOKED_AT:]]
    hits += _named(index, found[0], text)
    hits += _operator_hits(index, _operators(reached))
    several = sum(not one.is_rest for one in found)
    match = NameMatch("error", found[0].text, hits=tuple(hits), note=_note(several))
    return match if several == 1 else replace(match, confidence="ambiguous")


def find_dispatch(query: NameQuery, index: Index) -> NameMatch | None:
    """The macros that dispatch dtypes under exactly this name, ``geqrf_cpu``."""
    return _match(Messages(index.facts.store).dispatched(query.raw.strip("\"' ")), index)


def _assertion(condition: str, path: str, line: int, index: Index) -> NameMatch | None:
    """The line of a failed assertion; by its condition, since files change between versions."""
    paths = files_named(re.sub(r"^(?:\.\.?/)+", "", path), index)
    if len(paths) != 1:
        return None
    lines = _lines_asserting(condition, index.source.read(paths[0]).decode("utf-8", "replace"))
    note = "" if lines else "no assertion of this file has that condition; the line is as pasted"
    where = Location(paths[0], min(lines or [line], key=lambda one: abs(one - line)))
    places = _around(index, where)
    name = places[0].name if places else where.path
    hit = Hit("error", name, where, f"asserts {condition}".strip(), _first(places))
    hits = (hit, *_operator_hits(index, _operators(places)))
    sure: Confidence = "exact" if lines else "ambiguous"
    return NameMatch("error", condition, hits=hits, note=note, confidence=sure)


def _checks(values: tuple[str, ...], index: Index) -> NameMatch | None:
    """The checks without a text of their own, of which c10 tells the condition alone."""
    condition = max(values, key=len, default="")
    words = re.findall(r"\w+", condition)
    if not words:
        return None
    longest, hits = max(words, key=len).encode(), []
    for path in index.facts.paths("cpp"):
        data = index.source.read(path)
        if longest in data:
            lines = _lines_asserting(condition, data.decode("utf-8", "replace"))
            hits += [_check_hit(condition, Location(path, line), index) for line in lines]
    if not hits:
        return None
    sure: Confidence = "exact" if len(hits) == 1 else "ambiguous"
    return NameMatch("error", condition, hits=tuple(hits), note=_note(len(hits)), confidence=sure)


def _check_hit(condition: str, where: Location, index: Index) -> Hit:
    places = _around(index, where)
    name = places[0].name if places else where.path
    return Hit("error", name, where, f"checks {condition}", _first(places))


def _lines_asserting(condition: str, text: str) -> list[int]:
    """The lines on which a macro checks a condition, however that is broken into lines."""
    words = r"\s*".join(re.escape(word) for word in condition.split())
    found = re.finditer(rf"(?:ASSERT|CHECK)\w*\(\s*{words}\s*[,)]", text) if words else ()
    return [text.count("\n", 0, match.start()) + 1 for match in found]


def _of_macro(name: str, found: tuple[Message, ...], index: Index) -> NameMatch:
    """The macro that says it, where none of its uses gives the name as a literal."""
    note = f'no macro that dispatches dtypes is given "{name}" as a literal; this is what says it'
    hits = tuple(_hit(index, one, ()) for one in found)
    return NameMatch("error", found[0].text, hits=hits, note=note, confidence="by rule")


def _note(several: int) -> str:
    if several == 1:
        return ""
    return f"{several} lines can say this; the values or the traceback tell which did"


def _around(index: Index, where: Location) -> tuple[Place, ...]:
    """What stands around a line, innermost first."""
    try:
        return index.at(where.path, where.line)
    except NotFound:
        return ()


def _operators(places: Iterable[Place]) -> tuple[str, ...]:
    """The operators that reach the innermost function."""
    return next((place.operators for place in places if place.operators), ())


def _hit(index: Index, one: Message, places: tuple[Place, ...]) -> Hit:
    if one.kind == DISPATCH:
        return _dispatch_hit(index, one, places)
    where = one.location
    known = index.facts.definitions_at(where.path, where.line) if not places else []
    name = places[0].name if places else known[0].definition.qualified if known else where.path
    told = f"{one.kind}: " if one.kind else ""
    return Hit(one.does, name, where, f"{told}{one.text}", _first(places))


def _first(places: tuple[Place, ...]) -> str | None:
    return next(iter(_operators(places)), None)


def _dispatch_hit(index: Index, one: Message, places: tuple[Place, ...]) -> Hit:
    """The macro that knows no such dtype, with those that it does."""
    where = one.location
    known = index.facts.definitions_at(where.path, where.line)
    uses = [use for each in known for use in index.dtypes.of(each.definition)]
    here = [use for use in uses if where.line <= use.location.line <= where.end_line]
    said = [f"{use.macro} covers {', '.join(use.dtypes)}" for use in here]
    name = known[0].definition.qualified if known else where.path
    told = "; ".join(dict.fromkeys(said)) or "what it covers is not known"
    return Hit("error", name, where, f'"{one.text}": {told}', _first(places))


def _named(index: Index, one: Message, text: str) -> list[Hit]:
    """The operators that a text names: ``Could not run 'aten::add.out'``, ``linear(): got``."""
    called = [value for value in one.values if value.startswith("aten::")]
    called += [value for value in one.values[:1] if f"{value}():" in text]
    names = [name.removeprefix("aten::") for name in called]
    natives = (
        index.native(name) or next(iter(index.facts.overloads(name)), None) for name in names
    )
    found = {one.full_name: one for one in natives if one}
    return [
        Hit("operator", name, one.location, "named in the text", name)
        for name, one in found.items()
    ]


def _operator_hits(index: Index, operators: tuple[str, ...]) -> list[Hit]:
    """Operators that get to the line, those that people call first."""
    hits: list[Hit] = []
    for name in sorted(operators, key=lambda name: (name[0] == "_", "backward" in name)):
        native = index.native(name)
        if native and len(hits) < _OPERATORS:
            more = len(operators) - _OPERATORS
            rest = f" ({more} more do: torchnav at)" if len(hits) == _OPERATORS - 1 < more else ""
            hits.append(Hit("operator", name, native.location, f"reaches this line{rest}", name))
    return hits
