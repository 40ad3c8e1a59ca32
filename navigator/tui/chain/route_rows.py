"""The routes of a device as groups of steps, each step with what its chain says of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from indexes.model.vocabulary import Chain, Hop, Location, Role, Route, Way
from navigator.tui.chain.chain_rows import Groups
from navigator.tui.text import short_symbol

_LAST: dict[str, Role] = {"library": "library", "launch": "launch"}
"""The roles of functions that compute; of all others it is ``device_kernel``."""


def route_groups(device: str, routes: Sequence[Route], chain: Chain) -> Groups:
    """The routes of a device, the usual one first: one group each."""
    hops = {_key(hop.symbol, hop.location): hop for hop in reversed(chain.hops)}
    own = [one for one in routes if one.device == device]
    found: dict[str, Sequence[Hop]] = {}
    first = 0
    for number, route in enumerate(own, 1):
        steps = list(_steps(route, hops, first))
        found[f"{_title(route, number, len(own))}"] = steps
        first += len(steps)
    return found


def _title(route: Route, number: int, count: int) -> str:
    """``CPU route 2 of 6: gemm, if 2-D``."""
    which = f" {number} of {count}" if count > 1 else ""
    return f"{route.device} route{which}: {short_symbol(route.symbol)}{condition(route)}"


def condition(route: Route) -> str:
    """When a route is taken; empty for always."""
    return f", if {' and '.join(route.conditions)}" if route.conditions else ""


def _steps(route: Route, hops: Mapping[tuple[str, str, int], Hop], first: int) -> Iterator[Hop]:
    ways = [*route.via, Way(route.symbol, route.location)]
    for number, way in enumerate(_once(ways)):
        is_last = way.symbol == route.symbol and way.location == route.location
        known = hops.get(_key(way.symbol, way.location)) or _bare(way, route)
        step = replace(known, id=first + number, parent=None, folded={}, again=None)
        yield _last(step, route) if is_last else step


def _once(ways: Iterable[Way]) -> list[Way]:
    return list(dict.fromkeys(ways))


def _key(symbol: str, location: Location | None) -> tuple[str, str, int]:
    where = location or Location("", 0)
    return short_symbol(symbol), where.path, where.line


def _bare(way: Way, route: Route) -> Hop:
    """A step that the chain does not list."""
    where = way.location if way.location.path else None
    rule = f"on this way to {short_symbol(route.symbol)}"
    return Hop(0, None, "call", way.symbol, where, rule, route.confidence)


def _last(step: Hop, route: Route) -> Hop:
    """The step that computes."""
    notes = (step.note, f"computes: {route.kind}", route.note, condition(route)[2:])
    note = " · ".join(dict.fromkeys(filter(None, notes)))
    role = _LAST.get(route.kind, "device_kernel")
    return replace(step, role=role, work="computes", note=note, continues="")
