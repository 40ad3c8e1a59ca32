"""Edges from a stub or an operator to the bodies and formulas that call it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property, lru_cache

from indexes.linking.facts import BY_HAND, Known, StubUse, by_hand
from indexes.linking.facts import Edge as Use
from indexes.linking.formulas import formula_functions
from indexes.linking.graph import Graph, dispatched_device
from indexes.linking.graph import Node as Place
from indexes.linking.registrations import device_of
from indexes.linking.visible import stub_name, stub_scope
from indexes.model.files import module_name
from indexes.model.vocabulary import DerivativeEntry, Formula, Location, NativeFunction
from indexes.queries.impact.facts import ImpactFacts
from indexes.queries.impact.graph import Edge, Node
from indexes.queries.impact.python import python_node
from indexes.queries.written_operators import LIMIT, WrittenOperators, WrittenUse

MAX_READ = 10
"""Operators searched in texts during one walk: up to a second each."""
UNREAD = (
    "Python that calls operators through torch.ops, and strings that name them, are not followed:"
    " torchnav callers OPERATOR lists them"
)


class DispatchEdges:
    """Edges out of stubs and operators."""

    def __init__(self, facts: ImpactFacts) -> None:
        self.facts = facts
        self.unfollowed: list[str] = []
        self.other_keys: dict[str, set[str]] = {}
        """Operators whose kernels for other keys than those on the way call what is reached."""
        self._searches = 0
        self._read_for: dict[int, None] = {}
        self._read: set[str] = set()
        self._graph = Graph(facts)
        self.functions_of = lru_cache(None)(lambda e: formula_functions(e, facts))

    def of_stub(self, node: Node) -> Iterator[Edge]:
        """The bodies that call a stub."""
        for use in self.facts.edges_to(node.key):
            how = "passes the stub on by name" if use.kind == "passed stub" else "calls the stub"
            yield from self._caller(use, how)
        yield from self._generated_stub(node)

    def _caller(self, use: Use, rule: str, dispatch: bool = False) -> Iterator[Edge]:
        caller = self.facts.by_id(use.caller) if use.caller >= 0 else None
        if caller:
            at = Location(caller.definition.location.path, use.line)
            sure = (use.confidence, use.candidates)
            node = replace(Node.of(caller), device=dispatched_device(use))
            yield Edge(node, rule, at, *sure, dispatch=dispatch)

    def _generated_stub(self, node: Node) -> Iterator[Edge]:
        """The operators whose generated kernel calls a stub of ``ufunc_inner_loop``:
        ``add_stub``."""
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

    def of_operator(self, name: str, first: bool = False) -> Iterator[Edge]:
        """The bodies and formulas that call an operator through the dispatcher. ``first``: search
        texts for operators of ATen too."""
        native = self.facts.native(name)
        if native is None:
            return
        if sign := self.facts.signs.get(native.name):
            self.unfollowed.append(
                f"{native.name}: where tensors are written with {sign[0]}, which calls it by"
                f" {sign[1]}, is not looked for: an expression's type is not known"
            )
        uses = self.facts.edges_to(name)
        for use in uses:
            rule, several = use.rule, f"among {use.candidates} overloads"
            if use.candidates > 1:
                rule = f"calls the operator; the argument types decide {several}"
            if by_hand(native):
                rule, use = f"calls the operator, {BY_HAND}", use._replace(confidence="ambiguous")
            yield from self._caller(use, rule, dispatch=True)
        if first or native.defined_by:
            yield from self._written(native)
        else:
            self.unfollowed.append(UNREAD)
        called = f"calls the operator {native.name}"
        yield from self.formulas((use for use in uses if use.caller < 0), called, True)
        for step in self._graph.up(Place("operator", name)):
            if step.upper.kind == "operator":
                node = self.facts.operator(str(step.upper.what), "kernel")
                rule = f"torchgen makes its kernel, which calls {name}"
                yield Edge(node, rule, native.location, "by rule", dispatch=True)

    def _written(self, native: NativeFunction) -> Iterator[Edge]:
        """Uses in texts, the only ones for an operator of a library."""
        self._read.add(native.name)
        if len(self._read) > MAX_READ:
            self.unfollowed.append(f"{native.name}: where it is named was not looked for")
            return
        for use in self._names.of(native):
            if not use.registers:
                evidence = (use.rule, use.location, use.confidence, use.candidates)
                yield Edge(_enclosing(use), *evidence, dispatch=True)
        self.unfollowed.append(f"{native.name}: {LIMIT}")
        if native.location.path.endswith(".py"):
            module = module_name(native.location.path)
            self.unfollowed.append(
                f"{native.full_name}: who uses it by a name of {module}, where"
                " it is defined, is not looked for"
            )

    @cached_property
    def _names(self) -> WrittenOperators:
        return WrittenOperators(self.facts, self.facts.corpus)

    def formulas(self, uses: Iterable[Use], what: str, dispatch: bool = False) -> Iterator[Edge]:
        """The formulas of derivatives.yaml from which the edges lead."""
        for use in uses:
            entry = self.facts.entry(-1 - use.caller)
            for formula in (one for each in entry.sets for one in each.formulas):
                if formula.location.line == use.line:
                    rule = f"the formula for {', '.join(formula.inputs)} {what}"
                    sure = (use.confidence, use.candidates)
                    node, at = formula_node(entry, formula), formula.location
                    yield Edge(node, rule, at, *sure, dispatch=dispatch)


def _enclosing(use: WrittenUse) -> Node:
    """The function around a line that names an operator, or the file."""
    path, around = use.location.path, use.around
    if around is None:
        return Node("file", path, path, use.location)
    return Node.of(around) if isinstance(around, Known) else python_node(path, around)


def formula_node(entry: DerivativeEntry, formula: Formula) -> Node:
    symbol = f"{entry.op}: {', '.join(formula.inputs)}: {formula.text}"
    return Node("formula", str(formula.location), symbol, formula.location)


def stub_node(use: StubUse) -> Node:
    """The node of a registration's stub, for its device."""
    symbol, key = use.stub.rpartition("::")[2], stub_name(stub_scope(use), use.stub)
    return Node("stub", key, symbol, use.location, device=device_of(use))
