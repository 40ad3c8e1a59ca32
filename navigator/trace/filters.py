"""Filters for rows of a trace: words and terms such as ``phase:backward``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from navigator.trace.table import GONE, KINDS, PHASES, Table
from navigator.trace.trace import Trace

_DURATION = re.compile(r"([<>]=?)?(\d+(?:\.\d+)?)(us|ms|s)?")
_UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6, None: 1.0}

Test = Callable[[int], bool]
"""Whether a row passes."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A parsed filter line."""

    text: str
    words: tuple[str, ...] = ()
    terms: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.words or self.terms)


TERMS = ("op", "phase", "node", "kind", "device", "module", "line", "dur", "origin", "no", "thread")
"""The supported terms; ``dur:>1ms`` compares, the others search text."""


def parse_filter(text: str) -> Filter:
    """Words are searched in names, modules and lines; a term in the field it names."""
    words: list[str] = []
    terms: list[tuple[str, str]] = []
    for part in text.split():
        name, colon, value = part.partition(":")
        if colon and value and name in TERMS and not value.startswith(":"):
            terms.append((name, value.lower()))
        else:
            words.append(part.lower())
    return Filter(text, tuple(words), tuple(terms))


def matching(trace: Trace, wanted: Filter, stop: Callable[[], bool]) -> Iterator[int]:
    """Ids of the rows that pass. ``stop`` is polled and ends the search."""
    table = trace.table
    tests = [_word(trace, word) for word in wanted.words]
    tests += [_term(trace, name, value) for name, value in wanted.terms]
    for row in range(len(table)):
        if row % 4096 == 0 and stop():
            return
        if table.kind[row] != GONE and all(test(row) for test in tests):
            yield row


def _word(trace: Trace, word: str) -> Test:
    tests = [_term(trace, name, word) for name in ("op", "module", "line")]
    return lambda row: any(test(row) for test in tests)


def _term(trace: Trace, name: str, value: str) -> Test:
    table = trace.table
    by_number: dict[str, Test] = {
        "op": _by_number(table.name, lambda n: value in table.label(n).lower()),
        "module": _by_number(table.module, lambda n: value in table.modules[n].lower()),
        "line": _by_number(table.stack, lambda n: value in _place(table, n)),
        "device": _by_number(table.place, lambda n: value in table.places[n]),
        "thread": _by_number(table.thread, lambda n: table.threads[n][1] == value),
        "phase": _by_number(table.phase, lambda n: PHASES[n].startswith(value)),
        "kind": _by_number(table.kind, lambda n: n < GONE and KINDS[n].startswith(value)),
    }
    if name in by_number:
        return by_number[name]
    if name == "node":
        return lambda row: table.node[row] >= 0 and by_number["op"](table.node[row])
    if name == "dur":
        return _duration(table, value)
    if name == "origin":
        return lambda row: trace.op(row).origin.startswith(value)
    return _without(trace, value)


def _by_number(column: Sequence[int], test: Callable[[int], bool]) -> Test:
    """A test of a column's value, evaluated once per value."""
    known = cache(test)
    return lambda row: column[row] >= 0 and known(column[row])


def _place(table: Table, number: int) -> str:
    location = table.stacks[number].location
    return str(location).lower() if location else ""


def _duration(table: Table, value: str) -> Test:
    match = _DURATION.fullmatch(value)
    if match is None:
        return lambda _row: False
    limit = float(match[2]) * _UNITS[match[3]]
    if (match[1] or ">").startswith("<"):
        return lambda row: table.duration[row] <= limit
    return lambda row: table.duration[row] >= limit


def _without(trace: Trace, value: str) -> Test:
    """``no:kernel``, ``no:line``, ``no:module``, ``no:node``: rows that lack it."""
    table = trace.table
    columns = {"line": table.stack, "module": table.module, "node": table.node}
    if value in columns:
        column = columns[value]
        return lambda row: column[row] < 0
    if value == "kernel":
        return lambda row: row not in table.kernels.by_op
    return lambda _row: False
