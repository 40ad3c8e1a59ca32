"""Overload resolution of C++ for the few types that ATen's functions take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest

from indexes.codegen.cpp_types import normalize, split_parameters, written_parameters
from indexes.linking.facts import Call, Facts, Known, arguments_of, by_hand
from indexes.linking.visible import plain_scope
from indexes.model.files import GIVEN_SEPARATOR, PACK
from indexes.model.regex import regex
from indexes.model.schema import Argument, parse_schema
from indexes.model.vocabulary import NativeFunction
from indexes.readers.cxx.marks import ELEMENT, ELEMENTS, LIST, UNKNOWN, one_letter

Returned = Callable[[str], str]
"""Gives the mark of what the function of a name returns; ``?`` if unknown."""

_MARKS = {
    "Tensor": "T",
    "TensorBase": "T",
    "MaybeOwned<Tensor>": "T",
    "ArrayRef<Tensor>": "L",
    "ITensorListRef": "L",
    "vector<Tensor>": "L",
    "List<Tensor>": "L",
    "Scalar": "S",
    "ArrayRef<Scalar>": "A",
    "vector<Scalar>": "A",
    "int64_t": "i",
    "int32_t": "i",
    "uint64_t": "i",
    "size_t": "i",
    "int": "i",
    "unsigned": "i",
    "SymInt": "i",
    "double": "d",
    "float": "d",
    "bool": "b",
    "ArrayRef<int64_t>": "I",
    "ArrayRef<SymInt>": "I",
    "vector<int64_t>": "I",
    "string_view": "s",
    "string": "s",
    "char*": "s",
    "TensorOptions": "O",
    "ScalarType": "D",
    "Generator": "G",
}
_SEVERAL = regex(r"\.\.\.|^\s*[A-Z][A-Z0-9_]{3,}\s*(?:\(|$)")
"""A parameter that stands for several: a pack, or a macro that expands to parameters."""
_OTHER = "X"
"""The mark of other schema types, which only ``None`` fits: ``Dimname[]``, ``Layout``."""
_ANY = "?t"
"""A type that looks like a template's own parameter: ``T``, ``scalar_t``."""
_OWN_TYPE = regex(r"(?:[A-Z]\d?|\w*scalar_t|opmath_t)$")
_NO_NAME = regex(r"\W+")
_NUMBERS = frozenset("idb")
_WIDENING = {"T": "LO", "i": "SI", "d": "S", "b": "S", "D": "O", "I": "?", "S": "A"}
"""Implicit conversions: the marks of the parameters that a value of a mark converts to."""


# ------------------------------------------------------------------------- C++ functions


def chosen(
    call: Call, candidates: Sequence[Known], returned: Returned, by_types: bool = True
) -> list[Known]:
    """The overloads a call can mean, by the number of arguments and, if ``by_types``, their types.
    All of them if the arguments are unknown."""
    marks = arguments_of(call) if candidates else None
    if marks is None or call.kind == "name":
        return list(candidates)
    if not by_types:
        marks = [UNKNOWN] * len(marks)
    given = bool(call.template)
    scored = _scored(candidates, marks, returned, given, all_given=True)
    if not scored:  # defaults stand where a function is declared, not where it is defined
        scored = _scored(candidates, marks, returned, given, all_given=False)
    found = _best(scored)
    able = [one for _, one in scored]
    literals = list(_literals(call, marks)) if len(found) < len(able) else []
    if any(literals) and _by_pointers(able, marks, returned):
        marks = [UNKNOWN if one else mark for one, mark in zip(literals, marks, strict=True)]
        return _best(_scored(able, marks, returned, given, all_given=False))
    return found


def _best(scored: Sequence[tuple[int, Known]]) -> list[Known]:
    best = max((score for score, _ in scored), default=-1)
    return [one for score, one in scored if score == best]


def _literals(call: Call, marks: Sequence[str]) -> Iterator[bool]:
    """Whether each argument is a number in writing, which converts to all types of numbers."""
    texts = call.given.split(GIVEN_SEPARATOR)
    for mark, text in zip_longest(marks, texts[: len(marks)], fillvalue=""):
        yield mark.rpartition("=")[2] in _NUMBERS and text[:1].isdigit()


def _by_pointers(candidates: Sequence[Known], marks: Sequence[str], returned: Returned) -> bool:
    """Whether a pointer of unknown type decides, as ``data_ptr<scalar_t>()``."""
    listed = [split_parameters(one.definition.parameters) for one in candidates]
    for at, mark in enumerate(marks):
        if mark == UNKNOWN or (mark[0] == "." and one_letter(returned(mark[1:])) == UNKNOWN):
            types = {normalize(one[at]) for one in listed if len(one) > at}
            if len(types) > 1 and all("*" in one for one in types):
                return True
    return False


def able(call: Call, candidates: Sequence[Known], returned: Returned) -> list[Known]:
    """The functions that can take the arguments of a call; all of them if none can."""
    marks = arguments_of(call) or []
    scored = _scored(candidates, marks, returned, bool(call.template), all_given=True)
    return [one for _, one in scored] or list(candidates)


def _scored(
    candidates: Sequence[Known],
    marks: Sequence[str],
    returned: Returned,
    types_given: bool,
    all_given: bool,
) -> list[tuple[int, Known]]:
    """The candidates that accept the arguments, with a score of how well. ``types_given``: the call
    names template arguments, as ``f<scalar_t>(x)``."""
    found = []
    for one in candidates:
        definition = one.definition
        if definition.kind == "macro":
            found.append((0, one))
            continue
        own_types = types_given and definition.template
        parameters, fewest = _parameters(definition.parameters, own_types)
        more = len(marks) - len(parameters)
        if (len(marks) < fewest and all_given) or (more > 0 and parameters[-1:] != (PACK,)):
            continue
        fits = [fit(*pair, returned) for pair in zip(marks, parameters, strict=False)]
        if -1 not in fits:
            found.append((sum(fits) + max(more, 0), one))  # what a pack takes fits as it does
    return found


@lru_cache(65536)
def _parameters(text: str, own_types: bool) -> tuple[tuple[str, ...], int]:
    listed = written_parameters(text)
    if [one.strip() for one in listed] in (["void"], [""]):
        return (), 0
    several = [_SEVERAL.search(one) is not None for one in listed]
    needed = sum(1 for one in listed if "=" not in one)
    fewest = 0 if any(several) else needed
    marks = (parameter_mark(one, own_types) for one in listed)
    return tuple(PACK if many else mark for many, mark in zip(several, marks, strict=True)), fewest


def parameter_mark(text: str, own_types: bool = False) -> str:
    """The mark of a parameter's type; ``?`` if unknown."""
    plain = normalize(next(iter(split_parameters(text)), ""))
    if plain.startswith("optional<"):
        return _MARKS.get(plain[9:-1], "?") + "?"
    return _MARKS.get(plain) or (_ANY if own_types and _OWN_TYPE.match(plain) else "?")


def fit(mark: str, parameter: str, returned: Returned) -> int:
    """How well an argument fits a parameter: 2 same type, 1 converted or unknown, -1 not."""
    if mark == UNKNOWN:
        return 1
    if len(mark) > 1:
        mark = (mark.partition("=")[2] or mark).removeprefix(LIST)
        if mark[0] == ".":
            mark = one_letter(returned(mark[1:]))
    wanted, optional = parameter[:1], parameter.endswith("?") and len(parameter) > 1
    if wanted == _OTHER:
        return 1 if mark == UNKNOWN else 2 if mark == "N" and optional else -1
    if parameter == _ANY and mark != UNKNOWN:
        return 2  # what a template takes of any type becomes nothing else
    if mark == UNKNOWN or wanted == "?" or parameter == PACK:
        return 1
    if mark == "N":
        return 2 if optional or wanted in "TOILA" else -1
    if mark == wanted:
        return 2
    if mark in _NUMBERS and wanted in _NUMBERS:
        return 1
    return 1 if wanted in _WIDENING.get(mark, "") else -1


# ------------------------------------------------------------------------------ operators


def operator_base(call: Call) -> str:
    """The name of the operator in a call: ``add`` for ``at::add_out``,
    ``at::_ops::add_Tensor::call`` and ``at::add_symint_out`` (torchgen/api/cpp.py)."""
    if "_ops" in call.qualifier:
        name = call.qualifier.rpartition("::")[2]
        return name.rpartition("_")[0] or name
    return call.name.removesuffix("_outf").removesuffix("_out").removesuffix("_symint")


def mark_of_result(facts: Facts, name: str) -> str:
    """The mark of what an operator or function returns.

    ``name#1`` is one of several results, ``name[]`` an element, ``name.other`` the result of the
    method ``other`` on it, ``Type::name`` the result of a method of a class.
    """
    if name.endswith(ELEMENT):
        return ELEMENTS.get(mark_of_result(facts, name.removesuffix(ELEMENT)), UNKNOWN)
    first, _, name = name.rpartition(".")
    scope, _, name = name.rpartition("::")
    owner = mark_of_result(facts, first) if first else scope
    if owner in facts.tensor_names:
        owner = "T"
    if len(owner) > 1:
        return _declared_mark(facts, name, owner)
    if (first or owner) and owner != "T":
        return UNKNOWN
    simple, _, place = name.partition("#")
    overloads = facts.overloads(operator_base(Call(simple, "at", 0, "call", "")))
    if not overloads:
        return UNKNOWN if owner else _declared_mark(facts, name)
    returned = [[one.type for one in parse_schema(found.schema).returns] for found in overloads]
    if place:
        types = {listed[int(place)] for listed in returned if len(listed) > int(place)}
    else:
        types = {listed[0] for listed in returned if len(listed) == 1}
    only = types.pop() if len(types) == 1 else ""
    return {"Tensor": "T", "Tensor[]": "L", "Scalar": "S"}.get(only, UNKNOWN)


def _declared_mark(facts: Facts, name: str, owner: str = "") -> str:
    """The mark that all functions of a name return, or all methods of it in classes named
    ``owner``. ``name#1`` is one of several results."""
    name, _, place = name.partition("#")
    found = (one.definition for one in facts.named(name))
    marks = {
        one.returns
        for one in found
        if one.kind == "function"
        and (not owner or plain_scope(one.scope).rpartition("::")[2] == owner)
    }
    mark = marks.pop() if len(marks) == 1 else UNKNOWN
    parts = mark.split() if " " in mark else []
    if place and int(place) < len(parts):
        return parts[int(place)]
    return UNKNOWN if place or parts else mark


def fitting(
    call: Call, overloads: Sequence[NativeFunction], returned: Returned
) -> list[NativeFunction]:
    """The overloads of an operator that a call can mean, by argument types, or by their number
    alone if no overload fits the types."""
    out = call.name.endswith(("_out", "_outf"))
    member = call.kind == "member"
    able = [o for o in overloads if _is_callable(o, out, member)]
    marks = arguments_of(call)
    if marks is None or call.kind == "name":
        return able
    last = call.name.endswith("_outf")
    known = [_operator_parameters(one.schema, _without_default(one), member, last) for one in able]
    for given in (marks, [UNKNOWN] * len(marks)):
        scores = [_operator_score(parameters, given, returned) for parameters in known]
        best = max(scores, default=-1)
        if best >= 0:
            return [one for one, score in zip(able, scores, strict=True) if score == best]
    return []


def _without_default(function: NativeFunction) -> str:
    return _NO_NAME.sub(" ", function.flags.get("cpp_no_default_args", ""))


def _is_callable(function: NativeFunction, out: bool, member: bool) -> bool:
    if bool(parse_schema(function.schema).out_arguments) is not out:
        return False
    return not member or "method" in function.variants or by_hand(function)


_Parameters = tuple[tuple[tuple[str, str], ...], int]
"""The name and mark of each parameter, and the number without a default."""


def _operator_score(parameters: _Parameters, marks: Sequence[str], returned: Returned) -> int:
    ordered, fewest = parameters
    if not fewest <= len(marks) <= len(ordered):
        return -1
    total = 0
    for mark, (name, wanted) in zip(marks, ordered, strict=False):
        text = mark.partition("=")[0] if "=" in mark else ""
        one = fit(mark, wanted, returned)
        if one < 0:
            return -1
        total += one + (1 if text == name else -1 if text else 0)
    return max(total, 0)


@lru_cache(8192)
def _operator_parameters(schema: str, given: str, member: bool, out_last: bool) -> _Parameters:
    """The parameters of an operator's C++ function; ``given``: arguments without a default in C++.
    The four options of a factory are one ``TensorOptions``."""
    ordered = parse_schema(schema).in_cpp(member, out_last)
    options = [a for a in ordered if a.name in ("dtype", "layout", "device", "pin_memory")]
    marks = [(a.name, _schema_mark(a)) for a in ordered]
    needed = (a for a in ordered if a.default is None or a.name in given.split())
    if len(options) < 4:
        return tuple(marks), sum(1 for _ in needed)
    return tuple(_options_as_one(marks)), sum(1 for a in needed if a not in options)


def _options_as_one(marks: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Replaces ``dtype`` by ``options``: either may be given for the four options."""
    at = next(i for i, (name, _) in enumerate(marks) if name == "dtype")
    return [*marks[:at], ("options", "?"), *marks[at + 1 :]]


def _schema_mark(argument: Argument) -> str:
    type_ = argument.type
    optional = "?" if type_.endswith("?") else ""
    plain = type_.removesuffix("?").partition("(")[0]
    if plain.endswith("]"):
        elem = plain.partition("[")[0].removesuffix("?")
        mark = {"Tensor": "L", "int": "I", "SymInt": "I", "Scalar": "A"}.get(elem, _OTHER)
    else:
        names = {"int": "i", "SymInt": "i", "float": "d", "str": "s"}
        mark = names.get(plain) or _MARKS.get(plain, _OTHER)
    return mark + optional
