"""The edges of the graph: what each function calls, launches, runs through a stub, dispatches to
and passes on, resolved once, when its file is linked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from indexes.linking.facts import Call, Facts, Known
from indexes.linking.overloads import call_arguments, fitting_overloads, formula_functions
from indexes.linking.visible import (
    APPLE,
    Computing,
    is_plain,
    stub_scope,
    visible_functions,
    visible_functors,
    visible_stub,
)
from indexes.model.vocabulary import Confidence, DerivativeEntry, NativeFunction
from indexes.readers.cxx.bodies import LOOPS

EdgeKind = Literal[
    "call",
    "functor",
    "passed",
    "macro",
    "launch",
    "stub",
    "passed stub",
    "operator",
    "static dispatch",
    "passed operator",
    "library",
    "loop",
    "unknown",
]
RULES: dict[EdgeKind, str] = {
    "call": "called here",
    "functor": "a functor given to what is called here",
    "passed": "passed on by name",
    "macro": "a macro used here",
    "launch": "a __global__ function launched with <<<>>>",
    "stub": "a stub, called through its dispatch table",
    "passed stub": "a stub, passed on by name",
    "operator": "calls an operator: dispatches anew",
    "static dispatch": "calls the operator's kernel for one key, without the dispatcher",
    "passed operator": "an operator, passed on by name",
    "library": "a function of a library",
    "loop": "runs a loop over elements",
    "unknown": "its target is not known",
}
"""What each kind of edge means, for people."""
TO_DEFINITIONS = frozenset(("call", "functor", "passed", "macro", "launch"))
TO_OPERATORS = frozenset(("operator", "static dispatch", "passed operator"))
TO_STUBS = frozenset(("stub", "passed stub"))
_MOST = 24
"""Overloads of one name that a call can mean; with more, nothing is told by them."""
_NESTED = 4
"""Macros in macros."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One use of a name in a body, and one thing that it means."""

    caller: int
    """The number of the definition in whose body it stands; -1 - position for the formulas of a
    derivative entry."""
    line: int
    kind: EdgeKind
    symbol: str
    """As written: ``at::add_out``."""
    target: int | str
    """The number of a definition, an overload, a stub with its namespace, a library, or the
    reason why it is unknown."""
    confidence: Confidence = "exact"
    candidates: int = 1
    branch: int = 0
    """The innermost branch of the body in which it stands; 0 for none."""
    macro: str = ""
    """The macro through which the body says so."""

    @property
    def rule(self) -> str:
        """Why it is there, in a sentence."""
        said = RULES[self.kind]
        if self.macro:
            said += f", in the macro {self.macro}"
        if self.candidates > 1:
            said += f"; one of {self.candidates}, the argument types decide"
        return said


def stub_name(scope: str, stub: str) -> str:
    """A stub with its namespace, by which edges name it."""
    return f"{scope}::{stub.rpartition('::')[2]}"


class EdgeResolver:
    """Resolves the calls of functions. Answers are kept while it lives."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._computing = Computing(facts)

    def edges(self, caller: Known, calls: Sequence[Call]) -> list[Edge]:
        """What a body leads to, in order."""
        found = (edge for call in calls for edge in self._edges(call, caller, ()))
        return list(dict.fromkeys(found))

    def _edges(self, call: Call, caller: Known, macros: tuple[Known, ...]) -> Iterator[Edge]:
        for edge in self._meant(call, caller):
            if edge.kind == "macro" and len(macros) < _NESTED:
                yield edge
                yield from self._inside(edge, call, caller, macros)
            else:
                yield edge

    def _inside(
        self, edge: Edge, call: Call, caller: Known, macros: tuple[Known, ...]
    ) -> Iterator[Edge]:
        """What the body of a macro leads to where it is used: names are looked up there."""
        macro = next(k for k in self.facts.named(call.name) if k.id == edge.target)
        if macro in macros:
            return
        for inner in self.facts.calls(macro):
            placed = inner._replace(line=call.line)
            for one in self._edges(placed, caller, (*macros, macro)):
                yield replace(one, macro=one.macro or call.name)

    def _meant(self, call: Call, caller: Known) -> Iterator[Edge]:
        if uses := visible_stub(call, caller, self.facts):
            kind: EdgeKind = "passed stub" if call.kind == "name" else "stub"
            yield self._edge(call, caller, kind, stub_name(stub_scope(uses[0]), call.name))
        elif library := self._computing.vendor(call, caller):
            sure: Confidence = "by rule" if library in APPLE else "exact"
            yield self._edge(call, caller, "library", library, sure)
            if is_plain(call) and library not in APPLE:  # a stand-in, in other builds
                yield from self._functions(call, caller)
        elif call.kind == "launch":
            yield from self._launch(call, caller)
        elif overloads := self._overloads(call):
            yield from self._operators(call, caller, overloads)
        elif call.name in LOOPS:
            yield self._edge(call, caller, "loop", call.name)
        elif call.kind != "member":
            yield from self._functions(call, caller)

    def _edge(
        self,
        call: Call,
        caller: Known,
        kind: EdgeKind,
        target: int | str,
        confidence: Confidence = "exact",
        candidates: int = 1,
    ) -> Edge:
        symbol = f"{call.qualifier}::{call.name}" if call.qualifier else call.name
        line = call.line or caller.definition.location.line
        return Edge(caller.id, line, kind, symbol, target, confidence, candidates)

    def _each(
        self, call: Call, caller: Known, kind: EdgeKind, targets: Sequence[int | str]
    ) -> Iterator[Edge]:
        """An edge to each of the things that a call can mean."""
        sure: Confidence = "exact" if len(targets) == 1 else "ambiguous"
        for target in targets:
            yield self._edge(call, caller, kind, target, sure, len(targets))

    # -------------------------------------------------------------------- functions

    def _functions(self, call: Call, caller: Known) -> Iterator[Edge]:
        found = visible_functions(call, caller, self.facts)[:_MOST]
        if call.kind == "name":
            path = caller.definition.location.path
            found = [one for one in found if one.definition.location.path == path]
        if call.template or not found:
            yield from self._functors(call, caller)
        macros = [one.id for one in found if one.definition.kind == "macro"]
        functions = [one.id for one in found if one.definition.kind != "macro"]
        yield from self._each(call, caller, "macro", macros)
        kind: EdgeKind = "passed" if call.kind == "name" else "call"
        yield from self._each(call, caller, kind, functions)

    def _functors(self, call: Call, caller: Known) -> Iterator[Edge]:
        for _, methods in visible_functors(call, caller, self.facts):
            for method in methods:
                yield self._edge(call, caller, "functor", method.id)

    def _launch(self, call: Call, caller: Known) -> Iterator[Edge]:
        found = visible_functions(call, caller, self.facts)
        kernels = [one.id for one in found if one.definition.cuda_global]
        yield from self._each(call, caller, "launch", kernels)
        if not kernels:
            reason = f"launched with <<<>>> through {call.name}, which is no __global__ function"
            yield self._edge(call, caller, "unknown", reason)

    # -------------------------------------------------------------------- operators

    def _overloads(self, call: Call) -> Sequence[NativeFunction]:
        """The overloads of the operator that a call names; none where it names another thing."""
        first = call.qualifier.lstrip(":").split("::")
        is_named = first == ["at"] or first[:2] == ["at", "_ops"] or first[0] == "_ops"
        if call.kind == "member" or not is_named:
            return ()
        return self.facts.overloads(operator_base(call))

    def _operators(
        self, call: Call, caller: Known, overloads: Sequence[NativeFunction]
    ) -> Iterator[Edge]:
        fitting = fitting_overloads(call, overloads, None)
        kind: EdgeKind = "passed operator" if call.kind == "name" else "operator"
        yield from self._each(call, caller, kind, [one.full_name for one in fitting])


_MEMBER = re.compile(r"\.\s*([A-Za-z_]\w*)\s*\(")


def formula_edges(caller: int, entry: DerivativeEntry, facts: Facts) -> list[Edge]:
    """What the formulas of an entry call."""
    edges: list[Edge] = []
    for function in formula_functions(entry, facts):
        line, several = function.formula.location.line, function.candidates > 1
        sure: Confidence = "ambiguous" if several else "exact"
        if function.definition:
            if known := facts.known(function.definition):
                what = (function.name, known.id, sure, function.candidates)
                edges.append(Edge(caller, line, "call", *what))
        elif function.operator:
            edges += _formula_operator(caller, line, function.formula.text, function.name, facts)
    for formula in (one for each in entry.sets for one in each.formulas):
        for name in dict.fromkeys(_MEMBER.findall(formula.text)):
            edges += _formula_operator(
                caller, formula.location.line, formula.text, name, facts, "member"
            )
    return list(dict.fromkeys(edges))


def _formula_operator(
    caller: int, line: int, text: str, name: str, facts: Facts, kind: str = "call"
) -> Iterator[Edge]:
    simple = name.rpartition("::")[2]
    call = Call(simple, "at", 1, kind, "")
    arguments = call_arguments([text], 1, simple)
    fitting = fitting_overloads(call, facts.overloads(operator_base(call)), arguments)
    sure: Confidence = "exact" if len(fitting) == 1 else "ambiguous"
    for one in fitting:
        yield Edge(caller, line, "operator", name, one.full_name, sure, len(fitting))


def operator_base(call: Call) -> str:
    """The operator in a call: ``add`` for ``at::add_out``, ``at::_ops::add_Tensor::call``."""
    if "_ops" in call.qualifier:
        name = call.qualifier.rpartition("::")[2]
        return name.rpartition("_")[0] or name
    return call.name.removesuffix("_symint").removesuffix("_outf").removesuffix("_out")
