"""What the order of a body tells of what it computes: what comes last writes what is given back,
and most is written for the usual case."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache
from operator import attrgetter

from indexes.linking.facts import Edge
from indexes.linking.graph import Node, Step, node_kind
from indexes.linking.usual import Defaults, is_of_few, is_of_one_value, taken
from indexes.model.vocabulary import Choice, Definition
from indexes.store.lookup import Lookup

_CALLS = frozenset(("call", "stub", "passed stub", "operator"))
_OBJECTS = frozenset(("graph", "metal"))
"""What is set up step by step on objects: the last message to one is no step of its own."""
_EARLIER = 1.0
"""What it costs that something else computes afterwards in the same body."""
_BEFORE = 0.05
"""What each costs that follows: of what costs the same the last is the answer."""

_WARNS = "TORCH_WARN"
_LINE = attrgetter("line")
_OTHER = {"then": "else", "else": "then"}
_Arms = frozenset[tuple[str, str]]
_NEAR = 200
"""Functions behind the other arm of a choice that are asked whether they lead to the same end."""


class Order:
    """Reads bodies in their order. Answers are kept while it lives."""

    def __init__(self, facts: Lookup) -> None:
        self.facts = facts
        self.works = facts.works
        self._parts = lru_cache(4096)(self._find_parts)
        self._warned = lru_cache(1024)(self._find_warned)

    def choices(self, edge: Edge) -> tuple[Choice, ...]:
        """The conditions that an edge is passed under; of what a macro holds, for launches alone.
        A macro that is written in a case of a switch is written in the others too."""
        if not edge.branch or (edge.macro and edge.kind != "launch"):
            return ()
        found = self.facts.conditions(edge)
        return found[:-1] if edge.macro and found[-1].arm == "case" else found

    def price(self, edge: Edge, device: str, defaults: Defaults) -> float:
        """What it costs that something else computes after an edge wherever this one is passed."""
        computing, calls = self._parts(edge.caller)
        if edge in computing:
            after = sum(self._follows(one, edge, device, defaults) for one in computing)
            return after and _EARLIER + _BEFORE * after
        if edge not in calls:
            return 0.0
        later = self.later(edge, device, defaults)
        return _BEFORE * any(self._leads(one, device) for one in later)

    def later(self, edge: Edge, device: str, defaults: Defaults) -> Iterator[Edge]:
        """What a body calls after an edge wherever this one is passed."""
        calls = self._parts(edge.caller)[1]
        below = calls[bisect_right(calls, edge.line, key=_LINE) :]
        return (one for one in below if self._follows(one, edge, device, defaults))

    def is_of_many(self, edge: Edge, device: str, defaults: Defaults) -> bool:
        """Whether a body computes in several steps, one after another, of which an edge is one."""
        computing, calls = self._parts(edge.caller)
        if edge not in computing:
            return False
        others = (*computing, *(one for one in calls if self._leads(one, device)))
        return any(
            self._follows(one, edge, device, defaults) or self._follows(edge, one, device, defaults)
            for one in others
        )

    def _find_parts(self, caller: int) -> tuple[Sequence[Edge], Sequence[Edge]]:
        """What of a body computes, and what it calls else."""
        known = self.facts.by_id(caller)
        found = self.works.computing_edges(known) if known else []
        computing = [edge for edge, kind in found if kind not in _OBJECTS]
        others = (edge for edge in self.facts.edges(caller) if edge.kind in _CALLS)
        return computing, sorted((one for one in others if one not in computing), key=_LINE)

    def _follows(self, later: Edge, edge: Edge, device: str, defaults: Defaults) -> bool:
        """Whether an edge is passed after another, wherever that is, in the usual case."""
        if later.line <= edge.line or later.symbol == edge.symbol or later.macro or edge.macro:
            return False
        here = {(one.text, one.arm) for one in self.choices(edge)}
        builds = any(arm == "#if" for _, arm in here)
        further = (one for one in self.choices(later) if (one.text, one.arm) not in here)
        return all(
            (one.arm == "#if" and not builds) or taken(one, device, defaults) for one in further
        )

    def _leads(self, edge: Edge, device: str) -> bool:
        kind = node_kind(edge)
        return kind is not None and self.works.leads(Node(kind, edge.target, device))

    def is_joined(
        self, step: Step, choices: Sequence[Choice], choice: Choice, ahead: Set[int | str]
    ) -> bool:
        """Whether the other arm of one of the choices of a step, too, leads always to what is
        ahead on a way."""
        steps = self.works.graph.down(step.upper)
        edges = ((other.why, other.lower) for other in steps if isinstance(other.why, Edge))
        leading = (edge for edge, lower in edges if self._always_leads(lower, ahead))
        return bool(self.alternatives(choice, choices, leading))

    def alternatives(
        self, choice: Choice, choices: Sequence[Choice], edges: Iterable[Edge]
    ) -> list[Edge]:
        """The edges that are passed where one of some choices is another, if one of them always
        is."""
        other = (choice.text, _OTHER.get(_arm(choice), ""))
        ways = {edge: arms for edge in edges if other in (arms := _arms(self.choices(edge)))}
        given = _arms(one for one in choices if one != choice) | {other}
        return list(ways) if _is_always(list(ways.values()), given) else []

    def _always_leads(self, start: Node, ahead: Set[int | str]) -> bool:
        """Whether calls that are under no condition lead from a function to one of some."""
        seen, pending = {start}, [start]
        while pending and len(seen) < _NEAR:
            node = pending.pop()
            if node.what in ahead:
                return True
            for step in self.works.graph.down(node) if node.kind == "definition" else ():
                always = isinstance(step.why, Edge) and not step.why.branch
                if always and step.lower not in seen:
                    seen.add(step.lower)
                    pending.append(step.lower)
        return False

    def warns(self, choice: Choice, caller: int) -> bool:
        """Whether a body warns of that an arm is taken: that is not the usual case."""
        return choice.arm != "otherwise" and choice in self._warned(caller)

    def _find_warned(self, caller: int) -> frozenset[Choice]:
        """The arms in which a body warns, but for those of which the others warn too."""
        edges = (one for one in self.facts.edges(caller) if one.symbol.startswith(_WARNS))
        found = {arms[-1] for one in edges if (arms := self.choices(one))}
        often = Counter(one.text for one in found)
        return frozenset(one for one in found if often[one.text] == 1)

    def likeness(self, choice: Choice, caller: int) -> str:
        """The arm that one is like of which nothing is known: of one value or few, a case; but
        where more is made for that value than for all others, as for the softmax of the last
        dimension, it is the usual one."""
        if not is_of_one_value(choice):
            return "case" if is_of_few(choice) else choice.arm
        computing = self._parts(caller)[0]
        arms = [{c.arm for c in self.choices(e) if c.text == choice.text} for e in computing]
        ones, others = (sum(arm in one for one in arms) for arm in ("then", "else"))
        if others and ones > others:
            return "otherwise" if choice.arm == "then" else "then"
        return "case" if choice.arm == "then" else choice.arm

    def is_specialised(self, edge: Edge) -> bool:
        """Whether a function is that of a class for one type alone: C++ wants the template before
        its specialisations."""
        edges = self.facts.edges(edge.caller) if edge.kind == "functor" else ()
        same = {one.target for one in edges if (one.line, one.symbol) == (edge.line, edge.symbol)}
        found = self.facts.by_id(edge.target) if isinstance(edge.target, int) else None
        others = (self.facts.by_id(one) for one in same if isinstance(one, int))
        return any(found and one and _is_before(one.definition, found.definition) for one in others)


def _arm(choice: Choice) -> str:
    return "else" if choice.arm == "otherwise" else choice.arm


def _arms(choices: Iterable[Choice]) -> _Arms:
    return frozenset((one.text, _arm(one)) for one in choices)


def _is_always(ways: Sequence[_Arms], given: _Arms) -> bool:
    """Whether one of several ways is passed, whatever arms are taken but those that are given."""
    not_taken = {(text, _OTHER.get(arm, "")) for text, arm in given}
    left = [way - given for way in ways if way.isdisjoint(not_taken)]
    if not all(left):
        return True
    asked = Counter(text for way in left for text, arm in way if arm in _OTHER)
    if not asked:
        return False
    ((text, _),) = asked.most_common(1)
    return all(_is_always(left, given | {(text, arm)}) for arm in _OTHER)


def _is_before(one: Definition, other: Definition) -> bool:
    """Whether a method stands in front of one of the same class with the same parameters."""
    if (one.scope, one.parameters) != (other.scope, other.parameters):
        return False
    place, later = one.location, other.location
    return place.path == later.path and place.line < later.line
