"""Data of a walk: its extent, places to expand, uses in a body, kernels of a symbol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from indexes.linking.facts import Edge, Known
from indexes.linking.graph import Node, Step
from indexes.model.vocabulary import Choice, KernelRow, Location, Work

MAIN_KEYS = ("CPU", "CUDA", "MPS")
SPECIAL = 40
"""The extra distance through a kernel for sparse, quantized or nested tensors."""
UNUSUAL = 20
"""The extra distance of a condition that does not hold for usual tensors."""
ON_THE_WAY = frozenset[Work](("computes", "chooses", "dispatches"))


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of a chain is wanted."""

    full: bool = False
    """Everything expanded and listed, nothing folded."""
    depth: int | None = None
    """Most dispatches followed; None for all."""
    limit: int | None = None
    """Most hops listed; None for all."""
    dtypes: bool = True
    """Whether hops have dtypes."""


@dataclass(slots=True)
class Place:
    """A hop to expand."""

    hop: int
    nodes: Sequence[Node]
    """Its place in the graph, for each device of the path."""
    follows: bool
    """Whether operators that it calls are expanded."""
    dispatches: int
    cost: int = 0
    """The distance from the operator; unusual paths are longer."""

    def below(self, hop: int, nodes: Sequence[Node], cost: int = 1) -> Place:
        return Place(hop, nodes, self.follows, self.dispatches, self.cost + cost)


@dataclass(slots=True)
class Use:
    """Calls of one target in a body: its edges, and the steps on this path."""

    edges: list[Edge] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    work: Work = "helps"
    choices: tuple[Choice, ...] = ()
    """The conditions of the call at run time."""
    unusual: int = 0
    """The number of conditions that do not hold for usual tensors."""

    @property
    def cost(self) -> int:
        return 1 + self.unusual * UNUSUAL

    @property
    def nodes(self) -> list[Node]:
        return list(dict.fromkeys(step.lower for step in self.steps))


@dataclass(frozen=True, slots=True)
class Row:
    """Kernels of one symbol, with their keys."""

    rows: Sequence[KernelRow]
    steps: Sequence[Step]
    """The steps on this path."""
    parent: int
    """The hop above them."""
    cost: int = 0

    @property
    def first(self) -> KernelRow:
        return self.rows[0]

    @property
    def keys(self) -> list[str]:
        return [row.key for row in self.rows]

    @property
    def is_special(self) -> bool:
        return self.cost >= SPECIAL

    def nodes_of(self, known: Known | None) -> list[Node]:
        """The nodes of a definition on this path."""
        return nodes_of(step for step in self.steps if known and step.lower.what == known.id)


def nodes_of(steps: Iterable[Step]) -> list[Node]:
    return list(dict.fromkeys(step.lower for step in steps))


def at(known: Known, edge: Edge) -> Location:
    return Location(known.definition.location.path, edge.line)


def other_lines(known: Known, use: Use) -> list[Location]:
    """The lines of a call after the first."""
    lines = dict.fromkeys(edge.line for edge in use.edges)
    return [Location(known.definition.location.path, line) for line in list(lines)[1:]]
