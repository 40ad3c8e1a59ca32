"""Checks of Python names: what Python itself says of each, and what the index answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from indexes.queries.audit.report import Measure
from indexes.queries.index import Index
from indexes.queries.python_names.finding import Finder
from indexes.store.registrations import StoredPython

Spot = tuple[str, int]
"""Path in the tree, and line."""


@dataclass(frozen=True, slots=True)
class LiveNames:
    """What an installed torch says of its public names."""

    version: str
    names: Mapping[str, Spot]
    """The lines of ``class`` and ``def`` of public classes and functions."""
    methods: Mapping[str, Spot]
    """The same of the methods of these classes."""


def documented(index: Index) -> set[str]:
    """The Python names that the documentation of the tree lists, if it has one."""
    pages = StoredPython(index.facts.store).of_kinds("page")
    return {fact.target for _, fact in pages if fact.target.startswith("torch.")}


def python_measures(index: Index, live: LiveNames) -> Iterator[Measure]:
    """Names, and methods, each by whether its definition is found at Python's line."""
    yield _compared(index, f"public Python names of torch {live.version}", live.names)
    yield _compared(index, "methods of their classes, inherited ones too", live.methods)


def _compared(index: Index, name: str, wanted: Mapping[str, Spot]) -> Measure:
    finder = Finder(index)
    counts: Counter[str] = Counter({"right": 0, "wrong": 0, "not found": 0})
    short = []
    for one, spot in wanted.items():
        answer = finder.find(one)
        where = answer.location if answer else None
        found = (where.path, where.line) if where else None
        verdict = "right" if found == spot else "wrong" if found else "not found"
        counts[verdict] += 1
        if verdict != "right":
            short.append(f"{verdict}: {one}: {where or 'nothing'}, not {spot[0]}:{spot[1]}")
    total = len(wanted)
    met = counts["right"] >= 0.97 * total and counts["wrong"] <= 0.005 * total if total else None
    bar = "at least 97 % right, at most 0.5 % wrong"
    return Measure(name, bar, total, counts, met, tuple(sorted(short, reverse=True)))
