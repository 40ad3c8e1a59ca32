"""What a pasted name means in one index: which world it is of, and what it leads to there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from indexes.model.answers import Hit, NameMatch
from indexes.model.errors import NotFound
from indexes.queries.naming.spelling import parse_name
from indexes.store.lookup import Lookup

if TYPE_CHECKING:
    from indexes.queries.index import Index
    from indexes.queries.naming.query import NameKind, NameQuery

World = Callable[["NameQuery", "Index"], NameMatch | None]
"""What a name means in one world; None where it means nothing there."""


def resolve(text: str, index: Index) -> NameMatch:
    """What a text means, in the first world that knows it, in the order that its spelling asks
    for; of kind ``none``, with near names and namesakes, where none does."""
    query = parse_name(text)
    for world in _ORDER[query.kind]:
        if found := world(query, index):
            return _with_more(found, query, index)
    return _unknown(query, index)


def not_found(match: NameMatch, message: str) -> NotFound:
    """The error that says what is near instead."""
    said = (f"{hit.name} {hit.location.path}:{hit.location.line}" for hit in match.namesakes)
    return NotFound(message, match.suggestions, tuple(said))


def _with_more(found: NameMatch, query: NameQuery, index: Index) -> NameMatch:
    """A bare name that is Python's may be C++'s too; that of a device kernel tells what it runs."""
    if found.kind == "symbol":
        from indexes.queries.naming.cxx import with_source

        return with_source(found, query, index)
    if found.kind != "python" or query.kind != "bare":
        return found
    return replace(found, namesakes=_namesakes(query, index))


def _unknown(query: NameQuery, index: Index) -> NameMatch:
    near = tuple(dict.fromkeys((*_near_python(query, index), *_near(query, index.facts))))
    namesakes = _namesakes(query, index)
    text = query.raw.strip()
    return NameMatch("none", text, suggestions=near, namesakes=namesakes, confidence=None)


def _namesakes(query: NameQuery, index: Index) -> tuple[Hit, ...]:
    from indexes.queries.naming.cxx import namesakes

    return namesakes(query.base, index) if query.base.isidentifier() else ()


def _near_python(query: NameQuery, index: Index) -> tuple[str, ...]:
    from indexes.queries.naming.python import near_python

    return near_python(query.paths[0], index) if query.kind == "python" and query.paths else ()


_LIKE = 0.85
"""How like an operator's name one must be that was written with a module before it."""


def _near(query: NameQuery, facts: Lookup) -> tuple[str, ...]:
    from indexes.queries.naming.near import near

    if query.kind in ("text", "place"):
        return ()
    if query.overload and (overloads := facts.overloads(query.base)):
        return tuple(one.full_name for one in overloads)
    operators = dict.fromkeys(name.partition(".")[0] for name in facts.operator_names)
    if query.kind in ("python", "library"):
        overloaded = [name.partition(".")[0] for name in query.operators]  # ``sofmax.int``
        found = [near(name, operators, 5, _LIKE) for name in (*overloaded, query.base)]
        return tuple(dict.fromkeys(name for names in found for name in names))
    first = facts.node_names if query.kind == "grad_fn" else operators
    return near(query.base, first, 5) or near(query.base, (*operators, *facts.node_names), 5)


# ------------------------------------------------------- worlds, loaded when they are asked


def _world(where: str) -> World:
    """The function ``module.name`` of this folder."""
    module, _, name = where.partition(".")

    def asked(query: NameQuery, index: Index) -> NameMatch | None:
        found: World = getattr(import_module(f"indexes.queries.naming.{module}"), name)
        return found(query, index)

    return asked


_operators = _world("operators.find")
_libraries = _world("operators.find_library_operator")
_nodes = _world("operators.find_node")
_python = _world("python.find")
_symbols = _world("cxx.find")
_first_symbol = _world("cxx.find_first")
_stubs = _world("cxx.find_stub")
_device_kernels = _world("cxx.of_library")
_places = _world("places.find")
_errors = _world("errors.find")
_dispatches = _world("errors.find_dispatch")
_variables = _world("variables.find")
_keys = _world("keys.find")

_ORDER: Mapping[NameKind, tuple[World, ...]] = {
    "bare": (
        *(_operators, _python, _keys, _libraries, _variables, _stubs, _symbols, _dispatches),
        _device_kernels,
    ),
    "operator": (_operators, _symbols),
    "library": (_libraries, _symbols, _stubs, _device_kernels),
    "python": (_variables, _python, _operators, _places, _dispatches),
    "grad_fn": (_nodes, _python, _symbols),
    "stub": (_stubs, _symbols, _operators),
    "symbol": (_first_symbol, _stubs, _operators, _symbols, _nodes, _device_kernels),
    "place": (_places, _errors),
    "text": (_errors, _operators, _symbols),
}
