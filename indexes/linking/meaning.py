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
from indexes.readers.cxx.idioms import STRUCTURED

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
    return _Use(call, caller, receiver, facts).means(wanted)


@dataclass(frozen=True, slots=True)
class _Use:
    """A use of a name, and where it is made."""

    call: Call
    caller: Known
    receiver: str
    facts: MeaningFacts

    @property
    def path(self) -> str:
        return self.caller.definition.location.path

    @property
    def scope(self) -> str:
        return plain_scope(self.caller.definition.scope)

    def means(self, wanted: Known) -> Meant | None:
        call, kind = self.call, wanted.definition.kind
        if kind == "macro":
            return self._macro(wanted)
        if kind in ("class", "enum", "global"):
            return self._named(wanted)
        if call.kind == "member":
            owner = is_method(wanted, self.facts)
            return self._member(owner) if owner else None
        if self.caller.definition.kind == "macro":
            # What is seen where the macro is used.
            seen = linkable(wanted, self.path)
            return Meant("the body of a macro names it", "by rule") if seen else None
        if call.qualifier.startswith("std") or not linkable(wanted, self.path):
            return None
        if not call.qualifier and self._declared(call.name, _NO_TYPES):
            return None  # a parameter or a local variable of that name
        visible = visible_functions(call, self.caller, self.facts)
        if in_scope(call, wanted, self.scope):
            return self._called(visible, wanted)
        found = self._inherited(wanted) or self._through_using(wanted)
        return None if found and visible else found

    def _called(self, visible: Sequence[Known], wanted: Known) -> Meant | None:
        """Among overloads, those that take as many arguments as are given."""
        rules = {"launch": "launches it with <<<>>>", "name": "passes it on by name"}
        rule = rules.get(self.call.kind, "calls it")
        fitting = self._by_arity(visible)
        if not _holds(fitting, wanted):
            return None
        if len(fitting) == 1:
            return Meant(rule, "exact")
        return Meant(f"{rule}; the argument types decide", "ambiguous", len(fitting))

    def _by_arity(self, visible: Sequence[Known]) -> Sequence[Known]:
        if len(visible) < 2 or self.call.kind != "call":
            return visible
        given = call_arguments(self.facts.lines(self.path), self.call.line, self.call.name)
        fitting = [k for k in visible if given is not None and _takes(k, len(given))]
        return fitting or visible

    def _macro(self, wanted: Known) -> Meant | None:
        call = self.call
        if call.kind == "member" or call.qualifier:
            return None
        macros = [k for k in self.facts.named(call.name) if k.definition.kind == "macro"]
        here = [k for k in macros if k.definition.location.path == self.path]
        above = [k for k in here if k.definition.location.line <= call.line]
        here = [max(above, key=lambda k: k.definition.location.line)] if above else here
        seen = here or [k for k in macros if is_header(k.definition.location.path)]
        if not _holds(seen, wanted):
            return None
        if len(seen) == 1:
            return Meant("uses the macro", "exact")
        if len({k.definition.location.path for k in seen}) == 1:
            return Meant("uses the macro, whose definition #if chooses", "by rule")
        return Meant("uses a macro of that name", "ambiguous", len(seen))

    def _named(self, wanted: Known) -> Meant | None:
        """A class or a variable that a body names."""
        definition = wanted.definition
        elsewhere = definition.location.path != self.path
        if self.call.kind == "member" or (elsewhere and not is_header(definition.location.path)):
            return None
        if not (in_scope(self.call, wanted, self.scope) or self._through_using(wanted)):
            return None
        named = self.facts.named(self.call.name)
        same = [k for k in named if k.definition.kind == definition.kind]
        here = [k for k in same if k.definition.location.path == self.path] or same
        if not _holds(here, wanted):
            return None
        if len(here) == 1:
            return Meant("names it", "exact")
        return Meant("names something called so", "ambiguous", len(here))

    # -------------------------------------------------------------------- using, methods

    def _through_using(self, wanted: Known) -> Meant | None:
        """A name of a namespace that a ``using namespace`` lets be written without it."""
        call, scope = self.call, plain_scope(wanted.definition.scope)
        devices = {path_device(wanted.definition.location.path), path_device(self.path)}
        if not linkable(wanted, self.path) or len(devices - {""}) > 1:
            return None
        for used in self.facts.used_namespaces(self.path, self.scope):
            full = f"{used}::{call.qualifier}" if call.qualifier else used
            if scope == full:
                named = self.facts.named(call.name)
                count = sum(1 for k in named if plain_scope(k.definition.scope) == full)
                rule = f"calls it, seen through using namespace {used}"
                return Meant(rule, "by rule" if count == 1 else "ambiguous", count)
        return None

    def _inherited(self, wanted: Known) -> Meant | None:
        """A method called without a receiver in a class that derives from its own."""
        facts, owner = self.facts, is_method(wanted, self.facts)
        if not owner or self.call.qualifier:
            return None
        if self.caller.definition.kind in STRUCTURED:
            if owner in STRUCTURED_BASES or owner in facts.bases("TensorIterator"):
                rule = f"calls a method that structured kernels inherit from {owner}"
                return Meant(rule, "by rule")
            return None
        own = is_method(self.caller, facts)
        if own and owner in facts.bases(own):
            return Meant(f"calls a method that {own} inherits from {owner}", "by rule")
        return None

    def _member(self, owner: str) -> Meant | None:
        """``x.name(...)``: by the declared type of ``x`` where the function tells it."""
        facts, receiver = self.facts, self.receiver
        declared = self._declared(receiver)
        if declared:
            if declared == owner:
                return Meant(f"calls it on {receiver}, declared {owner}", "exact")
            if owner in facts.bases(declared) or declared in facts.bases(owner):
                return Meant(f"calls it on {receiver}, declared {declared}", "by rule")
            if any(k.definition.kind == "class" for k in facts.named(declared)):
                return None  # an alias or a template parameter could still mean the owner
        functions = [k for k in facts.named(self.call.name) if k.definition.kind == "function"]
        classes = {is_method(k, facts) for k in functions} - {""}
        rule = f"calls a method of that name; {len(classes)} classes have one"
        return Meant(rule, "ambiguous", len(classes))

    def _declared(self, receiver: str, no_types: frozenset[str] = _UNTYPED) -> str:
        """The simple name of the type that a variable is declared with; empty when not told."""
        if receiver in ("", "this"):
            return is_method(self.caller, self.facts) if receiver else ""
        where = self.caller.definition.location
        lines = self.facts.lines(where.path)[where.line - 1 : self.call.line]
        text = f"{self.caller.definition.parameters},\n" + "\n".join(lines)
        types: list[str] = []
        for found in re.finditer(rf"\b{receiver}\b\s*(?=[=;,)}}{{([]|:(?!:))", text):
            before = _TYPE.search(text[max(0, found.start() - _LONGEST_TYPE) : found.start()])
            if before and before[1] not in no_types:
                types.append(before[1])
        return types[-1] if types else ""


def _holds(found: Sequence[Known], wanted: Known) -> bool:
    return any(known.id == wanted.id for known in found)


def _takes(known: Known, count: int) -> bool:
    """Whether a function can be given ``count`` arguments. What defaults a declaration in
    another file gives is not known, so fewer are always possible."""
    if known.definition.kind != "function":
        return True
    parameters = known.definition.parameters
    return "..." in parameters or count <= len(split_parameters(parameters))


_TYPE = regex(r"([A-Za-z_]\w*)\s*(?:<[^;{}()<>]*>)?\s*[&*]*\s*(?:\bconst\s+)?(?<=[\s&*])$")
_LONGEST_TYPE = 80
