"""What TORCH_LIBRARY blocks say of a line or of a function: the operators registered there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from indexes.linking.facts import Known, LibraryUse
from indexes.linking.registrations import written_registrations
from indexes.model.answers import Hit, Place
from indexes.model.idioms import close
from indexes.model.vocabulary import Location
from indexes.readers.cxx.lexer import lex
from indexes.store.lookup import Lookup
from indexes.store.registrations import library_uses, named_macros

_LONGEST = 60
"""Lines that one registration may span."""


def library_places(facts: Lookup, path: str, line: int, read: Callable[[str], str]) -> list[Place]:
    """The registrations written over a line of a file, whose text ``read`` gives."""
    uses = library_uses(facts, path=path)
    starts = {use.location.line for use in uses if 0 <= line - use.location.line < _LONGEST}
    for start in sorted(starts, reverse=True):
        end = _end(read(path), start)
        if end >= line:
            here = [use for use in uses if use.location.line == start]
            return _registrations(facts, here, Location(path, start, end))
    return []


def _end(text: str, start: int) -> int:
    """The last line of the call that begins on line ``start``."""
    lines = text.split("\n")[start - 1 : start - 1 + _LONGEST]
    clean = lex("\n".join(lines)).clean
    opened = clean.find("(")
    closed = close(clean, opened) if opened >= 0 else -1
    return start + clean.count("\n", 0, closed) if closed >= 0 else start


def _registrations(facts: Lookup, uses: list[LibraryUse], place: Location) -> list[Place]:
    found: dict[str, list[str]] = {}
    rules: dict[str, str] = {}
    for one in written_registrations(uses, named_macros(facts, uses)):
        registration = one.registration
        found.setdefault(registration.key, []).append(registration.op)
        rules[registration.key] = registration.rule
    places = list(_definitions(facts, uses, place))
    for key, ops in found.items():
        name, known = f"{key}: {_named(ops)}", tuple(op for op in ops if facts.native(op))
        why = "registered with the dispatcher here"
        places.append(Place("registration", name, place, rules[key], known, why))
    return places


def _definitions(facts: Lookup, uses: list[LibraryUse], place: Location) -> Iterator[Place]:
    """The operators that ``m.def`` defines here."""
    for use in uses:
        native = facts.native(use.op) if use.method == "def" else None
        if native is not None and native.defined_by:
            said = (native.schema, (use.op,), f"defined here: {native.defined_by}")
            yield Place("operator", use.op, place, *said)


def _named(ops: list[str]) -> str:
    names = [op or "the fallback for all operators" for op in ops]
    return names[0] if len(names) == 1 else f"{len(names)} operators, {names[0]} .. {names[-1]}"


def registrations_of(facts: Lookup, function: Known) -> list[Hit]:
    """The lines of TORCH_LIBRARY blocks that register a function, with the operator of each."""
    return [
        Hit(
            "registration",
            f"{one.key}: {one.op or 'fallback'}",
            one.location,
            one.rule,
            one.op if facts.native(one.op) else None,
        )
        for number in _inside(facts, function)
        for one in facts.library_kernels_of(number)
    ]


def _inside(facts: Lookup, known: Known) -> list[int]:
    """A function; of a class, what is defined within it."""
    if known.definition.kind != "class":
        return [known.id]
    where = known.definition.location
    return [
        one.id
        for one in facts.definitions_in(where.path)
        if where.covers(one.definition.location.line)
    ]
