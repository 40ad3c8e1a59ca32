"""Nodes of the backward graph and the engine that runs them.

The source of a node (entry, formulas, class), what the engine calls outside its own file, and a
node's path through the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from indexes.linking.facts import Known
from indexes.model.answers import Callee, EngineFunction
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import Definition, DerivativeEntry, Formula, Location
from indexes.queries.graph_places import callees
from indexes.queries.index import Index
from indexes.store.lookup import Lookup


@dataclass(frozen=True, slots=True)
class NodeSource:
    """Where a node comes from."""

    entry: DerivativeEntry | None
    """Its entry in derivatives.yaml; None if handwritten or of the user's program."""
    operators: tuple[str, ...]
    """The overloads that record it."""
    formulas: tuple[tuple[str, Formula | None], ...]
    """The input and formula of each gradient, in the order of its edges; empty if unknown."""
    definition: Definition | None
    """The class of a handwritten node."""


def node_source(index: Index, name: str, edges: int) -> NodeSource:
    """The source of a node by its name and number of edges: ``AddmmBackward0``."""
    plain = name.rpartition("::")[2]
    for entry in index.node(plain)[:1]:
        formulas = tuple(_of_edges(entry, plain, edges))
        return NodeSource(entry, index.node_operators(plain), formulas, None)
    own = index.definitions(name if "::" in name else f"torch::autograd::{plain}")
    return NodeSource(None, (), (), own[0] if own else None)


def _of_edges(entry: DerivativeEntry, node: str, edges: int) -> list[tuple[str, Formula | None]]:
    """The formulas by edge, as torchgen orders them: one edge for each tensor with a formula, in
    schema order, and one per element of a list."""
    made = (formula for one in entry.sets if one.makes(node) for formula in one.formulas)
    gradients = [one for one in made if one.kind == "gradient"]
    formulas = {name: formula for formula in gradients for name in formula.inputs}
    arguments = [one for one in parse_schema(entry.schema).arguments if one.name in formulas]
    lists = [one for one in arguments if "[" in one.type]
    if len(lists) > 1 or (not lists and len(arguments) != edges):
        return []
    each = edges - len(arguments) + 1
    return [
        (one.name, formulas[one.name])
        for one in arguments
        for _ in range(each if one in lists else 1)
    ]


_NAMESPACE = "torch::autograd::"
_RUNS_A_NODE = "Engine::evaluate_function"
_RUNS_ITS_BODY = "call_function"
_BODY = "torch::autograd::Node::operator()"


@dataclass(frozen=True, slots=True)
class EngineStep:
    """A step of the engine for a node."""

    depth: int
    """0 in ``Engine::evaluate_function``, 1 in ``call_function``, 2 in the node itself."""
    name: str
    """What is called; for the node itself its class, formula or entry."""
    at: Location
    """The calling line."""
    location: Location | None
    """Where it is defined."""


def calls_elsewhere(facts: Lookup, function: EngineFunction) -> Iterator[tuple[int, Callee]]:
    """The calls of an engine function outside its file, with lines: nodes, hooks, gradient buffers.
    Only those in ``torch::autograd``, without macros."""
    known = _known(facts, function)
    if known is None:
        return
    lines = sorted({edge.line for edge in facts.edges(known.id)})
    for line in lines:
        for callee in callees(facts, known, line):
            elsewhere = callee.location and callee.location.path != function.location.path
            if elsewhere and callee.name.startswith(_NAMESPACE) and callee.kind == "call":
                yield line, callee


def _known(facts: Lookup, function: EngineFunction) -> Known | None:
    place = function.location
    found = facts.definitions_at(place.path, place.line)
    return next((one for one in found if one.definition.kind != "class"), None)


def way_of_node(index: Index, node: str) -> tuple[EngineStep, ...]:
    """The engine's steps for a node, line by line. Empty in a tree without engine.cpp, as an
    installed torch."""
    functions = {one.name: one for one in index.engine()}
    start = functions.get(_RUNS_A_NODE)
    if start is None or not start.calls:
        return ()
    return tuple(_Way(index, functions, node).steps(_RUNS_A_NODE, 0))


class _Way:
    def __init__(self, index: Index, functions: dict[str, EngineFunction], node: str) -> None:
        self._index = index
        self._functions = functions
        self._node = node
        self._entered: set[str] = set()
        """What was followed once: the other branch of an ``if`` is not followed again."""

    def steps(self, name: str, depth: int) -> Iterator[EngineStep]:
        """The calls of an engine function, with those expanded that lead to the node."""
        function = self._functions[name]
        own = [(line, called, self._place(called)) for called, line in function.calls]
        elsewhere = calls_elsewhere(self._index.facts, function)
        found = {(line, one.name): one.location for line, one in elsewhere}
        calls = [*own, *((line, called, at) for (line, called), at in found.items())]
        for line, called, location in sorted(dict.fromkeys(calls), key=lambda one: one[0]):
            at = Location(function.location.path, line)
            yield EngineStep(depth, called, at, location)
            if called not in self._entered:
                self._entered.add(called)
                yield from self._into(called, at, depth + 1)

    def _place(self, name: str) -> Location | None:
        found = self._functions.get(name)
        return found.location if found else None

    def _into(self, called: str, at: Location, depth: int) -> Iterator[EngineStep]:
        if called == _RUNS_ITS_BODY and called in self._functions:
            yield from self.steps(called, depth)
        elif called == _BODY:
            yield from self._body(at, depth)

    def _body(self, at: Location, depth: int) -> Iterator[EngineStep]:
        """What the node's ``apply`` computes: its formulas, or the code of its class."""
        plain = self._node.rpartition("::")[2]
        for entry in self._index.node(self._node)[:1]:
            name = f"{plain}::apply, generated from {entry.op}"
            yield EngineStep(depth, name, at, entry.location)
            formulas = (f for one in entry.sets if one.makes(plain) for f in one.formulas)
            for one in formulas:
                if one.kind == "gradient":
                    text = f"{', '.join(one.inputs)}: {one.text}"
                    yield EngineStep(depth + 1, text, at, one.location)
            return
        for symbol in (f"{_NAMESPACE}{plain}::apply", f"{_NAMESPACE}{plain}"):
            for definition in self._index.definitions(symbol)[:1]:
                yield EngineStep(depth, f"{plain}::apply", at, definition.location)
                return
