"""What stands beside an operator in Python: functions of its name for other tensors, and files that
say the types of what others define."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from indexes.model.vocabulary import Location
from indexes.queries.index import Index
from indexes.queries.python_names.public import definitions, public_names
from indexes.store.registrations import StoredPython

_TYPES = ("i", "i.in")
"""What is added to the path of a module for the file with its types: ``functional.pyi.in``."""


_STATEMENT = 3
"""Lines of a statement by which a helper makes a function."""


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


def of_its_name(index: Index, where: Location, name: str) -> Iterator[Beside]:
    """What a function calls by a name in a module that its file imports: ``prims.acos``."""
    lines = index.source.text(where.path).splitlines()
    last = max(where.end_line, where.line + _STATEMENT)
    called = re.search(rf"\b(\w+)\.{name}\b", "\n".join(lines[where.line - 1 : last]))
    imported = re.compile(rf"import (\S+) as {called[1]}\b" if called else r"(?!)")
    for match in filter(None, map(imported.match, lines)):
        module = match[1].replace(".", "/")
        for path in filter(index.source.holds, (f"{module}.py", f"{module}/__init__.py")):
            defined = re.compile(rf"(?:def |class )?{name}\b(?=\(| = )")
            found = enumerate(index.source.text(path).splitlines(), 1)
            for at in (number for number, text in found if defined.match(text)):
                yield Beside(f"{match[1]}.{name}", Location(path, at), f"{where} calls it")


def types_of(index: Index, paths: Iterable[str]) -> Iterator[Beside]:
    """The files with the types of what stands in some modules."""
    for path in dict.fromkeys(path for path in paths if path.endswith(".py")):
        for end in _TYPES:
            if index.source.holds(path + end):
                rule = f"says the types of what {path} defines"
                yield Beside((path + end).rpartition("/")[2], Location(path + end, 1), rule)
