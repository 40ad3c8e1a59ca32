"""What stands beside an operator in Python: functions of its name for other tensors, and files that
say the types of what others define."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from indexes.model.vocabulary import Location
from indexes.queries.index import Index
from indexes.queries.python_names.public import definitions, public_names
from indexes.store.registrations import StoredPython

_TYPES = ("i", "i.in")
"""What is added to the path of a module for the file with its types: ``functional.pyi.in``."""


class Beside(NamedTuple):
    """A place beside an operator."""

    name: str
    location: Location
    rule: str


def namesakes(index: Index, name: str) -> Iterator[Beside]:
    """The public Python functions with the name of an operator."""
    named = public_names(StoredPython(index.facts.store), name, exact=True)
    for public, where in definitions(named, index).items():
        if where:
            yield Beside(public, where, f"{public} bears the name of the operator")


def types_of(index: Index, paths: Iterable[str]) -> Iterator[Beside]:
    """The files with the types of what stands in some modules."""
    for path in dict.fromkeys(path for path in paths if path.endswith(".py")):
        for end in _TYPES:
            if index.source.holds(path + end):
                rule = f"says the types of what {path} defines"
                yield Beside((path + end).rpartition("/")[2], Location(path + end, 1), rule)
