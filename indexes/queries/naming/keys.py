"""Dispatch keys and devices in any case, checked against the tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from indexes.model.answers import Hit, NameMatch
from indexes.model.errors import SourceError, UsageError
from indexes.model.vocabulary import Location
from indexes.queries import python_names
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming import python
from indexes.queries.naming.near import near
from indexes.queries.naming.query import NameQuery


def find(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """Where DispatchKey.h declares a key."""
    name, scope = query.base, query.symbols[0].rpartition("::")[0] if query.symbols else ""
    if (scope and not scope.endswith("DispatchKey")) or not name[:1].isupper():
        return None
    if name not in (places := _places(index)):
        return None
    return NameMatch("key", name, hits=(Hit("key", name, places[name]),))


def find_in_python(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """A key of ``torch._C.DispatchKey``, which C++ fills by macros, under any of its names; one of
    ``DispatchKey`` alone may be torchgen's."""
    owner = query.paths[-1].rpartition(".")[0] if query.paths else ""
    if owner == "DispatchKey" and (key := find(replace(query, symbols=()), index)):
        others = python.find(query, index)
        hits = (*key.hits, *(others.hits if others else ()))
        return replace(key, hits=hits, confidence="ambiguous" if others else "exact")
    found = python_names.find(owner, index) if "." in owner else None
    is_key = found is not None and found.defined == "torch._C.DispatchKey"
    return find(replace(query, symbols=()), index) if is_key else None


def known_key(text: str, index: IndexedTree) -> str:
    """The dispatch key or device. Raises UsageError with similar names."""
    places = _places(index)
    name = _in_any_case(text, places)
    return name or _known(text, "dispatch key", [*places, *_written(index)])


def known_device(text: str, index: IndexedTree) -> str:
    """The device, as ``cuda`` or ``cuda:0``. Raises UsageError with similar names."""
    try:
        devices = [name.lower() for name in index.dispatch.keys.backends]
    except SourceError:
        return text.lower()
    device, colon, number = text.partition(":")
    return _known(device, "device", devices) + colon + number if devices else text.lower()


def _known(text: str, what: str, names: list[str]) -> str:
    name = _in_any_case(text, names)
    if name is None:
        raise UsageError(f"no {what} is named {text!r}", near(text, dict.fromkeys(names), 5))
    return name


def _in_any_case(text: str, names: Iterable[str]) -> str | None:
    wanted = text.casefold()
    return next((name for name in names if name.casefold() == wanted), None)


def _places(index: IndexedTree) -> dict[str, Location]:
    """The keys in the tree's DispatchKey.h, including alias keys."""
    try:
        keys = index.dispatch.keys
    except SourceError:
        return {}
    places = {key.name: key.location for key in keys.runtime} | dict(keys.aliases)
    synonyms = {old: places[new] for old, new in keys.synonyms.items() if new in places}
    return places | synonyms


def _written(index: IndexedTree) -> dict[str, None]:
    """The keys of kernels in the tree."""
    return dict.fromkeys(key for op in index.operators() for key in (*op.keys, *op.devices))
