"""The graph, walked both ways: from an operator down to what computes, from a definition up to the
operators that reach it.

A path belongs to a device once it has passed a kernel, a registration or a file of that device:
from there on it takes no step of another device. ``down`` and ``up`` are inverse, so that A is in
the chain of B if and only if B is reached from A.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, Protocol

from indexes.codegen.variants import called_by_generated, generated_callers, is_generated
from indexes.linking.facts import (
    TO_DEFINITIONS,
    TO_OPERATORS,
    TO_STUBS,
    Edge,
    Facts,
    Known,
    StubEntry,
)
from indexes.linking.visible import path_device, stub_name, stub_scope
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import Choice, KernelRow

DEVICES = ("CPU", "CUDA", "MPS", "XPU", "HIP", "MTIA", "PrivateUse1")


def device_of_key(key: str) -> str:
    """The device that a backend key computes on; empty for alias and Meta keys."""
    return next((device for device in DEVICES if key.endswith(device)), "")


def dispatched_device(edge: Edge) -> str:
    """The device of a call that skips the dispatcher, as ``at::cpu::_softmax``; else empty."""
    if edge.kind != "static dispatch":
        return ""
    words = edge.symbol.lower().split("::")
    return next((device for device in DEVICES if device.lower() in words), "")


class GraphFacts(Facts, Protocol):
    """The questions of a walk."""

    def by_id(self, number: int) -> Known | None:
        """The definition of a number."""

    def edges(self, caller: int) -> Sequence[Edge]:
        """The edges of a body, in source order."""

    def conditions(self, edge: Edge) -> Sequence[Choice]:
        """The branches around an edge, outermost first."""

    def edges_to(self, target: int | str) -> Sequence[Edge]:
        """The edges to a definition, an overload, a stub or a library."""

    def registered_on(self, stub: str) -> Sequence[StubEntry]:
        """The registrations on a stub."""

    def registered_as(self, definition: int) -> Sequence[StubEntry]:
        """The registrations of a function on stubs."""

    def kernels_calling(self, op: str) -> Sequence[KernelRow]:
        """The Python kernels that call an operator."""

    def kernel_rows_of(self, definition: int) -> Sequence[KernelRow]:
        """The kernel rows with this definition."""

    def generated_kernels(self) -> Sequence[str]:
        """The operators with a kernel that torchgen generates."""


CLONE, COPY = "clone", "copy_"
UFUNC_LOOP = "gpu_kernel"
"""What torchgen's CUDA kernels around inner functions call (torchgen/dest/ufunc.py)."""
NodeKind = Literal["definition", "operator", "stub"]


class Node(NamedTuple):
    """A place on a path, with the device of the path; empty for any device."""

    kind: NodeKind
    what: int | str
    """The number of a definition, the name of an overload, or a stub with its namespace."""
    device: str = ""


class Step(NamedTuple):
    """A step between two nodes, with the fact it follows from."""

    upper: Node
    lower: Node
    why: Edge | StubEntry | KernelRow


class Graph:
    """The steps from and to nodes."""

    def __init__(self, facts: GraphFacts) -> None:
        self.facts = facts
        self.down = lru_cache(16384)(self._down)  # a search passes most nodes many times

    def _down(self, node: Node) -> Sequence[Step]:
        """The steps below a node, in source order."""
        return tuple(self._below(node))

    def _below(self, node: Node) -> Iterator[Step]:
        if isinstance(node.what, int):
            yield from filter(None, (self.step(node, edge) for edge in self.facts.edges(node.what)))
        elif node.kind == "stub":
            yield from self._below_stub(node, node.what)
        else:
            for row in (*self.facts.kernels(node.what), *self.made_rows(node.what)):
                yield from self.row_steps(node, row)

    def made_rows(self, name: str) -> Iterator[KernelRow]:
        """The kernels that torchgen makes of structured out kernels that are registered for devices
        without being in the YAML: they call those on new outputs."""
        native = self.facts.native(name)
        out = native.structured_delegate if native else None
        own = {row.key for row in self.facts.kernels(name)} if out else ()
        rule = f"structured_delegate: torchgen calls {out} on new outputs"
        for key in dict.fromkeys(row.key for row in self.facts.kernels(out)) if out else ():
            if device_of_key(key) == key and key not in own:
                yield KernelRow(name, key, "", "composite", (), "by rule", rule, calls=str(out))

    def delegating(self, out: str) -> Iterator[KernelRow]:
        """The made kernels that call a structured out kernel."""
        base = out.partition(".")[0]
        for one in (*self.facts.overloads(base), *self.facts.overloads(f"{base}_")):
            if one.structured_delegate == out:
                yield from self.made_rows(one.full_name)

    def step(self, node: Node, edge: Edge) -> Step | None:
        """The step along an edge; None if it leads to no node or to another device."""
        kind = node_kind(edge)
        device: str | None = node.device
        if kind == "definition":
            device = self._inside(edge.target, node.device)
        elif kind == "operator" and (only := dispatched_device(edge)):
            device = only if node.device in ("", only) else None
        return (
            None
            if kind is None or device is None
            else Step(node, Node(kind, edge.target, device), edge)
        )

    def _below_stub(self, node: Node, stub: str) -> Iterator[Step]:
        for entry in self.facts.registered_on(stub):
            if entry.target is not None and node.device in ("", entry.device):
                yield Step(node, Node("definition", entry.target, entry.device), entry)
        for row in self.ufunc_rows(stub):
            yield from self.row_steps(node, row)

    def ufunc_rows(self, stub: str) -> Sequence[KernelRow]:
        """The kernels whose ufunc inner loops torchgen registers on a stub, as ``add_stub``."""
        base, _, last = stub.rpartition("::")[2].rpartition("_")
        made = self.facts.overloads(base) if last == "stub" else ()
        return [
            row
            for native in made
            if native.ufunc_inner_loop
            for row in self.facts.kernels(native.full_name)
            if stub in self._ufunc_stubs(row)
        ]

    def row_steps(self, node: Node, row: KernelRow) -> Iterator[Step]:
        """The steps through a kernel of an operator, or of a stub that torchgen defines."""
        device = device_of_key(row.key)
        if row.key == "Meta" or (device and node.device not in ("", device)):
            return
        for definition in row.definitions:
            if known := self.facts.known(definition):
                yield Step(node, Node("definition", known.id, device or node.device), row)
        if row.calls:
            yield Step(node, Node("operator", row.calls, device or node.device), row)
        for called in self._called(row.op) if row.kind == "generated" else ():
            yield Step(node, Node("operator", called, node.device), row)

    def _called(self, op: str) -> Iterator[str]:
        """The operators that a generated kernel calls: for a ``_copy`` the view and ``clone``, for
        an ``out`` the functional one and ``copy_`` (gen_composite_out_kernel)."""
        native = self.facts.native(op)
        called = native and called_by_generated(native, self.facts.overloads)
        if native and called:
            yield called.full_name
            if not is_generated(native):  # it is in the YAML: a _copy
                yield CLONE
            elif parse_schema(native.schema).out_arguments:
                yield COPY

    def without_dispatch(self, start: Node) -> Iterator[Step]:
        """All steps below a node that are reached without calling an operator."""
        seen, pending = {start}, deque([start])
        while pending:
            for step in self.down(pending.popleft()):
                if step.lower.kind != "operator":
                    yield step
                    if step.lower not in seen:
                        seen.add(step.lower)
                        pending.append(step.lower)

    def up(self, node: Node) -> list[Step]:
        """The steps that lead to a node."""
        return list(self._above(node))

    def _above(self, node: Node) -> Iterator[Step]:
        for edge in self.facts.edges_to(node.what):
            if node_kind(edge) == node.kind and edge.caller >= 0:
                for device in self._before(node, edge):
                    yield Step(Node("definition", edge.caller, device), node, edge)
        if isinstance(node.what, int):
            yield from self._above_function(node, node.what)
        elif node.kind == "operator":
            yield from self._above_operator(node, node.what)
            for row in self.delegating(node.what):
                if device_of_key(row.key) == node.device:
                    for before in (node.device, ""):
                        yield Step(Node("operator", row.op, before), node, row)

    def _above_operator(self, node: Node, name: str) -> Iterator[Step]:
        for row in self.facts.kernels_calling(name):
            device = device_of_key(row.key)
            if not device or device == node.device:
                for before in dict.fromkeys((node.device, "" if device else node.device)):
                    yield Step(Node("operator", row.op, before), node, row)
        native = self.facts.native(name)
        if native and native.defined_by:
            return  # torchgen makes kernels for the operators of the YAML alone
        made = generated_callers(native, self.facts.overloads) if native else ()
        names = [one.full_name for one in made]
        if name in (CLONE, COPY):
            names += [op for op in self.facts.generated_kernels() if name in self._called(op)]
        for caller in dict.fromkeys(names):
            for row in self.facts.kernels(caller):
                if row.kind == "generated":
                    yield Step(Node("operator", caller, node.device), node, row)

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
                for stub in self._ufunc_stubs(row):
                    yield Step(Node("stub", stub, before), node, row)

    def _ufunc_stubs(self, row: KernelRow) -> list[str]:
        """The stubs on which torchgen registers the inner loops of a kernel."""
        native = self.facts.native(row.op)
        if row.kind != "ufunc" or not (native and native.ufunc_inner_loop):
            return []
        uses = self.facts.stub_uses(f"{native.name}_stub")
        return list(dict.fromkeys(stub_name(stub_scope(use), use.stub) for use in uses))

    # ------------------------------------------------------------------- devices

    def _inside(self, target: int | str, device: str) -> str | None:
        """The device of a path after it enters a definition; None if it is for another device."""
        own = self.device(target)
        if not own or not device:
            return device or own
        return device if own == device else None

    def _before(self, node: Node, edge: Edge) -> tuple[str, ...]:
        """The devices a path can have had before an edge to a node."""
        own = self.device(node.what) or dispatched_device(edge)
        if own and own != node.device:
            return ()
        return (node.device, "") if own else (node.device,)

    def device(self, target: int | str) -> str:
        """The device that a definition's file is compiled for; empty for any."""
        known = self.facts.by_id(target) if isinstance(target, int) else None
        return path_device(known.definition.location.path) if known else ""


def node_kind(edge: Edge) -> NodeKind | None:
    """The kind of node that an edge leads to; None if the path ends there."""
    if edge.kind in TO_OPERATORS:
        return "operator"
    if edge.kind in TO_STUBS:
        return "stub"
    return "definition" if edge.kind in TO_DEFINITIONS and edge.kind != "macro" else None
