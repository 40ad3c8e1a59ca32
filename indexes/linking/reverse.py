"""Up the graph: the operators that reach a place, by which way and for which devices."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from indexes.linking.facts import LibraryKernel
from indexes.linking.graph import DEVICES, Graph, GraphFacts, Node, Step, device_of_key
from indexes.model.vocabulary import DerivativeEntry

Side = Literal["kernel", "meta", "backward"]


def library_side(key: str) -> Side:
    """The side of an operator that a kernel registered for ``key`` is on."""
    if key.endswith("Meta"):
        return "meta"
    return "backward" if key.startswith("Autograd") else "kernel"


class ReverseFacts(GraphFacts, Protocol):
    """The further questions of walking up."""

    def library_kernels_of(self, definition: int) -> Sequence[LibraryKernel]:
        """The operators for which TORCH_LIBRARY blocks register a function."""

    def entry(self, position: int) -> DerivativeEntry:
        """The derivative entry at a position of the file."""


@dataclass(frozen=True, slots=True)
class Way:
    """How an operator reaches a place without calling another operator."""

    op: str
    side: Side
    """Whether a kernel, the meta function, or a formula of the derivative leads there."""
    steps: tuple[Step, ...]
    """From the kernel, or the function in the formula, down to the place."""
    devices: tuple[str, ...] = ()
    """Empty for all devices."""


def operators_reaching(starts: Iterable[Node], facts: ReverseFacts) -> list[Way]:
    """The operators whose own code reaches one of the places, by their shortest paths, sorted."""
    climb = _Climb(facts)
    for device, nodes in climb.started(starts).items():
        climb.run(device, nodes)
    return sorted(climb.ways(), key=lambda way: len(way.steps))


class _Climb:
    """Breadth-first search upwards, once for each device."""

    def __init__(self, facts: ReverseFacts) -> None:
        self.facts = facts
        self.graph = Graph(facts)
        self._found: dict[tuple[str, Side], Way] = {}
        self._devices: dict[tuple[str, Side], list[str]] = {}

    def started(self, starts: Iterable[Node]) -> Mapping[str, list[Node]]:
        """The start nodes for each device a path to them can have."""
        found: dict[str, list[Node]] = {}
        for start in starts:
            own = start.device or self.graph.device(start.what)
            for device in (own,) if own else ("", *DEVICES):
                found.setdefault(device, []).append(start._replace(device=device))
        return found

    def run(self, device: str, starts: Iterable[Node]) -> None:
        """Walks up from the places along paths for one device."""
        below: dict[Node, Step | None] = dict.fromkeys(starts)
        pending = deque(below)
        while pending:
            node = pending.popleft()
            for op, side in self._other_uses(node):
                self._keep(op, side, _down(node, below), device)
            for step in self.graph.up(node):
                upper = step.upper
                if upper.kind == "operator":
                    if not upper.device:
                        self._keep(str(upper.what), "kernel", _down(node, below), device)
                elif upper not in below:
                    below[upper] = step
                    pending.append(upper)

    def _other_uses(self, node: Node) -> Iterator[tuple[str, Side]]:
        if not isinstance(node.what, int):
            return
        for edge in self.facts.edges_to(node.what):
            if edge.caller < 0:
                yield self.facts.entry(-1 - edge.caller).op, "backward"
        for row in self.facts.kernel_rows_of(node.what):
            if row.key == "Meta":
                yield row.op, "meta"
        for one in self.facts.library_kernels_of(node.what):
            if one.op and device_of_key(one.key) in ("", node.device):
                yield one.op, library_side(one.key)
                made = self.graph.delegating(one.op)
                yield from ((row.op, "kernel") for row in made if row.key == one.key)

    def _keep(self, op: str, side: Side, steps: Iterator[Step], device: str) -> None:
        devices = self._devices.setdefault((op, side), [])
        if device not in devices:
            devices.append(device)
            way = Way(op, side, tuple(steps))
            before = self._found.setdefault((op, side), way)
            if len(way.steps) < len(before.steps):
                self._found[op, side] = way

    def ways(self) -> Iterator[Way]:
        """The paths found, each with its devices."""
        for key, way in self._found.items():
            devices = self._devices[key]
            yield way if "" in devices else replace(way, devices=tuple(devices))


def _down(node: Node, below: Mapping[Node, Step | None]) -> Iterator[Step]:
    step = below[node]
    while step:
        yield step
        step = below[step.lower]
