"""Related Python code of an operator or function: functions of its name for other tensors, type
stubs, and the few modules that call it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.corpus import Corpus
from indexes.queries.index import Index
from indexes.queries.python_names.callers import CALLS, PythonUses
from indexes.queries.python_names.finding import finder_of
from indexes.queries.python_names.public import definitions, public_names

_TYPES = ("i", "i.in")
"""Suffixes of type stub files: ``functional.pyi.in``."""


_CALL = regex(r"\b(\w+)\.(\w+)\b")
_IMPORTED = regex(r"import (\S+) as (\w+)")
_MOST_CALLERS = 3
"""With more calling files, a function belongs to none of them."""
_STATEMENT = 3
"""Most lines of a statement that makes a function."""


class SiblingPlace(NamedTuple):
    """A related place."""

    name: str
    location: Location
    rule: str


def namesakes(index: Index, name: str) -> Iterator[SiblingPlace]:
    """The public Python functions with the name of an operator."""
    named = public_names(index.facts.python, name, exact=True)
    for public, where in definitions(named, index).items():
        if where:
            yield SiblingPlace(public, where, f"{public} bears the name of the operator")


def calling(index: Index, corpus: Corpus, name: str) -> list[SiblingPlace]:
    """The functions of public modules that call a Python function, one per file, if few files do:
    they take the same arguments and say the same of them, as ``torch.nn.GaussianNLLLoss`` does."""
    finder = finder_of(index)
    found = finder.names.find(name)
    first: dict[str, SiblingPlace] = {}
    for use in PythonUses(finder, corpus).of(found, name, ("python",)).found if found else ():
        path, (around, line) = use.location.path, use.around
        if path.startswith("torch/") and "/_" not in path and use.rule == CALLS:
            rule = f"calls {name} at line {use.location.line}"
            first.setdefault(path, SiblingPlace(around, Location(path, line), rule))
    if found:
        first.pop(found.path, None)
    return list(first.values()) if len(first) <= _MOST_CALLERS else []


def called_privately(index: Index, where: Location, name: str) -> Iterator[SiblingPlace]:
    """What a function calls in private modules imported under another name, one place each, its own
    name first: ``prims.acos``, ``utils.check``."""
    lines = index.source.text(where.path).splitlines()
    last = max(where.end_line, where.line + _STATEMENT)
    calls = _CALL.findall("\n".join(lines[where.line - 1 : last]))
    first = dict(reversed(calls))
    first |= {alias: called for alias, called in calls if called == name}
    for match in filter(None, map(_IMPORTED.match, lines)):
        module, called = match[1], first.get(match[2], "")
        path = module.replace(".", "/")
        paths = (f"{path}.py", f"{path}/__init__.py") if called and "._" in module else ()
        for path in (one for one in paths if one != where.path and index.source.holds(one)):
            defined = re.compile(rf"(?:def |class )?{called}\b(?=\(| = )")
            found = enumerate(index.source.text(path).splitlines(), 1)
            for at in islice((number for number, text in found if defined.match(text)), 1):
                yield SiblingPlace(f"{module}.{called}", Location(path, at), f"{where} calls it")


def types_of(index: Index, paths: Iterable[str]) -> Iterator[SiblingPlace]:
    """The type stub files of some modules."""
    for path in dict.fromkeys(path for path in paths if path.endswith(".py")):
        for end in _TYPES:
            if index.source.holds(path + end):
                rule = f"says the types of what {path} defines"
                yield SiblingPlace((path + end).rpartition("/")[2], Location(path + end, 1), rule)
