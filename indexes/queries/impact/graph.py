"""The graph that impact is a walk of: what can be reached, and the edges in between."""

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
    """Something that can be reached. Equal when kind and key are."""

    kind: StepKind
    key: str
    symbol: str = field(compare=False)
    location: Location | None = field(compare=False)
    known: Known | None = field(default=None, compare=False)
    """The C++ definition, for one."""
    aspect: str = field(default="", compare=False)
    """Of an operator: what of it is reached."""
    device: str = ""
    """The device whose entry of a stub the way leads through: kernels for others are not
    reached that way."""
    keys: frozenset[str] | None = field(default=None, compare=False)
    """The dispatch keys with which it is reached; None where it does not narrow them."""

    @staticmethod
    def of(known: Known) -> Node:
        """The node of a C++ definition."""
        found = known.definition
        kind = _KINDS.get(found.kind, "function")
        return Node(kind, str(known.id), found.qualified, found.location, known)


@dataclass(frozen=True, slots=True)
class Edge:
    """The node that is reached, and why."""

    node: Node
    rule: str
    evidence: Location | None
    confidence: Confidence = "exact"
    candidates: int = 1
    dispatch: bool = False
    """Whether the way leads through the dispatcher here."""

    def step(self, number: int, parent: int | None, weakest: Confidence, dispatches: int) -> Step:
        """The step of an answer, ``weakest`` and ``dispatches`` being those of the whole way."""
        node, own = self.node, (self.confidence, self.candidates)
        what = (node.kind, node.symbol, node.location, self.rule, self.evidence)
        return Step(number, parent, *what, *own, weakest, dispatches)
