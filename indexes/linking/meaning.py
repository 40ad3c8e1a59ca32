"""Whether a use of a name means one definition, and how sure that is: C++ lookup in reverse."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from indexes.codegen.cpp_types import split_parameters
from indexes.linking.facts import Call, Facts, Known
from indexes.linking.overloads import call_arguments
from indexes.linking.visible import (
    in_scope,
    is_header,
    linkable,
    path_device,
    plain_scope,
    visible_functions,
)
from indexes.model.regex import regex
from indexes.model.vocabulary import Confidence

STRUCTURED_BASES = frozenset({"TensorIteratorBase", "MetaBase", "TensorIterator"})
"""What torchgen derives structured kernels from: their methods are called without a receiver."""
_NO_TYPES = frozenset("return else const new delete throw case typename using goto and or".split())
_UNTYPED = _NO_TYPES | {"auto"}


class MeaningFacts(Facts, Protocol):
    """What deciding on a meaning asks besides."""

    def lines(self, path: str) -> list[str]:
        """The lines of a C++ file, comments and strings blank."""

    def bases(self, name: str) -> frozenset[str]:
        """The classes that a class derives from, far ones too, by simple names."""

    def used_namespaces(self, path: str, scope: str) -> frozenset[str]:
        """Namespaces whose names are seen through ``using namespace``."""


@dataclass(frozen=True, slots=True)
class Meant:
    """How a use of a name means a definition."""

    rule: str
    confidence: Confidence
    candidates: int = 1


def is_method(known: Known, facts: Facts) -> str:
    """The class that a function is a method of; empty for a free function."""
    outer, _, owner = plain_scope(known.definition.scope).rpartition("::")
    for one in facts.named(owner) if owner else ():
        if one.definition.kind == "class" and plain_scope(one.definition.scope) == outer:
            return owner
    return ""


def meaning(
    call: Call, caller: Known, receiver: str, wanted: Known, facts: MeaningFacts
) -> Meant | None:
    """How ``call`` in ``caller`` means ``wanted``; None when it means something else."""
    kind = wanted.definition.kind
    if kind == "macro":
        return _macro(call, caller, wanted, facts)
    if kind in ("class", "enum", "global"):
        return _named(call, caller, wanted, facts)
    if call.kind == "member":
        owner = is_method(wanted, facts)
        return _member(call, caller, receiver, owner, facts) if owner else None
    if caller.definition.kind == "macro":
        return _in_macro(caller, wanted)
    if call.qualifier.startswith("std") or not linkable(wanted, caller.definition.location.path):
        return None
    if not call.qualifier and _declared(call.name, call, caller, facts, _NO_TYPES):
        return None  # a parameter or a local variable of that name
    if in_scope(call, wanted, plain_scope(caller.definition.scope)):
        visible = visible_functions(call, caller, facts)
        if any(k.id == wanted.id for k in visible):
            return _called(call, caller, visible, wanted, facts, "calls it")
        return None
    found = _inherited(call, caller, wanted, facts)
    found = found or _through_using(call, caller, wanted, facts)
    return None if found and visible_functions(call, caller, facts) else found


def _called(
    call: Call,
    caller: Known,
    visible: Sequence[Known],
    wanted: Known,
    facts: MeaningFacts,
    rule: str,
) -> Meant | None:
    """Among overloads, those that take as many arguments as are given."""
    if call.kind == "launch":
        rule = "launches it with <<<>>>"
    if call.kind == "name":
        rule = "passes it on by name"
    fitting = _by_arity(call, caller, visible, facts)
    if all(k.id != wanted.id for k in fitting):
        return None
    if len(fitting) == 1:
        return Meant(rule, "exact")
    return Meant(f"{rule}; the argument types decide", "ambiguous", len(fitting))


def _by_arity(
    call: Call, caller: Known, visible: Sequence[Known], facts: MeaningFacts
) -> Sequence[Known]:
    if len(visible) < 2 or call.kind != "call":
        return visible
    lines = facts.lines(caller.definition.location.path)
    given = call_arguments(lines, call.line, call.name)
    if given is None:
        return visible
    fitting = [k for k in visible if _takes(k, len(given))]
    return fitting or visible


def _takes(known: Known, count: int) -> bool:
    """Whether a function can be given ``count`` arguments. What defaults a declaration in
    another file gives is not known, so fewer are always possible."""
    if known.definition.kind != "function":
        return True
    parameters = known.definition.parameters
    return "..." in parameters or count <= len(split_parameters(parameters))


def _in_macro(caller: Known, wanted: Known) -> Meant | None:
    """A macro's body means what is seen where the macro is used."""
    if not linkable(wanted, caller.definition.location.path):
        return None
    return Meant("the body of a macro names it", "by rule")


def _macro(call: Call, caller: Known, wanted: Known, facts: Facts) -> Meant | None:
    if call.kind == "member" or call.qualifier:
        return None
    path = caller.definition.location.path
    macros = [k for k in facts.named(call.name) if k.definition.kind == "macro"]
    here = [k for k in macros if k.definition.location.path == path]
    above = [k for k in here if k.definition.location.line <= call.line]
    here = [max(above, key=lambda k: k.definition.location.line)] if above else here
    seen = here or [k for k in macros if is_header(k.definition.location.path)]
    if all(k.id != wanted.id for k in seen):
        return None
    if len(seen) == 1:
        return Meant("uses the macro", "exact")
    if len({k.definition.location.path for k in seen}) == 1:
        return Meant("uses the macro, whose definition #if chooses", "by rule")
    return Meant("uses a macro of that name", "ambiguous", len(seen))


def _named(call: Call, caller: Known, wanted: Known, facts: MeaningFacts) -> Meant | None:
    """A class or a variable that a body names."""
    if call.kind == "member":
        return None
    definition = wanted.definition
    path = caller.definition.location.path
    if definition.location.path != path and not is_header(definition.location.path):
        return None
    same = [k for k in facts.named(call.name) if k.definition.kind == definition.kind]
    if not _in_sight(call, caller, wanted, facts):
        return None
    here = [k for k in same if k.definition.location.path == path] or same
    if all(k.id != wanted.id for k in here):
        return None
    if len(here) == 1:
        return Meant("names it", "exact")
    return Meant("names something called so", "ambiguous", len(here))


def _in_sight(call: Call, caller: Known, wanted: Known, facts: MeaningFacts) -> bool:
    here = plain_scope(caller.definition.scope)
    return in_scope(call, wanted, here) or bool(_through_using(call, caller, wanted, facts))


# ------------------------------------------------------------------------ using, methods


def _through_using(call: Call, caller: Known, wanted: Known, facts: MeaningFacts) -> Meant | None:
    """A name of a namespace that a ``using namespace`` lets be written without it."""
    path = caller.definition.location.path
    scope = plain_scope(wanted.definition.scope)
    here = plain_scope(caller.definition.scope)
    if not linkable(wanted, path) or not _same_device(wanted, path):
        return None
    for used in facts.used_namespaces(path, here):
        full = f"{used}::{call.qualifier}" if call.qualifier else used
        if scope == full:
            count = sum(
                1 for k in facts.named(call.name) if plain_scope(k.definition.scope) == full
            )
            rule = f"calls it, seen through using namespace {used}"
            return Meant(rule, "by rule" if count == 1 else "ambiguous", count)
    return None


def _same_device(wanted: Known, path: str) -> bool:
    devices = {path_device(wanted.definition.location.path), path_device(path)}
    return len(devices - {""}) < 2


def _inherited(call: Call, caller: Known, wanted: Known, facts: MeaningFacts) -> Meant | None:
    """A method called without a receiver in a class that derives from its own."""
    owner = is_method(wanted, facts)
    if not owner or call.qualifier:
        return None
    if caller.definition.kind in ("meta_func", "impl_func"):
        if owner in STRUCTURED_BASES or owner in facts.bases("TensorIterator"):
            return Meant(f"calls a method that structured kernels inherit from {owner}", "by rule")
        return None
    own = is_method(caller, facts)
    if own and owner in facts.bases(own):
        return Meant(f"calls a method that {own} inherits from {owner}", "by rule")
    return None


def _member(
    call: Call, caller: Known, receiver: str, owner: str, facts: MeaningFacts
) -> Meant | None:
    """``x.name(...)``: by the declared type of ``x`` where the function tells it."""
    declared = _declared(receiver, call, caller, facts)
    if declared:
        if declared == owner:
            return Meant(f"calls it on {receiver}, declared {owner}", "exact")
        if owner in facts.bases(declared) or declared in facts.bases(owner):
            return Meant(f"calls it on {receiver}, declared {declared}", "by rule")
        if any(k.definition.kind == "class" for k in facts.named(declared)):
            return None  # an alias or a template parameter could still mean the owner
    classes = {
        is_method(k, facts) for k in facts.named(call.name) if k.definition.kind == "function"
    } - {""}
    rule = f"calls a method of that name; {len(classes)} classes have one"
    return Meant(rule, "ambiguous", len(classes))


def _declared(
    receiver: str,
    call: Call,
    caller: Known,
    facts: MeaningFacts,
    no_types: frozenset[str] = _UNTYPED,
) -> str:
    """The simple name of the type that a receiver is declared with; empty when not told."""
    if not receiver:
        return ""
    if receiver == "this":
        return is_method(caller, facts)
    where = caller.definition.location
    lines = facts.lines(where.path)[where.line - 1 : call.line]
    text = f"{caller.definition.parameters},\n" + "\n".join(lines)
    types: list[str] = []
    for found in re.finditer(rf"\b{receiver}\b\s*(?=[=;,)}}{{([]|:(?!:))", text):
        before = _TYPE.search(text[max(0, found.start() - _LONGEST_TYPE) : found.start()])
        if before and before[1] not in no_types:
            types.append(before[1])
    return types[-1] if types else ""


_TYPE = regex(r"([A-Za-z_]\w*)\s*(?:<[^;{}()<>]*>)?\s*[&*]*\s*(?:\bconst\s+)?(?<=[\s&*])$")
_LONGEST_TYPE = 80
