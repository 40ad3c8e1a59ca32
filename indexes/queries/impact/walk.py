"""What a change of a definition reaches: a walk from it up to operators, surest paths first."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import NamedTuple

from indexes.linking.visible import path_device
from indexes.model.impact import ReachedOperator, Step
from indexes.model.lines import grouped
from indexes.model.vocabulary import Confidence
from indexes.queries.impact.cxx import STRUCTURED_META, CppEdges
from indexes.queries.impact.graph import Edge, Node
from indexes.queries.impact.keys import Keys
from indexes.queries.impact.python import PythonEdges

MANY_OPERATORS = 30
"""With more operators reached directly, their callers say nothing more."""
MAX_STEPS = 3000
"""More than this is most of the library; the answer says that it is cut."""
DISPATCHES = 1
"""Operator calls followed by default, since every operator is called by others."""

RANK: dict[Confidence, int] = {"exact": 0, "by rule": 1, "ambiguous": 2}
"""Confidences, surest first."""
_FOLLOWED = ("kernel", "schema", STRUCTURED_META)
"""Aspects of an operator that all its callers get: not backward or decomposition."""


class _Cost(NamedTuple):
    """Orders paths by dispatches, then weakest step, then length."""

    dispatches: int
    weakest: int
    ambiguous: int
    length: int


@dataclass(frozen=True, slots=True)
class Start:
    """Something that changes, with the reason."""

    node: Node
    rule: str = "it changes"


_Waiting = tuple[_Cost, int, Edge, "int | None"]


class Walk:
    """The steps reached from some starts."""

    def __init__(
        self,
        cpp: CppEdges,
        python: PythonEdges,
        dispatches: int = DISPATCHES,
        max_steps: int = MAX_STEPS,
    ) -> None:
        self._cpp = cpp
        self._python = python
        self._dispatches = dispatches
        self._max = max_steps
        self.steps: list[Step] = []
        self.cut = False
        self._sets = cpp.facts.keys
        self._reached: dict[tuple[str, str], Keys] = {}
        """With which keys each node is reached."""
        self.nodes: list[Node] = []
        self._waiting: list[tuple[int, _Cost]] = []
        self.undispatched = 0
        """Operators whose callers were not looked for, because they are too many."""

    def run(self, starts: Iterable[Start]) -> list[Step]:
        """Every step that can be reached, each by its best path."""
        order = count()
        heap: list[_Waiting] = []
        for start in starts:
            edge = Edge(start.node, start.rule, None)
            self._push(heap, order, _Cost(0, 0, 0, 0), edge, None, self._sets.every)
        while heap or self._waiting:
            if not heap:
                self._dispatch(heap, order)
                continue
            cost, _, edge, parent = heapq.heappop(heap)
            keys = self._new_keys(edge.node)
            if not keys:
                continue
            if len(self.steps) >= self._max:
                self.cut = True
                break
            edge = replace(edge, node=replace(edge.node, keys=keys))
            number = self._add(edge, parent, cost)
            if edge.node.kind == "operator":
                self._waiting.append((number, cost))
                continue
            for onward in self._edges(edge.node, parent is None):
                self._push(heap, order, cost, onward, number, keys)
        return self.steps

    def _new_keys(self, node: Node) -> Keys:
        assert node.keys is not None
        reached = self._reached.get((node.kind, node.key), frozenset())
        return node.keys - reached

    def _push(
        self,
        heap: list[_Waiting],
        order: Iterator[int],
        cost: _Cost,
        edge: Edge,
        parent: int | None,
        keys: Keys,
    ) -> None:
        """Continues along an edge with the keys that can pass it; begins with those of a removed
        row too, which the tree has no more."""
        allowed = self._allowed(edge.node)
        if parent is None and edge.node.keys and not allowed:
            allowed = edge.node.keys
        node = replace(edge.node, keys=keys & allowed)
        if self._new_keys(node):
            edge = replace(edge, node=node)
            further = cost if parent is None else _further(cost, edge)
            heapq.heappush(heap, (further, next(order), edge, parent))

    def _allowed(self, node: Node) -> Keys:
        device = node.device
        if node.known:
            device = device or path_device(node.known.definition.location.path)
        is_operator = node.kind == "operator"
        only = self._sets.of_operator(node.symbol) if is_operator else self._sets.every
        only = only if node.keys is None else only & node.keys
        return only & self._sets.of_device(device)

    def _dispatch(self, heap: list[_Waiting], order: Iterator[int]) -> None:
        """Continues from the operators found, unless there are too many."""
        waiting = [(n, cost) for n, cost in self._waiting if cost.dispatches < self._dispatches]
        self._waiting = []
        if len({self.nodes[number].symbol for number, _ in waiting}) > MANY_OPERATORS:
            self.undispatched = len(waiting)
            return
        for number, cost in waiting:
            node = self.nodes[number]
            if not node.aspect.startswith(_FOLLOWED) or not node.keys:
                continue
            keys = self._sets.across(node.symbol, node.keys)
            for edge in self._cpp.of_operator(node.symbol):
                self._push(heap, order, cost, edge, number, keys)

    def _add(self, edge: Edge, parent: int | None, cost: _Cost) -> int:
        number = len(self.steps)
        node = edge.node
        reached = self._reached.get((node.kind, node.key), frozenset())
        self._reached[node.kind, node.key] = reached | (node.keys or frozenset())
        self.nodes.append(node)
        weakest: Confidence = ("exact", "by rule", "ambiguous")[cost.weakest]
        self.steps.append(edge.step(number, parent, weakest, cost.dispatches))
        return number

    def _edges(self, node: Node, first: bool) -> Iterator[Edge]:
        if node.kind in ("function", "macro", "class", "global") and node.known:
            yield from self._cpp.of_definition(node.known, first, node.keys)
        elif node.kind == "function":
            yield from self._cpp.of_outside(node)
        elif node.kind == "stub":
            yield from self._cpp.of_stub(node)
        elif node.kind == "formula":
            yield from self._cpp.of_formula(node)
        elif node.kind == "python":
            yield from self._python.of_function(node, first)

    # ----------------------------------------------------------------------- answers

    def operators(self) -> tuple[ReachedOperator, ...]:
        """The operators among the steps, each once with all its aspects: first those whose own
        kernel or formula changes, then the surest."""
        operators = ((at, one) for at, one in enumerate(self.nodes) if one.kind == "operator")
        found = grouped((node.symbol, number) for number, node in operators)
        reached = [self._operator(name, numbers) for name, numbers in found.items()]
        return tuple(sorted(reached, key=self._order))

    def _order(self, one: ReachedOperator) -> tuple[int, bool, bool, int, int]:
        parent = self.steps[one.step].parent
        further = parent is not None and self.steps[parent].parent is not None
        return one.dispatches, further, not self._is_named(one), RANK[one.confidence], one.step

    def _is_named(self, one: ReachedOperator) -> bool:
        """Whether a start is named after the operator: ``fill_out``, ``fill_``."""
        base = one.name.rpartition("::")[2].partition(".")[0].strip("_")
        starts = (step.symbol for step in self.steps if step.parent is None)
        return any(f"_{base}_" in f"_{name.rpartition('::')[2]}_" for name in starts)

    def _operator(self, name: str, numbers: Sequence[int]) -> ReachedOperator:
        best = self.steps[numbers[0]]  # steps are in the order of their cost
        near = [n for n in numbers if self.steps[n].dispatches == best.dispatches]
        aspects = tuple(dict.fromkeys(self.nodes[n].aspect for n in near))
        keys = frozenset().union(*(self.nodes[n].keys or () for n in numbers))
        key_set = self._sets.named(name, keys)
        composite = bool(key_set) and best.dispatches > 0 and not keys & self._sets.own(name)
        how = (best.way_confidence, best.dispatches)
        return ReachedOperator(name, aspects, best.id, best.location, *how, key_set, composite)


def _further(cost: _Cost, edge: Edge) -> _Cost:
    rank = RANK[edge.confidence]
    return _Cost(
        cost.dispatches + edge.dispatch,
        max(cost.weakest, rank),
        cost.ambiguous + (rank == RANK["ambiguous"]),
        cost.length + 1,
    )
