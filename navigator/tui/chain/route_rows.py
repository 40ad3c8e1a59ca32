"""The routes of a device as groups of steps, with details from the chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from indexes.model.answers import Chain, Hop, Route, Way
from indexes.model.vocabulary import Location, Role
from navigator.tui.chain.chain_rows import Groups
from navigator.tui.text import short_symbol

_LAST: dict[str, Role] = {"library": "library", "launch": "launch"}
"""Roles of functions that compute; other kinds have ``device_kernel``."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a call is known to have run."""

    op: str
    device: str
    operators: frozenset[str] = frozenset()
    """Operators below it, without overloads."""
    functions: frozenset[tuple[str, int]] = frozenset()
    """Paths and lines of the device kernels that it launched, and of their launches."""

    def route(self, routes: Sequence[Route]) -> Route | None:
        """The route that the call took, by launched kernels or else called operators."""
        candidates = [one for one in routes if one.device == self.device and one.kind != "none"]
        ways = [one for one in candidates if self._operators_of(one) <= self.operators]
        reached = [one for one in ways if self._launched(one)]
        through = [one for one in ways if self._operators_of(one)]
        if reached or len(candidates) == 1:
            return (reached or candidates)[0]
        return max(through, key=lambda one: len(self._operators_of(one)), default=None)

    def _operators_of(self, route: Route) -> set[str]:
        """The operators after the first one; their entries are in YAML."""
        passed = (one for one in route.via[1:] if one.location.path.endswith(".yaml"))
        return {one.symbol.partition(".")[0] for one in passed}

    def _launched(self, route: Route) -> bool:
        places = (route.location, *(one.location for one in route.via))
        return any((place.path, place.line) in self.functions for place in places)


def route_groups(
    device: str, routes: Sequence[Route], chain: Chain, ran: Route | None = None
) -> Groups:
    """A group for each route of a device, the usual one first. The one in ``ran`` is marked."""
    hops = {_key(hop.symbol, hop.location): hop for hop in reversed(chain.hops)}
    listed = [one for one in routes if one.device == device]
    found: dict[str, Sequence[Hop]] = {}
    first = 0
    for number, route in enumerate(listed, 1):
        steps = list(_steps(route, hops, first))
        mark = "▶ ran: " if route is ran else ""
        found[f"{mark}{_title(route, number, len(listed))}"] = steps
        first += len(steps)
    return found


def _title(route: Route, number: int, count: int) -> str:
    """``CPU route 2 of 6: gemm, if 2-D``."""
    which = f" {number} of {count}" if count > 1 else ""
    return f"{route.device} route{which}: {short_symbol(route.symbol)}{condition(route)}"


def condition(route: Route) -> str:
    """The conditions of a route; empty for none."""
    return f", if {' and '.join(route.conditions)}" if route.conditions else ""


def _steps(route: Route, hops: Mapping[tuple[str, str, int], Hop], first: int) -> Iterator[Hop]:
    ways = [*route.via, Way(route.symbol, route.location)]
    for number, way in enumerate(dict.fromkeys(ways)):
        is_last = way.symbol == route.symbol and way.location == route.location
        known = hops.get(_key(way.symbol, way.location)) or _unlisted_step(way, route)
        step = replace(known, id=first + number, parent=None, folded={}, again=None)
        yield _last(step, route) if is_last else step


def _key(symbol: str, location: Location | None) -> tuple[str, str, int]:
    where = location or Location("", 0)
    return short_symbol(symbol), where.path, where.line


def _unlisted_step(way: Way, route: Route) -> Hop:
    """A step that the chain does not list."""
    where = way.location if way.location.path else None
    rule = f"on this route to {short_symbol(route.symbol)}"
    return Hop(0, None, "call", way.symbol, where, rule, route.confidence)


def _last(step: Hop, route: Route) -> Hop:
    """The step that computes."""
    notes = (step.note, f"computes: {route.kind}", route.note, condition(route)[2:])
    note = " · ".join(dict.fromkeys(filter(None, notes)))
    role = _LAST.get(route.kind, "device_kernel")
    return replace(step, role=role, work="computes", note=note, continues="")
