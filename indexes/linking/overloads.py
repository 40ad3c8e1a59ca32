"""Which overload a call means, in C++ and in the formulas of derivatives.yaml, as far as its
arguments tell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from indexes.codegen.cpp_types import native_parameters, normalize, split_parameters
from indexes.linking.facts import Call, Facts
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, DerivativeEntry, Formula, NativeFunction
from indexes.readers.cxx.lexer import close
from indexes.readers.cxx.preprocess import opened_call, split_arguments
from indexes.readers.yaml.schema import Argument, parse_schema

_NUMBER = regex(r"-?(?:\d[\w.']*|(?:static_cast<\w+>|int64_t)\(.*\)|true|false)$")
_NUMBERS = frozenset("-0123456789sitf")
"""What a number can begin with."""


def call_arguments(lines: Sequence[str], line: int, name: str) -> list[str] | None:
    """The arguments of the call of ``name`` that begins on ``line``; None when not found."""
    text = "\n".join(lines[line - 1 : line + 30])
    opened = opened_call(text, name)
    ended = close(text, opened) if opened >= 0 else -1
    return None if ended < 0 else split_arguments(text[opened + 1 : ended])


def receiver_is_tensor(lines: Sequence[str], call: Call, caller: Definition) -> bool:
    """Whether ``x`` in ``x.name(...)`` is declared a Tensor: a parameter, or a local above."""
    named = rf"([A-Za-z_]\w*)\s*(?:\.|->)\s*{re.escape(call.name)}\s*\("
    found = re.search(named, lines[call.line - 1])
    if not found:
        return False
    declared = re.compile(rf"\bTensor\s*[&*]*\s*(?:const\s+)?{re.escape(found.group(1))}\b")
    above = lines[caller.location.line - 1 : call.line]
    return any(map(declared.search, (caller.parameters, *above)))


def by_hand(function: NativeFunction) -> bool:
    """Whether its C++ function or method is not made by torchgen: it may answer by itself, as
    ``x.is_complex()`` and ``x.size(0)`` do, instead of calling the dispatcher."""
    return function.flags.get("manual_cpp_binding", "").lower() == "true"


def fitting_overloads(
    call: Call, overloads: Sequence[NativeFunction], arguments: list[str] | None
) -> list[NativeFunction]:
    """Overloads that a call can mean, best first."""
    out = call.name.endswith(("_out", "_outf"))
    member = call.kind == "member"
    fitting = []
    for function in overloads:
        schema = parse_schema(function.schema)
        if bool(schema.out_arguments) is not out:
            continue
        if member and "method" not in function.variants and not by_hand(function):
            continue
        if arguments is not None and not _accepts(schema.arguments, arguments, member):
            continue
        fitting.append(function)
    return fitting


def _accepts(parameters: Sequence[Argument], given: list[str], member: bool) -> bool:
    outs = [p for p in parameters if p.is_out]
    plain = [p for p in parameters if not p.is_out]
    if member:
        plain = [p for p in plain if p.name != "self"]
    options = [p for p in plain if p.name in ("dtype", "layout", "device", "pin_memory")]
    ordered = [*outs, *plain]
    fewest = sum(1 for p in ordered if p.default is None and p not in options)
    if not fewest <= len(given) <= len(ordered):
        return False
    if len(options) == 4:
        return True
    return all(_fits(p, text) for p, text in zip(ordered, given, strict=False))


def _fits(parameter: Argument, text: str) -> bool:
    """Whether a literal could be passed; a name could be anything."""
    type_ = parameter.type
    if text.isdecimal() or (text[:1] in _NUMBERS and _NUMBER.match(text)):
        return not type_.startswith(("Tensor", "Generator", "str", "Dimname"))
    if text[:1] == "{" and text[-1] == "}":
        return type_.endswith(("]", "]?"))
    return True


_CALL = regex(
    r"(?P<member>\.|->)?\s*(?P<name>(?:[A-Za-z_]\w*\s*::\s*)*[A-Za-z_]\w*)\s*"
    r"(?:<(?:[^<>()]|<[^<>()]*>)*>)?\s*\("
)
_STRING = regex(r'"(?:\\.|[^"\\])*"')
_NO_CALLS = frozenset(
    {"if", "for", "while", "switch", "return", "sizeof", "static_cast", "const_cast"}
    | {"reinterpret_cast", "dynamic_cast", "decltype", "not", "and", "or"}
)
_OWN_SCOPES = (
    "torch::autograd::generated::details",
    "torch::autograd::generated",
    "torch::autograd",
    "torch",
)
"""Where the generated Functions.cpp looks a name up before it means an operator."""
_OTHER_SCOPES = ("at", "c10", "at::native", "")


def formula_calls(text: str) -> tuple[str, ...]:
    """The free functions a formula calls, each once, in order, as qualified in it
    (``at::where``). Constructors look the same and are included."""
    calls = (found for found in _CALL.finditer(_STRING.sub('""', text)) if not found["member"])
    names = dict.fromkeys("".join(found["name"].split()) for found in calls)
    return tuple(name for name in names if name not in _NO_CALLS)


@dataclass(frozen=True, slots=True)
class FormulaFunction:
    """A function that a formula calls: a definition, an operator, or neither when not found."""

    name: str
    formula: Formula
    definition: Definition | None
    operator: str | None = None
    candidates: int = 1


def formula_functions(entry: DerivativeEntry, facts: Facts) -> list[FormulaFunction]:
    """Every function in an entry's formulas, each name once."""
    found: dict[tuple[str, int, str], FormulaFunction] = {}
    for one in entry.sets:
        for formula in one.formulas:
            for name in formula_calls(formula.text):
                for function in _meant(name, formula, entry, facts):
                    place = str(function.definition.location) if function.definition else ""
                    found.setdefault((name, formula.location.line, place), function)
    return list(found.values())


def _meant(
    name: str, formula: Formula, entry: DerivativeEntry, facts: Facts
) -> list[FormulaFunction]:
    simple = name.rpartition("::")[2]
    definitions = _definitions(name, simple, facts)
    if definitions:
        native = facts.native(entry.op) if len(definitions) > 1 else None
        definitions = chosen_overloads(formula.text, name, definitions, native)
        count = len(definitions)
        return [FormulaFunction(name, formula, d, None, count) for d in definitions]
    base = simple.removesuffix("_symint").removesuffix("_out")
    if facts.overloads(base):
        return [FormulaFunction(name, formula, None, base)]
    if name.startswith("std::") or facts.is_type(simple):
        return []  # the standard library, or a constructor
    others = _in_scopes(name, (*_OWN_SCOPES, *_OTHER_SCOPES), facts) or _nominated(name, facts)
    if others:
        others = chosen_overloads(formula.text, name, others, facts.native(entry.op))
        return [FormulaFunction(name, formula, d, None, len(others)) for d in others]
    return [FormulaFunction(name, formula, None)]


def _definitions(name: str, simple: str, facts: Facts) -> Sequence[Definition]:
    known = [k.definition for k in facts.named(simple) if k.definition.kind == "function"]
    wanted = name.rpartition("::")[0]
    manual = [d for d in known if "FunctionsManual" in d.location.path]
    if manual and (not wanted or any(d.scope.endswith(wanted) for d in manual)):
        return manual
    return _in_scopes(simple, _OWN_SCOPES, facts)


def _in_scopes(name: str, scopes: Sequence[str], facts: Facts) -> list[Definition]:
    """The functions of the first of ``scopes`` that has any; ``GradMode::is_enabled`` is a
    function of the class in one of them."""
    within, _, simple = name.rpartition("::")
    known = [k.definition for k in facts.named(simple) if k.definition.kind == "function"]
    for scope in scopes:
        wanted = "::".join(filter(None, (scope, within)))
        if found := [d for d in known if d.scope == wanted]:
            return found
    return []


def _nominated(name: str, facts: Facts) -> list[Definition]:
    """``at::f`` of a namespace that a header opens in ``at`` by ``using namespace``."""
    within, _, simple = name.rpartition("::")
    scopes = facts.nominated(within) if within else ()
    return _in_scopes(simple, scopes, facts)


# ------------------------------------------------------------------------------ overloads

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
