"""The graph that impact walks: nodes and the edges between them."""

from __future__ import annotations

from dataclasses import dataclass, field

from indexes.linking.facts import Known
from indexes.model.impact import Step, StepKind
from indexes.model.vocabulary import Confidence, Location

_KINDS: dict[str, StepKind] = {
    "macro": "macro",
    "class": "class",
    "enum": "class",
    "global": "global",
}


@dataclass(frozen=True, slots=True)
class Node:
    """Something reached. Equal if kind and key are."""

    kind: StepKind
    key: str
    symbol: str = field(compare=False)
    location: Location | None = field(compare=False)
    known: Known | None = field(default=None, compare=False)
    """The definition of a C++ node."""
    aspect: str = field(default="", compare=False)
    """The aspect of an operator that is reached."""
    device: str = ""
    """The device of the stub entry on the path, which excludes kernels for others."""
    keys: frozenset[str] | None = field(default=None, compare=False)
    """The dispatch keys with which it is reached; None for no restriction."""

    @staticmethod
    def of(known: Known) -> Node:
        """The node of a C++ definition."""
        found = known.definition
        kind = _KINDS.get(found.kind, "function")
        return Node(kind, str(known.id), found.qualified, found.location, known)


@dataclass(frozen=True, slots=True)
class Edge:
    """The next node, and the reason."""

    node: Node
    rule: str
    evidence: Location | None
    confidence: Confidence = "exact"
    candidates: int = 1
    dispatch: bool = False
    """Whether this step goes through the dispatcher."""

    def step(self, number: int, parent: int | None, weakest: Confidence, dispatches: int) -> Step:
        """The step of an answer, with ``weakest`` and ``dispatches`` of the whole path."""
        node, own = self.node, (self.confidence, self.candidates)
        what = (node.kind, node.symbol, node.location, self.rule, self.evidence)
        return Step(number, parent, *what, *own, weakest, dispatches)
