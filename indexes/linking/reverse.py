"""Backwards: which kernels, and so which operators, reach a definition."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from indexes.linking.facts import Call, Facts, Known, StubUse
from indexes.linking.registrations import function_name, registered_function
from indexes.linking.visible import visible_functions, visible_functors, visible_stub

MAX_VISITED = 4000


class ReverseFacts(Facts, Protocol):
    """What going backwards asks besides."""

    def callers(self, name: str) -> Sequence[tuple[Known, Call]]:
        """Every use of a name in a body."""

    def registrations_in(self, path: str) -> Sequence[StubUse]:
        """The lines of a file that register functions on stubs."""

    def kernel_of(self, known: Known) -> Sequence[str]:
        """The overloads whose kernel a definition is."""


@dataclass(frozen=True, slots=True)
class Reaching:
    """An overload that reaches a definition, through these names, nearest first."""

    op: str
    through: tuple[str, ...]


def callers_of(known: Known, facts: ReverseFacts) -> list[tuple[Known, Call]]:
    """The uses of a definition's name that can mean it."""
    name = known.definition.name
    if name == "operator()":
        owner = known.definition.scope.rpartition("::")[2]
        return [use for use in facts.callers(owner) if known.id in _functor_methods(*use, facts)]
    calls = [(caller, call) for caller, call in facts.callers(name) if call.kind != "member"]
    return [
        (caller, call)
        for caller, call in calls
        if caller.id != known.id
        and any(k.id == known.id for k in visible_functions(call, caller, facts))
    ]


def _functor_methods(caller: Known, call: Call, facts: Facts) -> set[int]:
    return {m.id for _, methods in visible_functors(call, caller, facts) for m in methods}


def stubs_of(known: Known, facts: ReverseFacts) -> list[StubUse]:
    """The registrations that put a function on a stub."""
    name = known.definition.name
    return [
        use
        for use in facts.registrations_in(known.definition.location.path)
        if function_name(registered_function(use)) == name
    ]


def stub_callers(stub: str, facts: ReverseFacts) -> list[tuple[Known, Call]]:
    """The bodies that use a stub."""
    simple = stub.rpartition("::")[2]
    return [
        (caller, call)
        for caller, call in facts.callers(simple)
        if call.kind != "member" and visible_stub(call, caller, facts)
    ]


def reaching(start: Sequence[Known], stubs: Sequence[str], facts: ReverseFacts) -> list[Reaching]:
    """The operators whose kernels reach one of ``start`` or use one of ``stubs``."""
    found: dict[str, Reaching] = {}
    seen: set[int] = set()
    pending: deque[tuple[Known, tuple[str, ...]]] = deque((k, ()) for k in start)
    for stub in stubs:
        pending.extend((caller, (stub,)) for caller, _ in stub_callers(stub, facts))
    while pending and len(seen) < MAX_VISITED:
        known, through = pending.popleft()
        if known.id in seen:
            continue
        seen.add(known.id)
        for op in facts.kernel_of(known):
            found.setdefault(op, Reaching(op, through))
        onwards = (*through, known.definition.name)
        pending.extend((caller, onwards) for caller, _ in callers_of(known, facts))
        for use in stubs_of(known, facts):
            pending.extend(
                (caller, (*onwards, use.stub)) for caller, _ in stub_callers(use.stub, facts)
            )
    return list(found.values())
