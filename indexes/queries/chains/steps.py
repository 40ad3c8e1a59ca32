"""What a walk notes: how much is wanted, places to expand, uses in a body, kernels of a symbol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from indexes.linking.facts import Edge, Known
from indexes.linking.graph import Node, Step
from indexes.model.vocabulary import Choice, KernelRow, Location, Work

MAIN_KEYS = ("CPU", "CUDA", "MPS")
SPECIAL = 40
"""How much longer the way through a kernel for sparse, quantized or nested tensors is."""
UNUSUAL = 20
"""How much longer the way under a condition is that does not hold for most tensors."""
ON_THE_WAY = frozenset[Work](("computes", "chooses", "dispatches"))


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of a chain is wanted."""

    full: bool = False
    """Every operator expanded, everything listed, nothing folded."""
    depth: int | None = None
    """Dispatches that are followed; None for all."""
    limit: int | None = None
    """Hops that are listed; None for all."""
    dtypes: bool = True
    """Whether hops have the dtypes that they are made for."""


@dataclass(slots=True)
class Place:
    """A hop whose steps are to be listed below it."""

    hop: int
    nodes: Sequence[Node]
    """Where it is: one place, for each device that the way is for."""
    follows: bool
    """Whether operators that it calls are expanded."""
    dispatches: int
    cost: int = 0
    """How far it is from the operator; unusual ways are longer."""

    def below(self, hop: int, nodes: Sequence[Node], cost: int = 1) -> Place:
        return Place(hop, nodes, self.follows, self.dispatches, self.cost + cost)


@dataclass(slots=True)
class Use:
    """Calls of one thing in a body: its edges, and the steps that they are on this way."""

    edges: list[Edge] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    work: Work = "helps"
    choices: tuple[Choice, ...] = ()
    """What decides at run time whether the call is made."""
    unusual: int = 0
    """How many of them do not hold for the tensors that most have."""

    @property
    def cost(self) -> int:
        return 1 + self.unusual * UNUSUAL

    @property
    def nodes(self) -> list[Node]:
        return list(dict.fromkeys(step.lower for step in self.steps))


@dataclass(frozen=True, slots=True)
class Row:
    """Kernels of one symbol, by the keys under which an operator has them."""

    rows: Sequence[KernelRow]
    steps: Sequence[Step]
    """What they are on this way."""
    parent: int
    """The hop that they stand below."""
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
        """Where a definition of theirs is on this way."""
        return nodes_of(step for step in self.steps if known and step.lower.what == known.id)


def nodes_of(steps: Iterable[Step]) -> list[Node]:
    return list(dict.fromkeys(step.lower for step in steps))


def at(known: Known, edge: Edge) -> Location:
    return Location(known.definition.location.path, edge.line)


def other_lines(known: Known, use: Use) -> list[Location]:
    """The lines of a call after the first."""
    lines = dict.fromkeys(edge.line for edge in use.edges)
    return [Location(known.definition.location.path, line) for line in list(lines)[1:]]
