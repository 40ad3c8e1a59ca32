"""OpInfo rows that mark a test as an expected failure or skip."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal

from indexes.model.files import PythonFact
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Gap, Kind
from indexes.queries.gaps.opinfo import DATABASE
from indexes.queries.gaps.tree import Tree

Excuse = Literal["failure", "skip"]
_ROW = regex(
    r"(?:DecorateInfo\(\s*(?:unittest\.)?(?:(expectedFailure)|skip\(\s*(\"[^\"\n]*\"|'[^'\n]*')?\s*\))"
    r"\s*,|SkipInfo\()\s*(?:[\"'](\w+)[\"'])?\s*(?:,\s*[\"'](\w+)[\"'])?"
    r"([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*)\)"
)
_AFTER = regex(r"[^\S\n]*,?[^\S\n]*#([^\n]*)")
_DEVICE = regex(r"device_type\s*=\s*[\"'](\w+)[\"']")
_NO_REASON = frozenset({"", "skipped", "skipped!", "skip"})
_FEW = 4
"""Nested entries that may begin on a line."""
_FOLDER = "torch/testing/_internal/%.py"
_BACK = 600
"""Characters before a row that may hold its comment."""


@dataclass(frozen=True, slots=True)
class Row:
    """A ``DecorateInfo`` that excuses a test."""

    place: Location
    excuse: Excuse
    test: str
    """``TestCommon.test_out``; empty for all tests."""
    some: bool
    """For some dtypes or devices only."""
    reason: str
    device: str = ""
    """``cuda`` for one device only."""


@lru_cache(64)
def rows(text: str, path: str) -> tuple[Row, ...]:
    """The rows of a file that excuse a test, with reasons."""
    return tuple(_rows(text, path))


def _rows(text: str, path: str) -> Iterator[Row]:
    line, counted, ended, group = 1, 0, 0, ""
    for found in _ROW.finditer(text):
        start = text.rfind("\n", 0, found.start()) + 1
        if "#" in text[start : found.start()]:
            continue
        line += text.count("\n", counted, found.start())
        counted = found.start()
        fails = found[1] or (found[2] is None and "expectedFailure" in found[5])
        test = ".".join(filter(None, (found[3], found[4])))
        end = line + text.count("\n", found.start(), found.end())
        place = Location(path, line, end)
        device = _DEVICE.search(found[5])
        first = text.find("\n", ended) + 1 if ended else 0
        beside = text[ended:first].partition("#")[0]
        follows = not (beside + text[first : found.start()]).strip(" ,\n")
        group, ended = _comment(text, first, start) or (group if follows else ""), found.end()
        yield Row(
            place,
            "failure" if fails else "skip",
            test,
            "=" in found[5],
            _reason(text, found) or group,
            device[1] if device else "",
        )


def _reason(text: str, found: re.Match[str]) -> str:
    """The reason in a skip, or else the comment beside the row."""
    words = (found[2] or "")[1:-1].strip()
    if words.lower() not in _NO_REASON:
        return words
    after = _AFTER.match(text, found.end())
    return after[1].strip() if after else ""


def _comment(text: str, first: int, start: int) -> str:
    """The comment above a row and below the last one, which holds for those that follow it
    without another line too."""
    return " ".join(" ".join(_above(text, first, start)).replace("#", " ").split())


def _above(text: str, first: int, start: int) -> list[str]:
    """The comment lines above a line."""
    found: list[str] = []
    for line in reversed(text[max(first, start - _BACK) : start].split("\n")[:-1]):
        code, sign, comment = line.partition("#")
        if sign:
            found.insert(0, comment)
        if code.strip() or not sign:
            break
    return found


def find(tree: Tree, excuse: Excuse) -> Iterator[Gap]:
    operators = _operators(tree)
    for path in tree.paths(_FOLDER):
        text = tree.text(path)
        if "Info(" in text and ("expectedFailure" in text or "skip(" in text or "SkipInfo" in text):
            entries = _Entries(tree, path)
            for row in rows(text, path):
                if row.excuse == excuse:
                    yield _gap(row, entries.at(row.place.line), operators)


class _Entries:
    """The OpInfos of a file by line."""

    def __init__(self, tree: Tree, path: str) -> None:
        stored = tree.index.facts.python.in_file(path)
        self._entries = sorted((f for f in stored if f.kind == "opinfo"), key=lambda f: f.line)
        self._lines = [fact.line for fact in self._entries]

    def at(self, line: int) -> PythonFact | None:
        above = self._entries[: bisect_right(self._lines, line)]
        return next((one for one in reversed(above[-_FEW:]) if one.end_line >= line), None)


def _operators(tree: Tree) -> Mapping[str, str]:
    """The first overload of each operator, by OpInfo target."""
    found = {name: ops[0] for name, ops in tree.bound.items()}
    return found | {f"aten::{name}": ops[0] for name, ops in tree.overloads.items()}


def _gap(row: Row, fact: PythonFact | None, operators: Mapping[str, str]) -> Gap:
    name = fact.symbol if fact else row.place.path.rpartition("/")[2]
    test = row.test or "every test"
    some = " for some dtypes, devices or samples" if row.some else ""
    text = "is expected to fail" if row.excuse == "failure" else "is skipped"
    reason = f': "{row.reason}"' if row.reason else ", and nothing says why"
    rule = f"the OpInfo of {name} excuses it{some}{reason}"
    evidence = (row.place, *((Location(row.place.path, fact.line),) if fact else ()))
    return Gap(
        row.place,
        f"{test} {text} for {name}",
        rule,
        evidence,
        operators.get(fact.target) if fact else None,
        name=name,
        subject=f"{name}/{row.test}" if row.test else name,
        keys=(row.device.upper(),) if row.device not in ("", "cpu") else (),
        stated=True,
    )


def lacks(tree: Tree, excuse: Excuse) -> str:
    found = (row for path in tree.paths(_FOLDER) for row in rows(tree.text(path), path))
    there = any(row.excuse == excuse for row in found)
    return tree.lacks(DATABASE) or (
        "" if there else f"OpInfos of this version have no {excuse} rows"
    )


KINDS = (
    Kind(
        "opinfo-failure",
        "medium",
        "tests of operators that are expected to fail",
        partial(find, excuse="failure"),
        partial(lacks, excuse="failure"),
    ),
    Kind(
        "opinfo-skip",
        "medium",
        "tests of operators that are skipped",
        partial(find, excuse="skip"),
        partial(lacks, excuse="skip"),
    ),
)
