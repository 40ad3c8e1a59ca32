"""Rows for places in source: search results, definitions, members, meanings of names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from indexes.model.answers import EngineFunction, Hit, Member, NameMatch
from indexes.model.dispatch import DispatchSlot
from indexes.model.vocabulary import Definition, Location, OperatorSummary
from indexes.readers.cxx.engine import MEANINGS
from navigator.tui.history import Visit
from navigator.tui.processes.preview import REASON, Preview
from navigator.tui.session import Session, visit_to
from navigator.tui.text import one_line


@dataclass(frozen=True, slots=True)
class PlaceRow:
    """A row; without a location it is a heading."""

    name: str
    location: Location | None = None
    kind: str = ""
    detail: str = ""
    op: str | None = None
    """The overload whose chain belongs to it."""
    depth: int = 0
    """Its indentation below the row it belongs to."""
    comment: str = ""
    """A longer comment, shown below the list."""
    below: int = 0
    """Number of following rows that belong to it."""
    change: str = ""
    """The id of its gap, whose plan Enter opens."""
    command: str = ""
    """A command to run from the top of the tree, which ``C`` copies."""

    @property
    def visit(self) -> Visit:
        return visit_to(self.location, self.name, self.op)


def of_hit(hit: Hit) -> PlaceRow:
    """A search result."""
    return PlaceRow(hit.name, hit.location, hit.kind, hit.detail, hit.op)


def of_field(session: Session, path: str, line: int) -> tuple[str, list[PlaceRow]]:
    """A title, and what the tree says about the field, the macro or the note on a line."""
    found = session.index.explain(path, line)
    rows = [
        PlaceRow(one.text.strip().split("\n")[0].strip("#-`/* "), one.location, comment=one.text)
        for one in found.passages
    ]
    rows += [PlaceRow("refers to it", one, "mention") for one in found.mentions]
    return f"what {found.field} means", rows


def of_definition(one: Definition) -> PlaceRow:
    """One of several definitions, distinguished by parameters and ``#if`` guards."""
    parameters = f"({one.parameters})" if one.parameters else ""
    guard = f"under #if {one.guard}" if one.guard else ""
    macro = f"made by {one.macro}" if one.macro else ""
    comment = " · ".join(part for part in (macro, guard) if part)
    return PlaceRow(one.qualified, one.location, one.kind, parameters, comment=comment)


def of_slots(op: str, slots: Sequence[DispatchSlot]) -> PlaceRow:
    """The kernel of dispatch keys, or its registration; the last key has priority."""
    slot = slots[-1]
    location = slot.definition or slot.registration
    if location is None:
        return PlaceRow(f"{slot.key}  {slot.kernel}  {slot.kind}: {slot.origin or slot.rule}")
    name = "falls through" if slot.fallthrough else slot.kernel
    more = f" +{len(slots) - 1}" if len(slots) > 1 else ""
    keys = [" ".join(one.key for one in reversed(slots))] if more else []
    comment = " · ".join(filter(None, (*keys, slot.rule, slot.origin)))
    return PlaceRow(name, location, slot.key + more, slot.kind, op, comment=comment)


def of_operators(session: Session, names: Iterable[str]) -> Iterator[PlaceRow]:
    """Operators at their YAML entries; unknown names are skipped."""
    for name in names:
        summary = session.index.summary(name)
        if summary is not None:
            yield of_summary(summary)


def of_summary(summary: OperatorSummary) -> PlaceRow:
    """An operator, at its YAML entry."""
    name = summary.full_name
    return PlaceRow(name, summary.location, "operator", summary.schema, op=name)


def meanings(session: Session, name: str) -> list[PlaceRow]:
    """The meanings of a name in source: definitions, a stub's places, or operators."""
    found = [of_definition(definition) for definition in session.index.definitions(name)]
    if found:
        return found
    match = session.index.resolve(name)
    return [of_hit(hit) for hit in match.hits] or list(of_operators(session, match.overloads))


def target_of(row: PlaceRow) -> Visit:
    """The target of a row: its place or, for an operator, the whole chain."""
    return Visit(op=row.op, title=row.name) if row.kind == "operator" else row.visit


def of_members(members: Sequence[Member]) -> list[PlaceRow]:
    """The data members of a class, with their accessors."""
    return [row for member in members for row in _of_member(member)]


def _of_member(member: Member) -> Iterator[PlaceRow]:
    bits = f" : {member.bits} bits" if member.bits is not None else ""
    yield PlaceRow(
        member.name,
        member.location,
        "",
        member.type + bits,
        comment=member.comment,
        below=len(member.accessors),
    )
    for name, location in zip(member.accessor_names, member.accessors, strict=False):
        yield PlaceRow(f"{name}()", location, "accessor", depth=1)


def of_engine(functions: Sequence[EngineFunction]) -> list[PlaceRow]:
    """The functions of the engine by phase, with their calls."""
    rows: list[PlaceRow] = []
    for phase, group in groupby(_by_phase(functions), key=lambda one: one.phases[0]):
        rows.append(PlaceRow(f"{phase}: {MEANINGS[phase]}"))
        for function in group:
            rows += _of_function(function)
    return rows


def _by_phase(functions: Sequence[EngineFunction]) -> list[EngineFunction]:
    """Grouped by first phase, phases in execution order."""
    order = [*MEANINGS]
    return sorted(functions, key=lambda one: order.index(one.phases[0]))


def _of_function(function: EngineFunction) -> Iterator[PlaceRow]:
    below = len(function.calls)
    yield PlaceRow(function.name, function.location, comment=function.comment, below=below)
    for callee, line in function.calls:
        yield PlaceRow(callee, Location(function.location.path, line), "calls", depth=1)


_HOLDING = 50
"""Maximum number of names that contain a text, offered if none equals it."""


class Named(NamedTuple):
    """Operators and places that a name means, with a note."""

    rows: list[PlaceRow]
    note: str = ""
    heading: str = ""
    """Heading of rows that do not match exactly."""
    is_near: bool = False
    """Whether the rows are only similar to the text."""


def named(session: Session, text: str) -> Named:
    """What a text means, else names that contain it or are similar. Call in a thread."""
    match = session.index.resolve(text)
    if match.kind != "none":
        return Named(list(_rows(session, match)), one_line(match.note or _kind(match)))
    holding = [of_hit(hit) for hit in session.index.find(text, _HOLDING)]
    words = f"nothing is named {one_line(text)}"
    if isinstance(session.index, Preview):
        words = f"only operators are known: {REASON}"
    if holding:
        return Named(holding, f"{words}; names that contain it", "not found; names that contain it")
    near = list(_near(session, match))
    return (
        Named(near, f"{words}; near names", "not found; near names", is_near=True)
        if near
        else Named([], words)
    )


def _kind(match: NameMatch) -> str:
    """The kind of a Python name without operators."""
    if match.kind != "python" or match.overloads or not match.hits:
        return ""
    return f"Python {match.hits[0].kind}, not an ATen operator"


def _rows(session: Session, match: NameMatch) -> Iterator[PlaceRow]:
    """For an operator its overloads; otherwise the places of a name, then its operators."""
    operators = list(of_operators(session, match.overloads))
    if match.kind in ("operator", "grad_fn"):
        yield from operators
    op = operators[0].op if operators and match.kind == "python" else None
    for hit in match.hits:
        row = of_hit(hit)
        yield PlaceRow(row.name, row.location, row.kind, row.detail, row.op or op)
    if match.kind not in ("operator", "grad_fn"):
        yield from operators
    if match.kind == "python":
        yield from _calls(session, match)


def _calls(session: Session, match: NameMatch) -> Iterator[PlaceRow]:
    """Calls of a Python function: operators and Python functions."""
    card = session.index.python(match.text)
    for call in card.calls if card else ():
        leads = [name for name in call.operators if name not in match.overloads]
        yield from of_operators(session, leads[:1])
        if call.location is not None:
            yield PlaceRow(call.name, call.location, "calls", f"line {call.line}")


def _near(session: Session, match: NameMatch) -> Iterator[PlaceRow]:
    """Overloads of similar operator names; then C++ names with the same last part."""
    for name in match.suggestions:
        yield from of_operators(session, session.index.resolve(name).overloads[:3])
    for hit in match.namesakes:
        yield PlaceRow(hit.name, hit.location, "C++ namesake", hit.detail)
