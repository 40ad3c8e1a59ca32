"""Facts of the YAML files to JSON text and back, for the index file.

Entries are arrays in the order of their fields: there are thousands, and names of fields
would be most of their text.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from json import loads
from operator import attrgetter
from typing import Any

from indexes.model.vocabulary import (
    DerivativeEntry,
    EngineFunction,
    Formula,
    FormulaSet,
    Kernel,
    Location,
    Member,
    NativeFunction,
)

NATIVE_LINE, NATIVE_END_LINE, NATIVE_TAGS = "$[3][1]", "$[3][2]", "$[13]"
"""Where SQLite finds these in the text of an overload."""
DERIVATIVE_PATH, DERIVATIVE_LINE = "$[2][0]", "$[2][1]"
"""Where it finds these in the text of an entry of derivatives.yaml."""

_compact = partial(json.dumps, allow_nan=False, separators=(",", ":"))
_LEAVES = frozenset((str, int, bool, type(None)))


def dump_native(function: NativeFunction) -> str:
    """An overload as JSON text, for ``load_native``."""
    f, kernels = function, function.dispatch
    dispatch = None if kernels is None else [(k.key, k.symbol, k.line) for k in kernels]
    return _compact(
        (
            f.name,
            f.overload,
            f.schema,
            _place(f.location),
            f.field_lines,
            dispatch,
            f.variants,
            f.structured,
            f.structured_delegate,
            f.structured_inherits,
            f.precomputed,
            f.ufunc_inner_loop,
            f.autogen,
            f.tags,
            f.python_module,
            f.flags,
        )
    )


def dump_derivative(entry: DerivativeEntry) -> str:
    """An entry of derivatives.yaml as JSON text, for ``load_derivative``."""
    sets = [
        (
            one.key,
            one.grad_fn,
            _place(one.location),
            [(f.inputs, f.text, _place(f.location), f.kind) for f in one.formulas],
        )
        for one in entry.sets
    ]
    place = _place(entry.location)
    return _compact((entry.op, entry.schema, place, sets, entry.output_differentiability))


def _place(location: Location) -> tuple[str, int, int]:
    return location.path, location.line, location.end_line


def plain(value: Any) -> Any:
    """Members and engine functions as dicts, all the way down; ``asdict`` copies leaves."""
    kind: Any = type(value)
    if kind in _LEAVES:
        return value
    if kind is tuple or kind is list:
        return [item if type(item) in _LEAVES else plain(item) for item in value]
    names, values = _fields(kind)
    return {
        name: item if type(item) in _LEAVES else plain(item)
        for name, item in zip(names, values(value), strict=True)
    }


@cache
def _fields(kind: Any) -> tuple[tuple[str, ...], Callable[[Any], Any]]:
    """The fields of a dataclass, of which there are several, and what reads them all."""
    return kind.__slots__, attrgetter(*kind.__slots__)


def load_native(text: str, lines: int = 0) -> NativeFunction:
    """The overload in ``dump_native``'s text, which stands ``lines`` further down by now."""
    (
        name,
        overload,
        schema,
        place,
        fields,
        kernels,
        variants,
        structured,
        delegate,
        inherits,
        precomputed,
        loops,
        autogen,
        tags,
        module,
        flags,
    ) = loads(text)
    if lines:
        place = (place[0], place[1] + lines, place[2] + lines)
        fields = {field: line + lines for field, line in fields.items()}
    dispatch = None
    if kernels is not None:
        dispatch = tuple(Kernel(key, symbol, line + lines) for key, symbol, line in kernels)
    return NativeFunction(
        name,
        overload,
        schema,
        Location(*place),
        fields,
        dispatch,
        tuple(variants),
        structured,
        delegate,
        inherits,
        tuple(precomputed),
        loops,
        tuple(autogen),
        tuple(tags),
        module,
        flags,
    )


def moved(function: NativeFunction, lines: int) -> NativeFunction:
    """The same overload, that many lines further down."""
    return load_native(dump_native(function), lines) if lines else function


def load_derivative(text: str) -> DerivativeEntry:
    """The entry in ``dump_derivative``'s text."""
    op, schema, place, sets, differentiable = loads(text)
    return DerivativeEntry(
        op,
        schema,
        Location(*place),
        tuple(_formula_set(*one) for one in sets),
        None if differentiable is None else tuple(differentiable),
    )


def _formula_set(
    key: str, grad_fn: str | None, place: list[Any], formulas: list[list[Any]]
) -> FormulaSet:
    made = tuple(
        Formula(tuple(inputs), text, Location(*at), kind) for inputs, text, at, kind in formulas
    )
    return FormulaSet(key, grad_fn, made, Location(*place))


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
