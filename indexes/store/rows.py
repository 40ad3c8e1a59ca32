"""Rows of the index file to entities and back: one mapper a table."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar

import msgspec

from indexes.linking.facts import Known
from indexes.model.vocabulary import (
    TEMPLATE,
    Definition,
    DerivativeEntry,
    EngineFunction,
    Location,
    Member,
    NativeFunction,
    OperatorSummary,
)
from indexes.store.tables import FILE_OF, IN_FILE, QUALIFIED, UFUNC

_T = TypeVar("_T")

# ------------------------------------------------------------------------- definitions

DEFINITION_COLUMNS = (
    "d.id,d.name,d.scope,f.path,d.kind,d.line,d.end_line,d.parameters,d.guard,d.is_global,"
    "d.macro,d.macro_path,d.macro_line,d.base"
)
"""Of ``definitions d`` and its ``files f``."""
DEFINITION_FROM = f"definitions d JOIN files f ON f.id={FILE_OF} AND {IN_FILE}"


def known(row: tuple[Any, ...]) -> Known:
    """A definition with its number, from ``DEFINITION_COLUMNS``."""
    (number, name, scope, path, kind, line, end_line, parameters, guard, *rest) = row
    is_global, macro, macro_path, macro_line, base = rest
    placed = Location(macro_path, macro_line) if macro_path else None
    is_template = base == TEMPLATE and kind == "function"
    place = Location(path, line, end_line)
    made = Definition(
        name, scope, kind, place, parameters, guard, macro, placed, bool(is_global), is_template
    )
    return Known(number, made)


def definition(row: tuple[Any, ...]) -> Definition:
    """The same without its number."""
    return known(row).definition


# ----------------------------------------------------------------------------- kernels

KERNELS_NAMED = (
    "SELECT id,op,definitions FROM kernels WHERE symbol IN (?1,'structured_'||?1||'::meta')"
)
"""The kernels to which definitions of a name may be linked, as ``linking.kernels.wanted_names``
says; those of ``KERNELS_BEYOND`` may be too."""
KERNELS_BEYOND = (
    f"SELECT id,op,definitions FROM kernels INDEXED BY kernels_qualified WHERE {QUALIFIED}"
    f" UNION ALL SELECT id,op,definitions FROM kernels WHERE {UFUNC}"
)
"""The few kernels whose symbols are no names."""


def numbers(listed: str) -> list[int]:
    """The numbers of the definitions of a kernel, as one column holds them."""
    return [int(number) for number in listed.split(",") if number]


# ------------------------------------------------------------------------------- JSON

NATIVE_LINE, NATIVE_END_LINE = "$.location.line", "$.location.end_line"
NATIVE_TAGS = "$.tags"
"""Where SQLite finds these in the text of an overload."""
DERIVATIVE_PATH, DERIVATIVE_LINE = "$.location.path", "$.location.line"
"""Where it finds these in the text of an entry of derivatives.yaml."""


DOCUMENTS: dict[str, Any] = {"tensorimpl": tuple[Member, ...], "engine": tuple[EngineFunction, ...]}
"""What each of ``documents`` holds."""


def dump(entity: object) -> str:
    """An entity of the model as JSON text."""
    return msgspec.json.encode(entity).decode()


def load(text: str, kind: type[_T]) -> _T:
    """The inverse of ``dump``. Raises ValueError on anything else."""
    made: _T = _decoder(kind).decode(text)  # type: ignore[arg-type]
    return made


def load_all(texts: Iterable[str], kind: type[_T]) -> tuple[_T, ...]:
    """Entities of one kind, read at once: that takes half as long as one by one."""
    return load(f"[{','.join(texts)}]", tuple[kind, ...])  # type: ignore[valid-type]


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def load_native(text: str) -> NativeFunction:
    """An overload from ``ops.data``."""
    return load(text, NativeFunction)


def load_derivative(text: str) -> DerivativeEntry:
    """An entry from ``derivatives.data``."""
    return load(text, DerivativeEntry)


def load_summary(text: str) -> OperatorSummary:
    """What the operator list shows of an overload, from ``ops.summary``."""
    return load(text, OperatorSummary)
