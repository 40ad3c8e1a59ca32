"""Python's own messages: missing attributes, wrong arguments, missing modules. PyTorch raises a few
of them too."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import NamedTuple

from indexes.model.answers import Hit, NameMatch
from indexes.model.python import PythonAnswer
from indexes.model.regex import regex
from indexes.model.vocabulary import Confidence
from indexes.queries import python_names
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming import errors
from indexes.queries.naming.query import NameQuery
from indexes.queries.pasted import pasted
from indexes.queries.python_names.finding import finder_of

_OBJECT = regex(
    r"(?:type object )?'([\w.]+)' (?:object )?"
    r"(?:has no attribute|is not|does not support|cannot be|can't)\b"
)
_MODULE = regex(
    r"(?:partially initialized )?module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'"
    r"|cannot import name '(?P<imported>\w+)' from (?:partially initialized module )?"
    r"'(?P<package>[\w.]+)'"
)
_OF_PYTHON = regex(
    r"No module named '?([\w.]+)'?"
    r"|unsupported operand type\(s\) for [^:]+: '(\w+)'(?: and '(\w+)')?"
)
_SEQUENCE = regex(r"(\w+) (?:assignment )?index out of range\Z")
_CALL = regex(
    r"([\w.]+)\(\) (?:missing \d+ required |got an unexpected keyword|got multiple values for"
    r"|takes (?:from )?\d+ )"
)

_OWN = frozenset(
    one.__name__
    for space in (builtins, types)
    for one in vars(space).values()
    if isinstance(one, type)
)
"""Python's own types: ``NoneType``, ``list``, ``builtin_function_or_method``."""


class _Form(NamedTuple):
    """What a message is about, and which lines of the tree can raise it."""

    named: str
    may_say: Callable[[Hit], bool]


def find(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """What such a message names, after the lines of the tree that can raise it."""
    error = pasted(query.raw)
    form = _form(error.text, index)
    if form is None:
        return None
    match = errors.find(query, index)
    said = (errors.in_function(one, index) for one in (match.hits if match else ()))
    hits = [one for one in said if form.may_say(one)]
    answer = None if form.named in _OWN else python_names.find(form.named, index)
    lacking = _lacking(error.text)
    missing = python_names.find(lacking, index) if lacking else None
    answer = missing or answer
    named = errors.named_hits(index, (form.named,)) if index.facts.overloads(form.named) else []
    places = (*answer.places, *answer.others) if answer and not named else ()
    named += [Hit(one.kind, one.name, one.location) for one in places]
    note = (
        f"Python itself says this, no line of PyTorch{_of(lacking or form.named, answer or named)}"
    )
    note = _SAID_TOO if hits else note
    note += f"; this source has {missing.name}, the torch that ran had not" if missing else ""
    sure: Confidence = "ambiguous" if hits else "by rule"
    return NameMatch("error", error.text, hits=(*hits, *named), note=note, confidence=sure)


_SAID_TOO = "Python itself says this too"


def _lacking(text: str) -> str:
    """The name that a module lacked in the torch that ran, if the message is of one."""
    found = _MODULE.match(text)
    return ".".join(
        filter(None, found.group("module", "package", "name", "imported") if found else ())
    )


def _of(named: str, answer: PythonAnswer | list[Hit] | None) -> str:
    if named in _OWN:
        return f": {named} is its own type"
    if isinstance(answer, PythonAnswer) and answer.kind == "function" and "." not in named:
        return f"; this function is named {named}, as one of a user's may be"
    return "" if answer else f"; nothing is named {named} here"


def _form(text: str, index: IndexedTree) -> _Form | None:
    if found := _OBJECT.match(text):
        return _Form(found[1], _methods_of(found[1], index))
    if found := _MODULE.match(text):
        module = found["module"] or found["package"]
        answer = python_names.find(module, index)
        own = answer.location.path if answer and answer.location else ""
        return _Form(module, lambda hit: hit.location.path == own)
    if found := _CALL.match(text):
        is_bound = bool(index.facts.overloads(found[1]))
        return _Form(found[1], lambda hit: is_bound and not hit.location.path.endswith(".py"))
    found = _SEQUENCE.match(text)
    if found and found[1] in _OWN:
        return _Form(found[1], lambda hit: text in hit.detail)
    found = _OF_PYTHON.match(text)
    return _Form(found[found.lastindex or 0], lambda hit: False) if found else None


def _methods_of(name: str, index: IndexedTree) -> Callable[[Hit], bool]:
    """Whether a line is in a base class of the object's class; for a user's class, any class."""
    if name in _OWN:
        return lambda hit: False
    finder = finder_of(index)
    answer = python_names.find(name, index)
    found = finder.names.find(answer.name) if answer else None
    if found is None:
        return lambda hit: hit.name.endswith(".__getattr__")
    bases = {one.name for one in finder.names.order(found)}
    return lambda hit: hit.name.rpartition(".")[0] in bases
