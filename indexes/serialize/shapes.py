"""How an answer becomes a JSON object: which keys each class has in the contract, in their order.

A class is given its keys once, with ``shape``; ``to_json`` follows them through everything that
an answer holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from indexes.model.vocabulary import SCHEMA_VERSION, Location, SourceInfo

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | bool | None"
Object: TypeAlias = dict[str, Json]

_OF_LOCATION = ("path", "line", "end_line")
SHAPES: dict[type, str] = {}
"""The keys of each class: see ``shape``."""


def shape(cls: type, keys: str) -> None:
    """Says which keys the objects of a class have.

    A word is a key, and the attribute of that name; ``key=a.b`` takes it from another one, or
    from one further in, and is null where that is not there. ``path``, ``line`` and ``end_line``
    are those of the ``location`` where a class has one. ``key?`` is null where it is empty, as
    an ``end_line`` that is not known is always."""
    SHAPES[cls] = keys


def to_json(value: Any) -> Json:
    """An answer, or a part of one, as plain values. Raises KeyError for a class without keys."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Mapping):
        return {key: to_json(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)) and type(value) not in SHAPES:
        return [to_json(one) for one in value]
    return to_object(value, SHAPES[type(value)])


def to_object(value: Any, keys: str, /, **others: Any) -> Object:
    """An object with these keys, written as for ``shape``; ``others`` replace some, or follow."""
    replaced = {name: to_json(other) for name, other in others.items()}
    found = {
        one.name: replaced[one.name] if one.name in replaced else one.of(value)
        for one in _read(keys, "location" in type(value).__annotations__)
    }
    return {**found, **replaced}


class _Key(NamedTuple):
    name: str
    way: tuple[str, ...]
    """The attributes from the object to the value."""
    nullable: bool

    def of(self, value: object) -> Json:
        for attribute in self.way:
            value = None if value is None else getattr(value, attribute)
        return None if self.nullable and not value else to_json(value)


@cache
def _read(keys: str, is_placed: bool) -> tuple[_Key, ...]:
    return tuple(_key(word, is_placed) for word in keys.split())


def _key(word: str, is_placed: bool) -> _Key:
    name, _, attribute = word.removesuffix("?").partition("=")
    place = "location." if is_placed and name in _OF_LOCATION else ""
    way = (attribute or f"{place}{name}").split(".")
    return _Key(name, tuple(way), word.endswith("?") or way[-1] == "end_line")


def envelope(source: SourceInfo, /, **answer: Any) -> Object:
    """An answer with the version of the contract and the source that it was read from."""
    return {
        "schema_version": SCHEMA_VERSION,
        "source": to_json(source),
        **{key: to_json(value) for key, value in answer.items()},
    }


def dumps(value: Any) -> str:
    """An answer as one line of ASCII: nothing in it can act on a terminal."""
    return json.dumps(to_json(value), allow_nan=False)


shape(Location, "path line")
shape(SourceInfo, "kind version commit dirty missing")
