"""Compares answers with tables verified by other means.

A folder may contain ``kernels.tsv``, ``stubs.tsv``, ``chains.jsonl``, ``computing.jsonl``,
``decoys.tsv``, ``nokernel.tsv`` and ``cuda_kernel_names.tsv``, with the tree's paths and lines.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indexes.model.answers import DeviceKernelAnswer, Hop
from indexes.model.errors import NotFound, SourceError
from indexes.model.vocabulary import KernelRow, Location, Role
from indexes.queries.audit.ways import read_computing, routes_of
from indexes.queries.index import Index
from indexes.source.files import read_text

Row = Mapping[str, str]

REQUIRED: Mapping[str, frozenset[Role]] = {
    "yaml": frozenset({"schema", "delegate"}),
    "derivative": frozenset({"derivative"}),
    "meta": frozenset({"meta"}),
    "dispatch": frozenset({"kernel"}),
    "stub_decl": frozenset({"stub"}),
    "stub_def": frozenset({"stub"}),
    "register": frozenset({"registration"}),
    "kernel": frozenset({"device_kernel", "kernel", "call", "launch", "library"}),
}
"""Required steps of a chain, with the roles of hops that satisfy them. Any other step needs a hop
or evidence at its place."""


@dataclass(slots=True)
class Score:
    """The result for one table."""

    table: str
    bar: str = "all right"
    least: float = 1.0
    """The share that must be right; nothing may be wrong."""
    right: int = 0
    wrong: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def add(self, verdict: str, what: str) -> None:
        """Counts one row: ``right``, ``wrong`` or ``unresolved``."""
        if verdict == "right":
            self.right += 1
        else:
            (self.wrong if verdict == "wrong" else self.open).append(what)

    @property
    def total(self) -> int:
        return self.right + len(self.wrong) + len(self.open)

    @property
    def met(self) -> bool | None:
        """Whether the bar is met; None without rows."""
        if not self.total:
            return None
        return not self.wrong and self.right >= self.least * self.total


def score_all(index: Index, folder: Path) -> Iterator[Score]:
    """The scores of a folder's tables. Raises SourceError if it has none."""
    tables: dict[str, Callable[[Index, Path], Iterable[Score]]] = {
        "kernels.tsv": _kernels,
        "stubs.tsv": _stubs,
        "chains.jsonl": _chains,
        "decoys.tsv": _decoys,
        "nokernel.tsv": _nokernel,
        "computing.jsonl": _computing,
        "cuda_kernel_names.tsv": _names,
        "operators_outside_aten.tsv": _libraries,
    }
    found = [(folder / name, score) for name, score in tables.items() if (folder / name).is_file()]
    if not found:
        raise SourceError(f"{folder} holds no table that can be scored")
    for path, score in found:
        yield from score(index, path)


def _names(index: Index, path: Path) -> Iterator[Score]:
    yield score_names(index, path)


def _libraries(index: Index, path: Path) -> Iterator[Score]:
    """Operators of other namespaces, by their defining line."""
    score = Score(path.name)
    for row in _rows(path):
        native = index.native(row["operator"])
        found = f"{native.location.path}:{native.location.line}" if native else "not found"
        wanted = f"{row['path']}:{row['line']}"
        verdict = "right" if found == wanted else "wrong" if native else "unresolved"
        score.add(verdict, f"{row['operator']}: {found}, not {wanted}")
    yield score


def _rows(path: Path) -> Iterator[Row]:
    text = io.StringIO(read_text(path), newline="")
    yield from csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE)


# ---------------------------------------------------------------------------- kernels


def _kernels(index: Index, path: Path) -> Iterator[Score]:
    score = Score(path.name, "wrong 0, at least 99.5 % right", 0.995)
    rows = {(row.op, row.key): row for row in index.kernel_rows()}
    for expected in _rows(path):
        name = (expected["op_overload"], expected["dispatch_key"])
        verdict = _judge_kernel(expected, rows.get(name))
        answer = rows.get(name)
        found = ", ".join(str(d.location) for d in answer.definitions) if answer else "no row"
        wanted = expected["definitions"] or expected["kind"]
        score.add(verdict, f"{' '.join(name)}: {found or (answer and answer.reason)}, not {wanted}")
    yield score


def _judge_kernel(expected: Row, row: KernelRow | None) -> str:
    wanted = set(filter(None, expected["definitions"].split(";")))
    found = {str(d.location) for d in row.definitions} if row else set()
    if found - wanted:
        return "wrong"
    if row is None or found != wanted:
        return "unresolved"
    return "right" if (row.kind, row.symbol) == (expected["kind"], expected["symbol"]) else "wrong"


def _decoys(index: Index, path: Path) -> Iterator[Score]:
    """Rows that must not be the answer for a kernel of their name."""
    score = Score(path.name, "none is an answer")
    answered: dict[str, set[str]] = {}
    for row in index.kernel_rows():
        for definition in row.definitions:
            answered.setdefault(str(definition.location), set()).add(row.symbol)
    for decoy in _rows(path):
        taken = decoy["symbol"] in answered.get(decoy["definition"], ())
        score.add("wrong" if taken else "right", f"{decoy['symbol']} at {decoy['definition']}")
    yield score


def _nokernel(index: Index, path: Path) -> Iterator[Score]:
    score = Score(path.name)
    listed = {row.op for row in index.kernel_rows()}
    for expected in _rows(path):
        summary = index.summary(expected["op_overload"])
        good = summary is not None and summary.full_name not in listed and not summary.keys
        good = good and summary is not None and summary.location.line == int(expected["yaml_line"])
        score.add("right" if good else "wrong", f"{expected['op_overload']}: {summary}")
    yield score


# ------------------------------------------------------------------------------ stubs


def _stubs(index: Index, path: Path) -> Iterator[Score]:
    score = Score(path.name)
    found: dict[tuple[str, str], set[str]] = {}
    for row in index.stub_rows():
        place = str(row.definition.location) if row.definition else ""
        key = row.stub.rpartition("::")[2], str(row.registration)
        found.setdefault(key, set()).add(place)
    for expected in _rows(path):
        name, where = expected["stub"].rpartition("::")[2], expected["registration"]
        places = found.get((name, where), set())
        verdict = "unresolved" if places <= {""} and expected["definition"] else "wrong"
        right = bool(places) and places <= set(expected["definition"].split(";"))
        score.add("right" if right else verdict, f"{name} at {where}: {sorted(places)}")
    yield score


# ----------------------------------------------------------------------------- chains


def _chains(index: Index, path: Path) -> Iterator[Score]:
    required = Score(f"{path.name}, required steps")
    others = Score(f"{path.name}, other steps")
    for line in read_text(path).splitlines():
        case: dict[str, Any] = json.loads(line)
        hops = _hops(index, case["op"])
        for step in case["steps"]:
            score = required if step["role"] in REQUIRED else others
            place = f"{step['file']}:{step['line']}"
            what = f"{case['op']}: {step['role']} {step['symbol']} at {place}"
            score.add("right" if _is_found(step["role"], place, hops) else "unresolved", what)
    yield required
    yield others


def _hops(index: Index, op: str) -> tuple[Hop, ...]:
    try:
        return index.chain(op).hops
    except NotFound:
        return ()


def _is_found(role: str, place: str, hops: Iterable[Hop]) -> bool:
    if roles := REQUIRED.get(role):
        return any(str(hop.location) == place and hop.role in roles for hop in hops)
    return any(place in map(str, (hop.location, *hop.evidence)) for hop in hops)


# ------------------------------------------------------------------------- computing


def _computing(index: Index, path: Path) -> Iterator[Score]:
    some = Score(f"{path.name}, a route ends in what computes", "at least 95 %", 0.95)
    usual = Score(f"{path.name}, the usual route does", "at least 90 %", 0.9)
    for wanted in read_computing(path):
        routes = [r for r in routes_of(index, wanted.op) if r.device == wanted.device]
        what = f"{wanted.op} {wanted.device}: {', '.join(sorted(wanted.names)) or 'nothing'}"
        text = f"{what}, not {routes[0].symbol or routes[0].note}" if routes else what
        some.add("right" if any(map(wanted.is_meant, routes)) else "unresolved", text)
        usual.add("right" if any(map(wanted.is_meant, routes[:1])) else "unresolved", text)
    yield some
    yield usual


# -------------------------------------------------------------- names of device kernels


def score_names(index: Index, path: Path) -> Score:
    """Rows of ``kernel_name`` and ``defined_in_cu``, the name of a ``.cu`` file."""
    score = Score(path.name, "wrong 0, at least 97 % right", 0.97)
    for expected in _rows(path):
        answer = index.kernel_name(expected["kernel_name"])
        place = str(answer.source.location) if answer.source else answer.reason
        score.add(_judge_name(answer, expected, index), f"{expected['kernel_name']}: {place}")
    return score


def _judge_name(answer: DeviceKernelAnswer, expected: Row, index: Index) -> str:
    """Right for that file, or for a header that defines the name."""
    if answer.source is None:
        return "unresolved"
    place, name = answer.source.location, answer.source.name
    if place.path.endswith(".cu"):
        return "right" if Path(place.path).stem == expected["defined_in_cu"] else "wrong"
    there = name in _line(index, place) and name in expected["kernel_name"]
    return "right" if there else "wrong"


def _line(index: Index, place: Location) -> str:
    lines = index.read(place.path).split("\n")
    return lines[place.line - 1] if 0 < place.line <= len(lines) else ""
