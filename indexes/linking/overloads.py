"""Which overload a C++ call of an operator means, as far as its arguments as written tell."""

from __future__ import annotations

import re
from collections.abc import Sequence

from indexes.linking.facts import Call
from indexes.linking.preprocess import opened_call, split_arguments
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, NativeFunction
from indexes.readers.cxx.lexer import close
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


BY_HAND = "whose C++ binding is written by hand (manual_cpp_binding): it need not dispatch"


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
