"""Answers as plain JSON values, by the contract (``docs/json.md``, ``schema_version`` 1).

The one place where an answer becomes a dictionary: keys come in a fixed order, every
key is always there, and the absolute path of a tree never appears.
"""

from __future__ import annotations

from collections.abc import Iterable

from indexes.model.dispatch import DispatchSlot, DispatchTable
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
    Member,
    NameMatch,
    OperatorSummary,
    Place,
    Problem,
    StubRow,
    Unresolved,
)
from indexes.queries.dispatch_compare import Difference, LiveSlot
from indexes.serialize.shapes import Json, Object, dumps, envelope, shape, to_json, to_object

__all__ = ["Json", "Object", "dumps", "envelope", "to_json"]

shape(
    OperatorSummary,
    "name=full_name schema path line end_line kind keys tags python_module has_derivative",
)
shape(
    Hop,
    "id parent role device keys symbol path line end_line rule evidence confidence guard note"
    " dtypes choices",
)
shape(Choice, "text arm path line")
shape(DtypeDispatch, "macro path line dtypes type_name tag guard unread")
shape(Unresolved, "role keys symbol reason parent")
shape(DerivativeEntry, "op path line schema sets output_differentiability")
shape(FormulaSet, "key grad_fn formulas")
shape(Formula, "inputs text path line kind")
shape(KernelRow, "op key symbol kind definitions confidence rule reason")
shape(Definition, "path line end_line guard macro macro_definition=macro_location")
shape(
    StubRow, "stub device macro function registration definition=definition.location reason guard"
)
shape(
    DispatchSlot,
    "key kernel? kind fallthrough origin rule confidence registration definition evidence guard",
)
shape(Difference, "key live=theirs reason")
shape(LiveSlot, "kind fallthrough path line")
shape(Place, "kind name path line end_line detail operators rule")
shape(Hit, "kind name path line end_line detail op")
shape(NameMatch, "kind text overloads hits note suggestions")
shape(Problem, "path line message")

_FORMULA = "text path line kind"
_SYMBOL = "symbol=qualified path line"


def chain_json(chain: Chain, overloads: Iterable[str] = ()) -> Object:
    """The answer of ``torchnav op``. ``overloads`` are all those that the name could mean;
    ``problems`` are there for an operator that has some."""
    return envelope(
        chain.source,
        op=chain.op,
        hops=chain.hops,
        unresolved=chain.unresolved,
        derivative=chain.derivative,
        overloads=list(overloads) or [chain.op.full_name],
        **({"problems": chain.problems} if chain.problems else {}),
    )


def dtype_row_json(function: Definition, one: DtypeDispatch) -> Object:
    """A row of ``torchnav export dtypes``."""
    return to_object(function, _SYMBOL, dispatch=one)


def derivative_row_json(entry: DerivativeEntry, functions: Iterable[Definition] = ()) -> Object:
    """A row of ``torchnav export derivatives``: the formulas of the default key.

    ``functions`` are the functions of the tree that its formulas call.
    """
    default = next(iter(entry.sets), None)
    formulas: Object = {}
    for one in default.formulas if default else ():
        for name in one.inputs:
            formulas.setdefault(name, to_object(one, _FORMULA))
    return to_object(
        entry,
        "op path line",
        grad_fn=default.grad_fn if default else None,
        formulas=formulas,
        functions=[to_object(one, "name path line") for one in functions],
        sets=entry.sets,
    )


def device_kernel_json(answer: DeviceKernelAnswer) -> Object:
    """A line of ``torchnav kernel``."""
    return to_object(
        answer,
        "name launcher source library confidence rule reason candidates",
        launcher=_symbol(answer.launcher),
        source=_symbol(answer.source),
        candidates=[_symbol(one) for one in answer.candidates],
    )


def _symbol(one: Definition | None) -> Object | None:
    return to_object(one, _SYMBOL) if one else None


def table_json(table: DispatchTable, differences: Iterable[Difference] | None = None) -> Object:
    """The answer of ``torchnav table``; with ``--live`` also what the installed torch runs."""
    compared = {} if differences is None else {"differences": [*differences]}
    return envelope(
        table.source,
        op=table.op,
        slots=table.slots,
        registrations=table.registrations,
        precedence=table.precedence,
        unseen=table.unseen,
        **compared,
    )


def table_row_json(op: str, slot: DispatchSlot) -> Object:
    """A row of ``torchnav export table``."""
    return {"op": op, **to_object(slot, "key kernel origin kind fallthrough")}


def member_json(member: Member) -> Object:
    """A row of ``torchnav tensorimpl``."""
    names = (*member.accessor_names, *[""] * len(member.accessors))
    accessors = [
        {"name": name, **to_object(one, "path line")}
        for name, one in zip(names, member.accessors, strict=False)
    ]
    return to_object(member, "name type bits comment path line", accessors=accessors)


def engine_function_json(function: EngineFunction) -> Object:
    """A row of ``torchnav engine``."""
    calls = [{"name": name, "line": line} for name, line in function.calls]
    return to_object(function, "name path line end_line phase comment", calls=calls)


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
