"""A dispatch stub as hops: its declaration, definition and registrations."""

from __future__ import annotations

from collections.abc import Sequence

from indexes.linking.facts import StubEntry, StubUse
from indexes.linking.graph import Node
from indexes.linking.visible import stub_name, stub_scope
from indexes.model.lines import grouped
from indexes.model.vocabulary import KernelRow
from indexes.queries.chains.kernels import Kernels
from indexes.queries.chains.steps import Place, Row
from indexes.queries.chains.walk import ChainWalk, Lister
from indexes.store.lookup import Lookup


class Stubs(Lister):
    """Lists what is registered on stubs, for a walk."""

    def __init__(self, walk: ChainWalk, kernels: Kernels) -> None:
        super().__init__(walk)
        self.kernels = kernels

    def of(self, place: Place, stub: str) -> None:
        """Lists where a stub is declared and defined, and what is registered on it."""
        name, lines = stub.rpartition("::")[2], lines_of(self.facts, stub)
        for use in lines:
            if use.what != "registered":
                rule = f"{use.macro}: the stub is {use.what} here"
                arguments = (name, use.location, rule)
                self.hops.add(place.hop, "stub", *arguments, guard=use.guard, work="dispatches")
        entries = self.facts.registered_on(stub)
        made = self.graph.ufunc_rows(stub)
        self._made_by_torchgen(place, name, made)
        if not entries and not made:
            what = "declared" if all(use.what == "declared" for use in lines) else "defined"
            reason = f"{name} is {what} but no line of this tree registers a function on it"
            self.hops.miss(place.hop, "registration", name, reason)
        devices = {node.device for node in place.nodes}
        wanted = [one for one in entries if "" in devices or one.device in devices]
        for builds in self._registrations(wanted):
            self._registration(place, builds)

    def _made_by_torchgen(self, place: Place, name: str, rows: Sequence[KernelRow]) -> None:
        for one in rows:
            rule = f"torchgen defines and registers {name} from ufunc_inner_loop of {one.op}"
            steps = [step for node in place.nodes for step in self.graph.row_steps(node, one)]
            row = Row([one], steps, place.hop)
            for found in one.definitions if steps else ():
                self.kernels.inner_loop(place, row, found, rule)

    def _registrations(self, entries: Sequence[StubEntry]) -> list[list[list[StubEntry]]]:
        """The registering lines with their targets; equal ones of a device together unless
        everything is listed, ``nullptr`` last."""
        lines = grouped(((one.location, one.macro, one.function), one) for one in entries)
        builds: dict[object, list[list[StubEntry]]] = {}
        for at, line in lines.items():
            targets = tuple(one.target for one in line)
            same = at if self.extent.full else (line[0].device, targets, line[0].reason)
            builds.setdefault(same, []).append(line)
        return sorted(builds.values(), key=lambda one: one[0][0].target is None)

    def _registration(self, place: Place, builds: Sequence[Sequence[StubEntry]]) -> None:
        line = builds[0]
        first = line[0]
        stub = first.stub.rpartition("::")[2]
        note = ""
        if len(builds) > 1:
            names = " ".join(_build(one[0].macro) for one in builds)
            note = f"{len(builds)} {first.device} builds: {names}"
        hop = self.hops.add(
            place.hop,
            "registration",
            f"{first.macro}({stub}, {first.function})",
            first.location,
            f"{first.macro} sets the {first.device} entry of the stub",
            device=first.device,
            guard=first.guard,
            evidence=[one[0].location for one in builds[1:]],
            note=note,
            work="dispatches",
        )
        for one in line:
            if one.target is None:
                self.hops.miss(hop, "device_kernel", f"{stub}: {one.function}", one.reason)
            else:
                self._registered(place.below(hop, ()), one, one.target, len(line) > 1)

    def _registered(self, place: Place, one: StubEntry, target: int, several: bool) -> None:
        known = self.facts.by_id(target)
        if known is None:
            return
        node = Node("definition", target, one.device)
        work = self.works.of(node)
        is_here = known.definition.location.path == one.location.path
        where = "in the file of its registration" if is_here else "which a header declares there"
        rule = f"the registered function, {where}"
        if several:
            rule += "; one definition for each build configuration"
        hop = self.hops.add_definition(
            place.hop,
            "call" if work == "chooses" else "device_kernel",
            known.definition,
            rule,
            device=one.device,
            evidence=[one.location],
            dtypes=self.walk.dtypes(known.definition),
            work=work,
        )
        self.walk.enter(place.below(hop, (node,)))


def lines_of(facts: Lookup, stub: str) -> list[StubUse]:
    """The lines that declare, define and register a stub."""
    uses = facts.stub_uses(stub.rpartition("::")[2])
    return [use for use in uses if stub_name(stub_scope(use), use.stub) == stub]


def _build(macro: str) -> str:
    """``AVX2`` for ``REGISTER_ARCH_DISPATCH:AVX2`` and ``REGISTER_AVX2_DISPATCH``."""
    name, _, given = macro.partition(":")
    return given or name.removeprefix("REGISTER_").removesuffix("_DISPATCH")
