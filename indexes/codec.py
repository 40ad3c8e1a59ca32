"""Facts of the YAML files to JSON text and back, for the index file."""

from __future__ import annotations

import json
from collections.abc import Mapping
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


def dump(entity: NativeFunction | DerivativeEntry | Member | EngineFunction) -> str:
    """One entity as JSON text."""
    return json.dumps(plain(entity), separators=(",", ":"))


def plain(value: Any) -> Any:
    """Dataclasses as dicts, all the way down; quicker than ``asdict``, which copies leaves."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return dict(value)
    return {name: plain(getattr(value, name)) for name in value.__slots__}


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
