"""Answers as plain JSON values, by the contract (``docs/json.md``, ``schema_version`` 1).

The one place where an answer becomes a dictionary: keys come in a fixed order, every
key is always there, and the absolute path of a tree never appears.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from indexes.model.errors import NotFound, TorchnavError
from indexes.model.vocabulary import (
    SCHEMA_VERSION,
    Chain,
    Choice,
    Definition,
    DerivativeEntry,
    DeviceKernelAnswer,
    DtypeDispatch,
    EngineFunction,
    Formula,
    FormulaSet,
    Hit,
    Hop,
    KernelRow,
    Location,
    Member,
    NameMatch,
    OperatorSummary,
    Place,
    Problem,
    SourceInfo,
    StubRow,
    Unresolved,
)

if TYPE_CHECKING:
    from indexes.model.dispatch import DispatchSlot, DispatchTable

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | bool | None"
Object: TypeAlias = dict[str, Json]


def dumps(value: Json) -> str:
    """One line of ASCII: nothing in it can act on a terminal."""
    return json.dumps(value, allow_nan=False)


def envelope(source: SourceInfo, **answer: Json) -> Object:
    """An answer with the version of the contract and the source that it was read from."""
    return {"schema_version": SCHEMA_VERSION, "source": source_json(source), **answer}


def source_json(info: SourceInfo) -> Object:
    return {
        "kind": info.kind,
        "version": info.version,
        "commit": info.commit,
        "dirty": info.dirty,
        "missing": list(info.missing),
    }


# ------------------------------------------------------------------------------ chains


def chain_json(chain: Chain, overloads: Iterable[str] = ()) -> Object:
    """The answer of ``torchnav op``. ``overloads`` are all those that the name could mean;
    ``problems`` are there for an operator that has some."""
    problems: Json = [problem_json(one) for one in chain.problems]
    return envelope(
        chain.source,
        op=operator_json(chain.op),
        hops=[hop_json(hop) for hop in chain.hops],
        unresolved=[unresolved_json(one) for one in chain.unresolved],
        derivative=derivative_json(chain.derivative) if chain.derivative else None,
        overloads=list(overloads) or [chain.op.full_name],
        **({"problems": problems} if problems else {}),
    )


def operator_json(op: OperatorSummary) -> Object:
    return {
        "name": op.full_name,
        "schema": op.schema,
        **_place(op.location),
        "kind": op.kind,
        "keys": list(op.keys),
        "tags": list(op.tags),
        "python_module": op.python_module,
        "has_derivative": op.has_derivative,
    }


def hop_json(hop: Hop) -> Object:
    where = hop.location
    return {
        "id": hop.id,
        "parent": hop.parent,
        "role": hop.role,
        "device": hop.device,
        "keys": list(hop.keys),
        "symbol": hop.symbol,
        "path": where.path if where else None,
        "line": where.line if where else None,
        "end_line": (where.end_line or None) if where else None,
        "rule": hop.rule,
        "evidence": [location_json(one) for one in hop.evidence],
        "confidence": hop.confidence,
        "guard": hop.guard,
        "note": hop.note,
        "dtypes": [dtypes_json(one) for one in hop.dtypes],
        "choices": [choice_json(one) for one in hop.choices],
    }


def choice_json(one: Choice) -> Object:
    return {"text": one.text, "arm": one.arm, **location_json(one.location)}


def dtype_row_json(function: Definition, one: DtypeDispatch) -> Object:
    where = function.location
    return {
        "symbol": function.qualified,
        "path": where.path,
        "line": where.line,
        "dispatch": dtypes_json(one),
    }


def dtypes_json(one: DtypeDispatch) -> Object:
    return {
        "macro": one.macro,
        "path": one.location.path,
        "line": one.location.line,
        "dtypes": list(one.dtypes),
        "type_name": one.type_name,
        "tag": one.tag,
        "guard": one.guard,
        "unread": list(one.unread),
    }


def unresolved_json(one: Unresolved) -> Object:
    return {
        "role": one.role,
        "keys": list(one.keys),
        "symbol": one.symbol,
        "reason": one.reason,
        "parent": one.parent,
    }


# -------------------------------------------------------------------------------- rows


def kernel_row_json(row: KernelRow) -> Object:
    return {
        "op": row.op,
        "key": row.key,
        "symbol": row.symbol,
        "kind": row.kind,
        "definitions": [definition_json(one) for one in row.definitions],
        "confidence": row.confidence,
        "rule": row.rule,
        "reason": row.reason,
    }


def stub_row_json(row: StubRow) -> Object:
    return {
        "stub": row.stub,
        "device": row.device,
        "macro": row.macro,
        "function": row.function,
        "registration": location_json(row.registration),
        "definition": location_json(row.definition.location) if row.definition else None,
        "reason": row.reason,
        "guard": row.guard,
    }


def derivative_row_json(entry: DerivativeEntry, functions: Iterable[Definition] = ()) -> Object:
    """A row of ``torchnav export derivatives``: the formulas of the default key.

    ``functions`` are the functions of the tree that its formulas call.
    """
    default = next(iter(entry.sets), None)
    formulas: Object = {}
    for one in default.formulas if default else ():
        for name in one.inputs:
            formulas.setdefault(name, _formula(one))
    return {
        "op": entry.op,
        **location_json(entry.location),
        "grad_fn": default.grad_fn if default else None,
        "formulas": formulas,
        "functions": [{"name": one.name, **location_json(one.location)} for one in functions],
        "sets": [_formula_set(one) for one in entry.sets],
    }


def derivative_json(entry: DerivativeEntry) -> Object:
    """An entry of derivatives.yaml with the formulas of every key."""
    return {
        "op": entry.op,
        **location_json(entry.location),
        "schema": entry.schema,
        "sets": [_formula_set(one) for one in entry.sets],
        "output_differentiability": (
            None if entry.output_differentiability is None else list(entry.output_differentiability)
        ),
    }


def _formula_set(one: FormulaSet) -> Object:
    return {
        "key": one.key,
        "grad_fn": one.grad_fn,
        "formulas": [{"inputs": list(f.inputs), **_formula(f)} for f in one.formulas],
    }


def _formula(formula: Formula) -> Object:
    return {"text": formula.text, **location_json(formula.location), "kind": formula.kind}


def device_kernel_json(answer: DeviceKernelAnswer) -> Object:
    """A line of ``torchnav kernel``."""
    return {
        "name": answer.name,
        "launcher": _symbol(answer.launcher),
        "source": _symbol(answer.source),
        "library": answer.library,
        "confidence": answer.confidence,
        "rule": answer.rule,
        "reason": answer.reason,
        "candidates": [_symbol(one) for one in answer.candidates],
    }


def table_json(table: DispatchTable) -> Object:
    """The answer of ``torchnav table``."""
    return envelope(
        table.source,
        op=table.op,
        slots=[slot_json(one) for one in table.slots],
        registrations=[slot_json(one) for one in table.registrations],
        precedence=location_json(table.precedence) if table.precedence else None,
        unseen=table.unseen,
    )


def slot_json(slot: DispatchSlot) -> Object:
    return {
        "key": slot.key,
        "kernel": slot.kernel or None,
        "kind": slot.kind,
        "fallthrough": slot.fallthrough,
        "origin": slot.origin,
        "rule": slot.rule,
        "confidence": slot.confidence,
        "registration": location_json(slot.registration) if slot.registration else None,
        "definition": location_json(slot.definition) if slot.definition else None,
        "evidence": [location_json(one) for one in slot.evidence],
        "guard": slot.guard,
    }


def table_row_json(op: str, slot: DispatchSlot) -> Object:
    """A row of ``torchnav export table``."""
    return {
        "op": op,
        "key": slot.key,
        "kernel": slot.kernel,
        "origin": slot.origin,
        "kind": slot.kind,
        "fallthrough": slot.fallthrough,
    }


def definition_json(one: Definition) -> Object:
    return {
        **_place(one.location),
        "guard": one.guard,
        "macro": one.macro,
        "macro_definition": location_json(one.macro_location) if one.macro_location else None,
    }


def _symbol(one: Definition | None) -> Object | None:
    return {"symbol": one.qualified, **location_json(one.location)} if one else None


# ------------------------------------------------------------------ places and look-ups


def place_json(place: Place) -> Object:
    return {
        "kind": place.kind,
        "name": place.name,
        **_place(place.location),
        "detail": place.detail,
        "operators": list(place.operators),
        "rule": place.rule,
    }


def hit_json(hit: Hit) -> Object:
    return {
        "kind": hit.kind,
        "name": hit.name,
        **_place(hit.location),
        "detail": hit.detail,
        "op": hit.op,
    }


def match_json(match: NameMatch) -> Object:
    return {
        "kind": match.kind,
        "text": match.text,
        "overloads": list(match.overloads),
        "hits": [hit_json(one) for one in match.hits],
        "note": match.note,
        "suggestions": list(match.suggestions),
    }


def member_json(member: Member) -> Object:
    names = (*member.accessor_names, *[""] * len(member.accessors))
    return {
        "name": member.name,
        "type": member.type,
        "bits": member.bits,
        "comment": member.comment,
        **location_json(member.location),
        "accessors": [
            {"name": name, **location_json(one)}
            for name, one in zip(names, member.accessors, strict=False)
        ],
    }


def engine_function_json(function: EngineFunction) -> Object:
    return {
        "name": function.name,
        **_place(function.location),
        "phase": function.phase,
        "comment": function.comment,
        "calls": [{"name": name, "line": line} for name, line in function.calls],
    }


def problem_json(problem: Problem) -> Object:
    return {"path": problem.path, "line": problem.line, "message": problem.message}


def error_json(error: TorchnavError) -> Object:
    """What stands on stdout in place of an answer; the words are on stderr too."""
    suggestions = error.suggestions if isinstance(error, NotFound) else ()
    return {
        "schema_version": SCHEMA_VERSION,
        "error": {
            "message": str(error),
            "exit_code": error.exit_code,
            "suggestions": list(suggestions),
        },
    }


def location_json(location: Location) -> Object:
    """A place as ``path`` and ``line``."""
    return {"path": location.path, "line": location.line}


def _place(location: Location) -> Object:
    return {**location_json(location), "end_line": location.end_line or None}
