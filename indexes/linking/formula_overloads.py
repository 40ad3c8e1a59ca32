"""Which overload a formula calls: by how many arguments it gives, and by their types.

The types follow from the schema of the operator and from what formulas are made of:
``grad``, ``result``, ``self.scalar_type()``, ``self.sym_sizes()``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from indexes.codegen.cpp_types import native_parameters, normalize, split_parameters
from indexes.linking.arguments import split_arguments
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, NativeFunction
from indexes.readers.cxx.lexer import close
from indexes.readers.yaml.schema import parse_schema

_TENSORS = regex(r"(?:grads?(?:\[\w+\])?|results?\d*(?:\[\w+\])?|\w+_[pt]|original_self\w*)$")
_ELEMENT = regex(r"(\w+)\[\w+\]$")
_METHODS = {
    "scalar_type": "ScalarType",
    "sizes": "ArrayRef<int64_t>",
    "sym_sizes": "ArrayRef<SymInt>",
    "options": "TensorOptions",
    "layout": "Layout",
    "dim": "int64_t",
    "conj": "Tensor",
}
_METHOD = regex(r"\w+(?:\.\w+\(\))*\.(\w+)\(\)$")


def chosen_overloads(
    text: str, name: str, overloads: Sequence[Definition], native: NativeFunction | None
) -> list[Definition]:
    """The overloads that the call of ``name`` in a formula can mean."""
    given = _arguments(text, name)
    if given is None or len(overloads) < 2:
        return list(overloads)
    known = _types(native) if native else {}
    actual = [_type(argument, known) for argument in given]
    scores = {o: _score(actual, split_parameters(o.parameters)) for o in overloads}
    best = max(scores.values())
    return [o for o, score in scores.items() if score == best] if best >= 0 else list(overloads)


def _arguments(text: str, name: str) -> list[str] | None:
    """The arguments of the first call; None when they differ in number between calls."""
    calls = []
    for found in re.finditer(rf"(?<![\w.:]){re.escape(name)}\s*\(", text):
        ended = close(text, found.end() - 1)
        if ended < 0:
            return None
        calls.append(split_arguments(text[found.end() : ended]))
    return calls[0] if calls and len({len(call) for call in calls}) == 1 else None


def _types(native: NativeFunction) -> Mapping[str, str]:
    names = [argument.name for argument in parse_schema(native.schema).arguments]
    types = native_parameters(native, symint=False)
    # A formula gets an optional tensor as a tensor that may be undefined.
    return {
        n: "Tensor" if t == "optional<Tensor>" else t for n, t in zip(names, types, strict=True)
    }


def _type(argument: str, known: Mapping[str, str]) -> str:
    """The type of an argument as far as it shows; empty when it does not."""
    if argument in known:
        return known[argument]
    if _TENSORS.match(argument):
        return "Tensor"
    if element := _ELEMENT.match(argument):
        return known.get(element[1], "").removeprefix("ArrayRef<").removesuffix(">")
    method = _METHOD.match(argument)
    return _METHODS.get(method[1], "") if method else ""


def _score(actual: Sequence[str], parameters: Sequence[str]) -> int:
    """How well arguments fit; negative when they can't."""
    if len(actual) > len(parameters):
        return -1
    score = 10 if len(actual) == len(parameters) else 0
    for type_, parameter in zip(actual, parameters, strict=False):
        fit = _fit(type_, normalize(parameter))
        if fit < 0:
            return -1
        score += fit
    return score


def _fit(actual: str, parameter: str) -> int:
    if not actual:
        return 1
    if actual == parameter:
        return 2
    integers = {actual, parameter} <= {"int64_t", "SymInt"}
    lists = {actual, parameter} <= {"ArrayRef<int64_t>", "ArrayRef<SymInt>"}
    return 1 if integers or lists or parameter == f"optional<{actual}>" else -1
