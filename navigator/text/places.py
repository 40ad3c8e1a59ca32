"""What is at a line as plain text: its calls, and the operators that reach it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from indexes.model.answers import Callee, Place, ReachingPath
from indexes.model.lines import grouped
from navigator.text.answers import entry, sureness, wrap

_WAYS = 5
"""Paths shown, unless all are requested."""
_NAMES = 12
"""Operators named for each path, and for those without one."""

_BY = {"kernel": "", "meta": ", by what checks their inputs", "backward": ", by their formulas"}


def place_lines(places: Iterable[Place], everything: bool = False) -> Iterator[str]:
    """Places, innermost first; ``everything`` lists all operators and paths."""
    most = None if everything else _WAYS
    for place in places:
        end = place.location.end_line
        until = f" to line {end}" if end > place.location.line else ""
        yield from entry(f"{place.kind} {place.name}", f"{place.location}{until}", place.detail)
        yield from _callee_lines(place.calls)
        yield from wrap(_rule(place), "    ")
        yield from _way_lines(place, most)


def _callee_lines(calls: Sequence[Callee]) -> Iterator[str]:
    if calls:
        yield "    this line calls"
    for call in calls:
        unsure = sureness(call.confidence, " ({})")
        where = f" {call.location}" if call.location else ""
        yield from wrap(f"{call.name}{where}: {call.rule}{unsure}", "      ")


def _rule(place: Place) -> str:
    if not place.operators:
        return place.rule
    count = len(place.operators)
    return f"{place.rule or 'operators'}: {count}" if count > 1 else place.rule


def _way_lines(place: Place, most: int | None) -> Iterator[str]:
    alike = grouped(((way.via, way.devices, way.side), way) for way in place.ways)
    shown: set[str] = set()
    for ways in islice(alike.values(), most):
        shown.update(way.op for way in ways)
        yield from wrap(_way(ways, most), "      ")
    left = [op for op in place.operators if op not in shown]
    if left:
        yield from wrap(_named(left, most), "      ")


def _way(ways: Sequence[ReachingPath], most: int | None) -> str:
    """Operators that share a path, and the path: ``sum, sum.out (CPU): sum_out > sum_stub``."""
    first = ways[0]
    devices = f" ({', '.join(first.devices)})" if first.devices else ""
    by = _BY[first.side]
    via = " > ".join(one.symbol.rpartition("::")[2] for one in first.via)
    return f"{_named([way.op for way in ways], most)}{devices}{by}{': ' if via else ''}{via}"


def _named(operators: Sequence[str], most: int | None) -> str:
    shown = operators if most is None else operators[:_NAMES]
    left = len(operators) - len(shown)
    more = f" and {left} more (--all lists them)" if left else ""
    return ", ".join(shown) + more
