"""Operators whose schemas are like a given one: the models for a new entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from indexes.model.vocabulary import NativeFunction
from indexes.readers.yaml.schema import Schema, parse_schema


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An operator of the tree, and how like its schema is."""

    native: NativeFunction
    likeness: float
    """1 when all arguments and returns agree by type and name."""


def neighbours(
    schema: Schema, natives: Iterable[NativeFunction], limit: int
) -> tuple[Neighbour, ...]:
    """The operators with the schemas most like ``schema``, the best first.

    Operators of the same kind only (functional, in-place, out); public ones for a public name;
    what torchgen generates is nobody's model."""
    found = []
    for native in natives:
        if "generated" in native.tags or native.name == schema.name:
            continue
        other = parse_schema(native.schema)
        if other.kind is schema.kind and _is_private(other) == _is_private(schema):
            found.append(Neighbour(native, likeness(schema, other)))
    found.sort(key=lambda one: (-one.likeness, _unusual(one.native)))
    return tuple(found[:limit])


def likeness(one: Schema, other: Schema) -> float:
    """The part of arguments and returns that two schemas share: types count twice, names once."""
    mine, theirs = _features(one), _features(other)
    shared = sum((mine & theirs).values())
    return shared / max(1, sum((mine | theirs).values()))


def _features(schema: Schema) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    for argument in schema.arguments:
        found["type", argument.type, str(argument.kwarg_only)] += 2
        found["name", argument.name] += 1
    for at, returned in enumerate(schema.returns):
        found["returns", str(at), returned.type] += 2
    return found


def _is_private(schema: Schema) -> bool:
    return schema.name.startswith("_") and not schema.dunder


def _unusual(native: NativeFunction) -> tuple[bool, int, int]:
    """Among equals, an entry with a dispatch and few special fields is the better model."""
    return (
        native.dispatch is None and not native.structured_delegate,
        len(native.flags),
        len(native.name),
    )
