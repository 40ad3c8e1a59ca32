"""What is reached from a stub or an operator: the bodies and formulas that call it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from indexes.linking.edges import operator_base
from indexes.linking.facts import Call, Known, StubUse
from indexes.linking.overloads import (
    BY_HAND,
    by_hand,
    call_arguments,
    fitting_overloads,
    formula_functions,
    receiver_is_tensor,
)
from indexes.linking.registrations import device_of, function_name, registered_function
from indexes.linking.visible import plain_scope, stub_scope, visible_stub
from indexes.model.vocabulary import Confidence, DerivativeEntry, Formula, Location
from indexes.queries.impact.facts import ImpactFacts
from indexes.queries.impact.graph import Edge, Node
from indexes.readers.cxx.facts import holds_operators

MAX_SEARCHES = 40
"""Names looked for in the texts of the whole tree, in one walk: a few hundredths of a second
each. What is left is said."""


def stubs_of(known: Known, facts: ImpactFacts) -> list[StubUse]:
    """The registrations that put a function on a stub."""
    name = known.definition.name
    return [
        use
        for use in facts.registrations_in(known.definition.location.path)
        if function_name(registered_function(use)) == name
    ]


def stub_callers(stub: str, facts: ImpactFacts) -> list[tuple[Known, Call]]:
    """The bodies that use a stub."""
    simple = stub.rpartition("::")[2]
    return [
        (caller, call)
        for caller, call in facts.callers(simple)
        if call.kind != "member" and visible_stub(call, caller, facts)
    ]


class DispatchEdges:
    """Edges out of stubs and operators."""

    def __init__(self, facts: ImpactFacts) -> None:
        self.facts = facts
        self.unfollowed: list[str] = []
        self._searches = 0
        self._formulas = lru_cache(None)(lambda e: formula_functions(e, facts))

    def of_stub(self, node: Node) -> Iterator[Edge]:
        """The bodies that call a stub."""
        for caller, call in stub_callers(node.symbol, self.facts):
            uses = list(self.facts.stub_uses(call.name))
            if any(stub_key(u) == node.key for u in uses):
                where = caller.definition.location
                how = "passes the stub on by name" if call.kind == "name" else "calls the stub"
                yield Edge(Node.of(caller), how, Location(where.path, call.line or where.line))

        yield from self._generated_stub(node)

    def _generated_stub(self, node: Node) -> Iterator[Edge]:
        """torchgen defines ``add_stub``, and calls it, from ``ufunc_inner_loop`` of ``add.out``."""
        for native in self.facts.overloads(node.symbol.removesuffix("_stub")):
            if not native.ufunc_inner_loop or not node.symbol.endswith("_stub"):
                continue
            line = native.field_lines.get("ufunc_inner_loop", native.location.line)
            rule = f"torchgen generates the call from ufunc_inner_loop of {native.full_name}"
            at = Location(native.location.path, line)
            for base in (native.name, f"{native.name}_"):
                for other in self.facts.overloads(base):
                    if native.full_name in (other.full_name, other.structured_delegate):
                        yield Edge(
                            self.facts.operator(other.full_name, "kernel"), rule, at, "by rule"
                        )

    def of_operator(self, name: str) -> Iterator[Edge]:
        """The bodies and formulas that call an operator, through the dispatcher."""
        native = self.facts.native(name)
        if native is None:
            return
        base = native.name
        if sign := self.facts.signs.get(base):
            self.unfollowed.append(
                f"{base}: where tensors are written with {sign[0]}, which calls it by {sign[1]},"
                " is not looked for: an expression's type is not known"
            )
        for spelled in (base, f"{base}_out", f"{base}_outf", f"{base}_symint"):
            for caller, call in self.facts.callers(spelled):
                if _is_operator_call(call):
                    yield from self._operator_call(caller, call, name)
        if "method" in native.variants:
            yield from self._method_calls(base, name)
        for spelled in (base, f"{base}_out"):
            yield from self._passed_on(spelled, name)
        yield from self._formulas_calling(base, name)

    def _operator_call(self, caller: Known, call: Call, name: str) -> Iterator[Edge]:
        where = caller.definition.location
        overloads = self.facts.overloads(operator_base(call))
        lines = self.facts.lines(where.path)
        arguments = call_arguments(lines, call.line, call.name)
        fitting = fitting_overloads(call, overloads, arguments)
        if any(f.full_name == name for f in fitting):
            rule = "calls the operator, which dispatches anew"
            confidence: Confidence = "exact"
            if len(fitting) > 1:
                rule += f"; the argument types decide among {len(fitting)} overloads"
                confidence = "ambiguous"
            if any(map(by_hand, fitting)):
                rule, confidence = f"calls the operator, {BY_HAND}", "ambiguous"
            at = Location(where.path, call.line)
            yield Edge(Node.of(caller), rule, at, confidence, len(fitting), dispatch=True)

    def _passed_on(self, spelled: str, name: str) -> Iterator[Edge]:
        """``at::abs_out`` given to a function that calls it."""
        for mention in self.facts.corpus.mentions(spelled, _is_native):
            caller, call = mention.caller, mention.call
            if caller is None or call.kind != "name" or call.qualifier != "at":
                continue
            overloads = self.facts.overloads(operator_base(call))
            fitting = fitting_overloads(call, overloads, None)
            if any(f.full_name == name for f in fitting):
                sure: Confidence = "exact" if len(fitting) == 1 else "ambiguous"
                rule, count = "passes the operator on by name", len(fitting)
                yield Edge(Node.of(caller), rule, mention.location, sure, count, dispatch=True)

    def _method_calls(self, base: str, name: str) -> Iterator[Edge]:
        self._searches += 1
        if self._searches > MAX_SEARCHES:
            self.unfollowed.append(f"{name}: calls of it as a method were not looked for")
            return
        for mention in self.facts.corpus.mentions(base, holds_operators):
            caller, call = mention.caller, mention.call
            if caller is None or call.kind != "member" or not mention.receiver:
                continue
            lines = self.facts.lines(caller.definition.location.path)
            if receiver_is_tensor(lines, call, caller.definition):
                yield from self._operator_call(caller, call, name)

    def _formulas_calling(self, base: str, name: str) -> Iterator[Edge]:
        for entry in self.facts.entries_with(base):
            for function in self._formulas(entry):
                if function.operator == base and function.definition is None:
                    at, inputs = function.formula.location, ", ".join(function.formula.inputs)
                    node = formula_node(entry, function.formula)
                    rule = f"the formula for {inputs} calls the operator {base}"
                    count = len(self.facts.overloads(base))
                    sure: Confidence = "exact" if count == 1 else "ambiguous"
                    yield Edge(node, rule, at, sure, count, dispatch=True)


def formula_node(entry: DerivativeEntry, formula: Formula) -> Node:
    """The node of one formula of derivatives.yaml."""
    symbol = f"{entry.op}: {', '.join(formula.inputs)}: {formula.text}"
    return Node("formula", str(formula.location), symbol, formula.location)


def _is_native(path: str) -> bool:
    return "/ATen/native/" in path


def stub_key(use: StubUse) -> str:
    """A stub's name with the namespace that it stands in."""
    return f"{stub_scope(use)}::{use.stub.rpartition('::')[2]}"


def stub_node(use: StubUse) -> Node:
    """The node of the stub that a line registers a function on, for its device."""
    return Node(
        "stub", stub_key(use), use.stub.rpartition("::")[2], use.location, device=device_of(use)
    )


def _is_operator_call(call: Call) -> bool:
    if call.kind == "member":
        return False
    first = plain_scope(call.qualifier.lstrip(":")).split("::")
    return first == ["at"] or first[:2] == ["at", "_ops"] or first[0] == "_ops"
