"""Facts of the YAML files to JSON text and back, for the index file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any

from indexes.model import (
    DerivativeEntry,
    EngineFunction,
    Formula,
    FormulaSet,
    Kernel,
    Location,
    Member,
    NativeFunction,
)

_encode = json.JSONEncoder(separators=(",", ":")).encode
_LEAVES = frozenset((str, int, bool, type(None)))


def dump(entity: NativeFunction | DerivativeEntry | Member | EngineFunction) -> str:
    """One entity as JSON text."""
    return _encode(plain(entity))


def plain(value: Any) -> Any:
    """Dataclasses as dicts, all the way down; quicker than ``asdict``, which copies leaves."""
    kind: Any = type(value)
    if kind in _LEAVES:
        return value
    if kind is tuple or kind is list:
        return [item if type(item) in _LEAVES else plain(item) for item in value]
    if isinstance(value, Mapping):
        return dict(value)
    names, values = _fields(kind)
    return {
        name: item if type(item) in _LEAVES else plain(item)
        for name, item in zip(names, values(value), strict=True)
    }


@cache
def _fields(kind: Any) -> tuple[tuple[str, ...], Callable[[Any], Any]]:
    """The fields of a dataclass, of which there are several, and what reads them all."""
    return kind.__slots__, attrgetter(*kind.__slots__)


def load_native(text: str) -> NativeFunction:
    """A NativeFunction from ``dump``'s text."""
    data: dict[str, Any] = json.loads(text)
    data["location"] = Location(**data["location"])
    if data["dispatch"] is not None:
        data["dispatch"] = tuple(Kernel(**k) for k in data["dispatch"])
    for name in ("variants", "precomputed", "autogen", "tags"):
        data[name] = tuple(data[name])
    return NativeFunction(**data)


def load_derivative(text: str) -> DerivativeEntry:
    """A DerivativeEntry from ``dump``'s text."""
    data: dict[str, Any] = json.loads(text)
    data["location"] = Location(**data["location"])
    data["sets"] = tuple(_formula_set(s) for s in data["sets"])
    if data["output_differentiability"] is not None:
        data["output_differentiability"] = tuple(data["output_differentiability"])
    return DerivativeEntry(**data)


def _formula_set(data: dict[str, Any]) -> FormulaSet:
    formulas = tuple(
        Formula(tuple(f["inputs"]), f["text"], Location(**f["location"]), f["kind"])
        for f in data["formulas"]
    )
    return FormulaSet(data["key"], data["grad_fn"], formulas, Location(**data["location"]))


def load_member(data: dict[str, Any]) -> Member:
    """A Member from its JSON object."""
    accessors = tuple(Location(**a) for a in data.pop("accessors"))
    location = Location(**data.pop("location"))
    names = tuple(data.pop("accessor_names"))
    return Member(location=location, accessors=accessors, accessor_names=names, **data)


def load_engine_function(data: dict[str, Any]) -> EngineFunction:
    """An EngineFunction from its JSON object."""
    calls = tuple((name, line) for name, line in data.pop("calls"))
    return EngineFunction(location=Location(**data.pop("location")), calls=calls, **data)
