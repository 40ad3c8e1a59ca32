"""The graph, walked both ways: from an operator down to what computes, from a definition up to the
operators that reach it.

A way is for a device once it has passed a kernel, a registration or a file of one: from there on
nothing of another device is on it. ``down`` and ``up`` are each other's inverse, so that A stands
in the chain of B if and only if B is reached from A.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from indexes.linking.edges import TO_DEFINITIONS, TO_OPERATORS, TO_STUBS, Edge
from indexes.linking.facts import Facts, Known, StubEntry
from indexes.linking.visible import path_device
from indexes.model.vocabulary import KernelRow

DEVICES = ("CPU", "CUDA", "MPS", "XPU", "HIP", "MTIA", "PrivateUse1")


def device_of_key(key: str) -> str:
    """The device that a backend dispatch key computes on; empty for alias and Meta keys."""
    return next((device for device in DEVICES if key.endswith(device)), "")


class GraphFacts(Facts, Protocol):
    """What a walk asks."""

    def by_id(self, number: int) -> Known | None:
        """The definition of a number."""

    def edges(self, caller: int) -> Sequence[Edge]:
        """What a body leads to, in order."""

    def edges_to(self, target: int | str) -> Sequence[Edge]:
        """The edges that lead to a definition, an overload, a stub or a library."""

    def registered_on(self, stub: str) -> Sequence[StubEntry]:
        """What is registered on a stub."""

    def registered_as(self, definition: int) -> Sequence[StubEntry]:
        """The stubs on which a function is registered."""

    def kernel_rows_of(self, definition: int) -> Sequence[KernelRow]:
        """The kernels that a definition is."""


NodeKind = Literal["definition", "operator", "stub"]


@dataclass(frozen=True, slots=True)
class Node:
    """A place on a way, with the device that the way is for: empty for every one."""

    kind: NodeKind
    what: int | str
    """The number of a definition, the name of an overload, a stub with its namespace."""
    device: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """From one node to another, and the fact that says so."""

    upper: Node
    lower: Node
    why: Edge | StubEntry | KernelRow


class Graph:
    """The steps out of and into nodes."""

    def __init__(self, facts: GraphFacts) -> None:
        self.facts = facts

    def down(self, node: Node) -> Iterator[Step]:
        """What a node leads to, in the order of its text."""
        if isinstance(node.what, int):
            yield from self._below_definition(node, node.what)
        elif node.kind == "stub":
            for entry in self.facts.registered_on(node.what):
                if entry.target is not None and node.device in ("", entry.device):
                    yield Step(node, Node("definition", entry.target, entry.device), entry)
        else:
            yield from self._below_operator(node, node.what)

    def _below_definition(self, node: Node, number: int) -> Iterator[Step]:
        for edge in self.facts.edges(number):
            kind = node_kind(edge)
            if kind == "definition":
                device = self._inside(edge.target, node.device)
                if device is not None:
                    yield Step(node, Node(kind, edge.target, device), edge)
            elif kind:
                yield Step(node, Node(kind, edge.target, node.device), edge)

    def _below_operator(self, node: Node, name: str) -> Iterator[Step]:
        for row in self.facts.kernels(name):
            device = device_of_key(row.key)
            if row.key == "Meta" or (device and node.device not in ("", device)):
                continue
            for definition in row.definitions:
                if known := self.facts.known(definition):
                    yield Step(node, Node("definition", known.id, device or node.device), row)

    def up(self, node: Node) -> Iterator[Step]:
        """What leads to a node."""
        for edge in self.facts.edges_to(node.what):
            if node_kind(edge) == node.kind and edge.caller >= 0:
                for device in self._before(node):
                    yield Step(Node("definition", edge.caller, device), node, edge)
        if isinstance(node.what, int):
            yield from self._above_function(node, node.what)

    def _above_function(self, node: Node, number: int) -> Iterator[Step]:
        for entry in self.facts.registered_as(number):
            if entry.device == node.device:
                for device in (node.device, ""):
                    yield Step(Node("stub", entry.stub, device), node, entry)
        for row in self.facts.kernel_rows_of(number):
            device = device_of_key(row.key)
            if row.key == "Meta" or (device and device != node.device):
                continue
            for before in dict.fromkeys((node.device, "" if device else node.device)):
                yield Step(Node("operator", row.op, before), node, row)

    # ------------------------------------------------------------------- devices

    def _inside(self, target: int | str, device: str) -> str | None:
        """The device of a way that enters a definition; None where it can't."""
        own = self.device(target)
        if not own or not device:
            return device or own
        return device if own == device else None

    def _before(self, node: Node) -> tuple[str, ...]:
        """The devices with which a way can have come along an edge to a node."""
        own = self.device(node.what)
        if own and own != node.device:
            return ()
        return (node.device, "") if own else (node.device,)

    def device(self, target: int | str) -> str:
        """The device whose build compiles a definition's file; empty for every one."""
        known = self.facts.by_id(target) if isinstance(target, int) else None
        return path_device(known.definition.location.path) if known else ""


def node_kind(edge: Edge) -> NodeKind | None:
    """What an edge leads to; None where the way ends, or goes on by other edges."""
    if edge.kind in TO_OPERATORS:
        return "operator"
    if edge.kind in TO_STUBS:
        return "stub"
    return "definition" if edge.kind in TO_DEFINITIONS and edge.kind != "macro" else None
