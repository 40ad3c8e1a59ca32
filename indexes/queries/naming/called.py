"""Which of several lines with one message the failed call reaches: by its C++ stack, or by what
the last frame of its traceback calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from indexes.model.answers import Hit, NameMatch, Place
from indexes.model.regex import regex
from indexes.model.vocabulary import NativeFunction
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.messages import Message
from indexes.queries.naming.places import files_named
from indexes.queries.naming.query import match_of
from indexes.queries.pasted import ON_STACK, operators_on_stack, pasted, raised_in
from indexes.queries.places import CALLING

Line = tuple[Message, tuple[Place, ...]]
"""A message, with what stands around its line."""
_CALL = regex(r"\b(\w+)\(")


def operators_of(places: Iterable[Place]) -> tuple[str, ...]:
    """The operators that reach the innermost place that any reaches."""
    reached = (place for place in places if place.kind not in CALLING)
    return next((place.operators for place in reached if place.operators), ())


def on_stack(index: IndexedTree, text: str) -> list[Hit]:
    """The operators on the C++ stack behind a message, outermost first."""
    natives = filter(None, (_of_class(index, name) for name in operators_on_stack(text)))
    return [
        Hit("operator", one.full_name, one.location, ON_STACK, one.full_name) for one in natives
    ]


def _of_class(index: IndexedTree, name: str) -> NativeFunction | None:
    """The operator of a class in ``at::_ops``: ``add_.Tensor`` for ``add__Tensor``."""
    parts = (f"{name[:at]}.{name[at + 1 :]}" for at, sign in enumerate(name) if sign == "_")
    return next(filter(None, map(index.native, (name, *parts))), None)


def raised_from(text: str, index: IndexedTree) -> NameMatch | None:
    """The function in the first line of a C++ stack, and the operators on the stack."""
    raising = raised_in(text)
    if raising is None:
        return None
    function, path, line = raising
    paths = files_named(path, index)
    named = index.facts.named(function.rpartition("::")[2])
    found = [k.definition for k in named if k.definition.location.path in paths]
    note = f"the torch that ran raised it at line {line} of this file"
    hits = [Hit("error", one.qualified, one.location, "raises it") for one in found]
    hits += on_stack(index, text) if hits else []
    return match_of("error", function, hits, note, "by rule")


def raised_elsewhere(text: str, index: IndexedTree) -> NameMatch | None:
    """What a C++ stack says about a message that this source does not have."""
    error, hits = pasted(text), tuple(on_stack(index, text))
    if error.raised_from is None or not hits:
        return None
    path, line = error.raised_from
    note = f"raised from {path}:{line} of the torch that ran; this source has no such line"
    return NameMatch("error", error.text, hits=hits, note=note, confidence="by rule")


def reached(lines: list[Line], text: str, stack: list[Hit], index: IndexedTree) -> list[Line]:
    """The lines that the innermost operator on the stack reaches, if any; those of the operators
    that the traceback's last frame calls first, then those of what these call. Without a frame,
    those that users reach first, if operators reach any."""
    last = stack[-1].name if stack else ""
    lines = [one for one in lines if last in operators_of(one[1])] or lines
    if len(lines) < 2:
        return lines
    if called := set(_called(text, index)):
        return sorted(lines, key=lambda one: _steps_from(called, operators_of(one[1]), index))
    if not any(operators_of(places) for _, places in lines):
        return lines
    return sorted(lines, key=lambda one: not _is_for_users(one[1], index))


def _is_for_users(places: tuple[Place, ...], index: IndexedTree) -> bool:
    """Whether an operator leads to a line, or it is in a function or class that its module exports:
    other lines with the same message are for tracing, extensions and tests."""
    exported = index.facts.python.exported()
    named = ((place.location.path, word) for place in places for word in place.name.split("."))
    return bool(operators_of(places)) or any(path in exported.get(w, ()) for path, w in named)


def _called(text: str, index: IndexedTree) -> Iterator[str]:
    frame = pasted(text).frame
    return filter(index.facts.overloads, _CALL.findall(frame.code if frame else ""))


def _steps_from(called: set[str], operators: tuple[str, ...], index: IndexedTree) -> int:
    """0 for an operator of one of the names, 1 for one that such an operator calls, else 2; 0 too
    where none is known."""
    if not operators or any(name.partition(".")[0] in called for name in operators):
        return 0
    edges = (edge for name in operators for edge in index.facts.edges_to(name))
    callers = {edge.caller for edge in edges if edge.caller >= 0}
    rows = (row for caller in callers for row in index.facts.kernel_rows_of(caller))
    return 1 if any(row.op.partition(".")[0] in called for row in rows) else 2
