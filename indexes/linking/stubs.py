"""Second hop: stubs, the lines that register functions on them, and those functions.

A stub's function stands in the file of its REGISTER line. Which device a line is for
follows from the macro, or, for the plain REGISTER_DISPATCH, from how the file is
compiled: CUDA for ``.cu``, MPS for ``.mm``, one CPU capability otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from indexes.linking.arguments import split_arguments
from indexes.linking.facts import Facts, Known, StubUse
from indexes.model.regex import regex
from indexes.model.vocabulary import StubRow

_DEVICES = ("CUDA", "XPU", "HIP", "MPS", "MTIA", "PRIVATEUSE1")
_BY_SUFFIX = {".cu": "CUDA", ".cuh": "CUDA", ".mm": "MPS", ".hip": "CUDA"}
_TEMPLATE = regex(r"<.*>\s*$", re.DOTALL)


def device_of(use: StubUse) -> str:
    """The device type that a registration is for."""
    for device in _DEVICES:
        if f"REGISTER_{device}_DISPATCH" in use.macro:
            return device
    if use.macro == "REGISTER_DISPATCH":
        suffix = use.location.path[use.location.path.rfind(".") :]
        return _BY_SUFFIX.get(suffix, "CPU")
    return "CPU"


def registered_function(use: StubUse) -> str:
    """What a registration registers, as written; ``nullptr`` for none."""
    arguments = split_arguments(use.arguments)
    if "REGISTER_NO_" in use.macro:
        return "nullptr"
    return arguments[-1] if len(arguments) > 1 else ""


def architecture(use: StubUse) -> str:
    """``REGISTER_ARCH_DISPATCH:DEFAULT`` for a macro that takes the architecture; else its name."""
    arguments = split_arguments(use.arguments)
    if use.macro.endswith("REGISTER_ARCH_DISPATCH") and len(arguments) == 3:
        return f"{use.macro}:{arguments[1]}"
    return use.macro


def stub_row(use: StubUse, facts: Facts) -> StubRow:
    """One registration with the definition of what it registers."""
    function = registered_function(use)
    stub = use.stub.rpartition("::")[2]
    found, reason = _function(use, function, facts)
    definition = found[0].definition if found else None
    others = tuple(k.definition for k in found) if len(found) > 1 else ()
    return StubRow(
        stub,
        device_of(use),
        architecture(use),
        function,
        use.location,
        definition,
        reason,
        use.guard,
        others,
    )


def _function(use: StubUse, function: str, facts: Facts) -> tuple[list[Known], str]:
    name = function_name(function)
    if name == "nullptr" or "nullptr" in function:
        return [], "registered as nullptr: no kernel for this capability"
    if function.startswith("["):
        return [], "registers a lambda: its body is on the registration line"
    if not name:
        return [], f"cannot read the registered function in {use.macro}({use.arguments})"
    known = registered(use, name, function, facts)
    return known, "" if known else f"no definition of {name} in {use.location.path}"


def function_name(function: str) -> str:
    """The bare name in ``&CPU_CAPABILITY::acos_kernel`` or ``&qadd_kernel<true>``."""
    return _TEMPLATE.sub("", function.lstrip("&( ").rstrip(") ")).strip().rpartition("::")[2]


def registered(use: StubUse, name: str, function: str, facts: Facts) -> list[Known]:
    """The function of that name that the registration sees, in its own file.

    Several only when each stands under an ``#if`` of its own; the one under the
    registration's guard, or else the nearest above it, first.
    """
    here = [
        k
        for k in facts.named(name)
        if k.definition.location.path == use.location.path and k.definition.kind == "function"
    ]
    qualifier = _TEMPLATE.sub("", function.lstrip("&( ")).rpartition("::")[0]
    if qualifier:
        here = [k for k in here if qualifier.split("::")[-1] in k.definition.scope] or here
    return _ordered(here, use)


def _ordered(here: Sequence[Known], use: StubUse) -> list[Known]:
    if not here:
        return []
    same = [k for k in here if k.definition.guard == use.guard] or list(here)
    above = [k for k in same if k.definition.location.line <= use.location.line]
    best = (above or same)[-1]
    if len({k.definition.guard for k in here}) < len(here):
        return [best]  # overloads rather than alternatives
    return [best, *(k for k in here if k.id != best.id)]
