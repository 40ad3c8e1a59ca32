"""Answers as plain JSON values, by the contract (``docs/json.md``, ``schema_version`` 1).

The one place where an answer becomes a dictionary: keys have a fixed order, every key is always
present, and the absolute path of a tree never appears.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from indexes.model.answers import (
    Callee,
    Card,
    CardLine,
    Chain,
    DeviceKernelAnswer,
    EngineFunction,
    Hit,
    Hop,
    Member,
    NameMatch,
    Place,
    ReachingPath,
    Route,
    Unresolved,
    Way,
)
from indexes.model.code_map import CallMap, CallStep, FolderMap, MapEntry, Words
from indexes.model.errors import TorchnavError
from indexes.model.python import PythonCall, PythonCard, PythonPlace
from indexes.model.vocabulary import (
    SCHEMA_VERSION,
    Choice,
    Definition,
    DerivativeEntry,
    DtypeDispatch,
    Formula,
    FormulaSet,
    KernelRow,
    Location,
    OperatorSummary,
    Problem,
    SourceInfo,
    StubRow,
)

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | bool | None"
Object: TypeAlias = dict[str, Json]

_OF_LOCATION = ("path", "line", "end_line")
SHAPES: dict[type, str] = {}
"""The keys of each class: see ``shape``."""


def shape(cls: type, keys: str) -> None:
    """Defines the JSON keys of a class.

    A word is a key and the attribute of that name; ``key=a.b`` takes another attribute, possibly
    nested, and is null if that is absent. ``path``, ``line`` and ``end_line`` are those of
    ``location`` if the class has one. ``key?`` is null if empty, as an unknown ``end_line`` always
    is.
    """
    SHAPES[cls] = keys


def to_json(value: Any) -> Json:
    """An answer or part of one as plain values. Raises KeyError for a class without keys."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Mapping):
        return {key: to_json(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)) and type(value) not in SHAPES:
        return [to_json(one) for one in value]
    return to_object(value, SHAPES[type(value)])


def to_object(value: Any, keys: str, /, **others: Any) -> Object:
    """An object with these keys, as for ``shape``; ``others`` replace some, or follow."""
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
    """An answer with the version of the contract and its source."""
    return {
        "schema_version": SCHEMA_VERSION,
        "source": to_json(source),
        **{key: to_json(value) for key, value in answer.items()},
    }


def dumps(value: Any) -> str:
    """An answer as one line of ASCII, which cannot affect a terminal."""
    return json.dumps(to_json(value), allow_nan=False)


shape(Location, "path line")
shape(SourceInfo, "kind version commit dirty missing extensions")


# ------------------------------------------------------------------ the keys of each class

shape(
    OperatorSummary,
    "name=full_name schema path line end_line kind keys tags python_module has_derivative"
    " devices differentiable called",
)
shape(
    Hop,
    "id parent role device keys symbol path line end_line rule evidence confidence guard note"
    " dtypes choices work folded continues? again",
)
shape(Choice, "text arm path line")
shape(Route, "device kind symbol path line end_line via conditions confidence hop note beside")
shape(Way, "symbol path line")
shape(Card, "schema kind path line lines")
shape(CardLine, "label text path=location.path line=location.line note opens key")
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
shape(Callee, "kind name path line end_line rule confidence")
shape(ReachingPath, "op side devices via")
shape(Place, "kind name path line end_line detail operators rule calls ways")
shape(Hit, "kind name path line end_line detail op")
shape(NameMatch, "kind text overloads hits note suggestions namesakes confidence?")
shape(Problem, "path line message")

_FORMULA = "text path line kind"
_SYMBOL = "symbol=qualified path line"


def chain_json(
    chain: Chain,
    overloads: Iterable[str] = (),
    routes: Iterable[Route] = (),
    card: Card | None = None,
    match: NameMatch | None = None,
) -> Object:
    """The answer of ``torchnav op``. ``overloads``: all that the name can mean; ``match``: what it
    is; ``problems`` is present for an operator with some."""
    return envelope(
        chain.source,
        **({"match": match} if match else {}),
        op=chain.op,
        hops=chain.hops,
        unresolved=chain.unresolved,
        derivative=chain.derivative,
        overloads=list(overloads) or [chain.op.full_name],
        routes=[_with_hop(one, chain) for one in routes],
        card=card,
        **({"problems": chain.problems} if chain.problems else {}),
    )


def _with_hop(route: Route, chain: Chain) -> Route:
    """A route with the hop of its end, if the chain shows it."""
    for hop in chain.hops:
        if hop.location == route.location and hop.device in (None, route.device):
            return replace(route, hop=hop.id)
    return route


def dtype_row_json(function: Definition, one: DtypeDispatch) -> Object:
    """A row of ``torchnav export dtypes``."""
    return to_object(function, _SYMBOL, dispatch=one)


def derivative_row_json(entry: DerivativeEntry, functions: Iterable[Definition] = ()) -> Object:
    """A row of ``torchnav export derivatives``: the formulas of the default key.

    ``functions``: the tree's functions that its formulas call.
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
    return to_object(function, "name path line end_line phases comment", calls=calls)


def error_json(error: TorchnavError) -> Object:
    """What replaces an answer on stdout; the message is also on stderr."""
    return {
        "schema_version": SCHEMA_VERSION,
        "error": {
            "message": str(error),
            "exit_code": error.exit_code,
            "suggestions": list(error.suggestions),
            **({"namesakes": list(error.namesakes)} if error.namesakes else {}),
        },
    }


shape(PythonPlace, "kind name path line end_line")
shape(PythonCall, "name line definition=location operators times")


def python_json(card: PythonCard) -> Object:
    answer = card.answer
    return {
        "name": answer.name,
        "kind": answer.kind,
        "defined": answer.defined,
        "confidence": answer.confidence,
        "signature": card.signature,
        "doc": card.doc,
        "places": to_json(answer.places),
        "calls": to_json(card.calls),
        "calls_untold": card.untold,
        "members": to_json(card.members),
        "tests": to_json(card.tests),
        "documents": to_json(card.documents),
    }


shape(Words, "text path line")
shape(MapEntry, "kind path counts references words door")
shape(CallStep, "stage name path line folder why")


def folder_json(answer: FolderMap) -> Object:
    """The answer of ``torchnav map FOLDER``."""
    keys = "counts words entries doors"
    return envelope(answer.source, folder=answer.path, **to_object(answer, keys))


def call_json(answer: CallMap) -> Object:
    """The answer of ``torchnav map --call NAME``."""
    return envelope(answer.source, **to_object(answer, "op device steps unknown"))
