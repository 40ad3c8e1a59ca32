"""Checks that the graph is the same walked up and down, and that its edges are on lines that name
them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from random import Random
from typing import NamedTuple

from indexes.linking.facts import Edge, Known
from indexes.linking.graph import Graph, Node, Step
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.audit.checks import SourceLines
from indexes.queries.index import Index

_WORD = regex(r"[A-Za-z_]\w*")
_USING = regex(r"\busing\s+(\w+)\s*=([^;]*);")
_DEFINE = regex(r"(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)")
_ENDS = regex(r"[;{}]\s*(?://.*)?$")
_FEW = 6
"""Lines of a statement before one of it that are examined."""


# --------------------------------------------------------------------------- both ways


class BothWays:
    """All steps of all paths from operators down, and those missing in the other direction."""

    def __init__(self, index: Index) -> None:
        self._graph = Graph(index.facts)
        self._down: dict[Node, set[Step]] = {}
        self._walk([Node("operator", one.full_name) for one in index.operators()])

    def _walk(self, pending: list[Node]) -> None:
        while pending:
            node = pending.pop()
            if node not in self._down:
                self._down[node] = set(self._graph.down(node))
                pending += [step.lower for step in self._down[node]]

    @property
    def steps(self) -> int:
        return sum(map(len, self._down.values()))

    @cached_property
    def _up(self) -> dict[Node, set[Step]]:
        return {node: set(self._graph.up(node)) for node in self._down}

    def drawn(self, number: int, seed: int) -> list[Step]:
        """A random sample of steps, the same for the same graph and seed."""
        steps = {str(step.why): step for steps in self._down.values() for step in steps}
        return [steps[one] for one in Random(seed).sample(sorted(steps), min(number, len(steps)))]

    def not_up(self) -> Iterator[Step]:
        """Steps down that no walk up takes."""
        for steps in self._down.values():
            yield from (step for step in steps if step not in self._up[step.lower])

    def not_down(self) -> Iterator[Step]:
        """Steps up that no walk down takes."""
        for steps in self._up.values():
            yield from (step for step in steps if step not in self._below(step.upper))

    def _below(self, node: Node) -> set[Step]:
        if node not in self._down:
            return set(self._graph.down(node))
        return self._down[node]


def with_text(step: Step, index: Index, lines: SourceLines) -> str:
    """A step with its source line, for checking by hand."""
    upper, lower = (_name(one, index) for one in (step.upper, step.lower))
    if not isinstance(step.why, Edge):
        return f"{upper} -> {lower}: {type(step.why).__name__}"
    known = index.facts.by_id(step.why.caller)
    place = Location(known.definition.location.path if known else "", step.why.line)
    text = " ".join(lines.at(place, 1).split())
    return f"{place}: {upper}: {step.why.kind}, {step.why.confidence} -> {lower}: {text}"


def _name(node: Node, index: Index) -> str:
    known = index.facts.by_id(node.what) if isinstance(node.what, int) else None
    if known is None:
        return f"{node.kind} {node.what}"
    return f"{known.definition.qualified} at {known.definition.location}"


# ------------------------------------------------------------------------ lines of edges


class PlacedEdge(NamedTuple):
    """An edge with its function."""

    caller: Known
    edge: Edge

    @property
    def place(self) -> Location:
        return Location(self.caller.definition.location.path, self.edge.line)

    def __str__(self) -> str:
        caller, edge = self.caller.definition.qualified, self.edge
        return f"{self.place}: {caller}: {edge.kind} {edge.symbol} -> {edge.target}"


def all_edges(index: Index) -> Iterator[PlacedEdge]:
    """Every edge of every function, in order."""
    numbers = index.facts.store.column("SELECT DISTINCT caller FROM edges WHERE caller>=0")
    for number in sorted(numbers):
        if caller := index.facts.by_id(number):
            yield from (PlacedEdge(caller, edge) for edge in index.facts.edges(number))


class EdgeText:
    """Checks whether the text of a line agrees with its edge."""

    def __init__(self, index: Index) -> None:
        self._facts = index.facts
        self._lines = SourceLines(index)
        self._defines = lru_cache(512)(self._macros)

    def problem(self, placed: PlacedEdge) -> str:
        """What is wrong with an edge; empty if nothing."""
        edge = placed.edge
        last = edge.symbol.rpartition("::")[2]
        texts = (self._lines.at(placed.place), self._statement(placed.place))
        if not any(self._names(placed, last, text) for text in texts):
            return f"the line does not name {last}"
        if edge.kind in ("call", "chooser", "launch", "macro"):
            return self._target_problem(edge, last)
        return ""

    def _names(self, placed: PlacedEdge, last: str, text: str) -> bool:
        """Whether a text has an edge's last word, its sign, or a macro."""
        words = set(_words(text))
        sign = last.removeprefix("operator")
        if sign != last and not sign.isidentifier() and sign[0] in text:
            return True  # ``x * y`` calls ``operator*``, ``x(y)`` calls ``operator()``
        if last in words or placed.edge.macro in words or self._expands(placed, words):
            return True
        return not words.isdisjoint(self._renamed(placed, last))

    def _renamed(self, placed: PlacedEdge, last: str) -> list[str]:
        """The body's own names for a class up to a line: ``using X = Y<int>;``."""
        lines = self._lines.of(placed.place.path)
        above = "\n".join(lines[placed.caller.definition.location.line - 1 : placed.place.line])
        return [name for name, meant in _USING.findall(above) if last in _words(meant)]

    def _statement(self, place: Location) -> str:
        """The lines of the statement around a line."""
        lines = self._lines.of(place.path)
        first = last = min(place.line, len(lines)) - 1
        while first and place.line - first < _FEW and not _ENDS.search(lines[first - 1]):
            first -= 1
        while last + 1 < len(lines) and last - first < 2 * _FEW and not _ENDS.search(lines[last]):
            last += 1
        return "\n".join(lines[first : last + 1])

    def _expands(self, placed: PlacedEdge, words: set[str]) -> bool:
        """Whether the line uses a macro that may contain the edge."""
        if placed.caller.definition.macro_location or words & self._defines(placed.place.path):
            return True
        named = (known for word in words for known in self._facts.named(word))
        return bool(placed.edge.macro) and any(k.definition.kind == "macro" for k in named)

    def _macros(self, path: str) -> frozenset[str]:
        return frozenset(_DEFINE.findall("\n".join(self._lines.of(path))))

    def _target_problem(self, edge: Edge, name: str) -> str:
        known = self._facts.by_id(edge.target) if isinstance(edge.target, int) else None
        if known is None:
            return "its target is not a definition"
        found = known.definition.name
        return "" if found == name else f"{found} is another name"


def _words(text: str) -> Iterator[str]:
    return (match[0] for match in _WORD.finditer(text))
