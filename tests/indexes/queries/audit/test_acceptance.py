"""Answers about a full PyTorch tree against tables that were verified by other means.

TORCHNAV_ACCEPTANCE names the folder of the tables, TORCHNAV_CHECKOUT the tree they are
about. With ``-s`` each table prints how many rows are right, wrong and unresolved, and
every row that is not right.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from indexes.model.answers import DeviceKernelAnswer
from indexes.model.vocabulary import KernelRow, Location, StubRow
from indexes.queries.index import Index
from tests.conftest import Run

pytestmark = pytest.mark.checkout

Row = dict[str, str]

REQUIRED: dict[str, set[str]] = {
    "yaml": {"schema", "delegate"},
    "derivative": {"derivative"},
    "meta": {"meta"},
    "dispatch": {"kernel"},
    "stub_decl": {"stub"},
    "stub_def": {"stub"},
    "register": {"registration"},
    "kernel": {"device_kernel", "kernel", "call", "launch", "library"},
}
"""Steps of chains.jsonl that must be there, and the roles of a hop that answer them."""


@dataclass
class Score:
    """How the rows of one table came out."""

    table: str
    right: int = 0
    wrong: list[str] = field(default_factory=list)
    unresolved: list[str] = field(default_factory=list)

    def add(self, verdict: str, what: str) -> None:
        if verdict == "right":
            self.right += 1
        else:
            getattr(self, verdict).append(what)

    @property
    def total(self) -> int:
        return self.right + len(self.wrong) + len(self.unresolved)

    @property
    def share(self) -> float:
        return self.right / self.total

    def __str__(self) -> str:
        counts = f"{self.right} right, {len(self.wrong)} wrong, {len(self.unresolved)} unresolved"
        rows = [*(f"  wrong: {w}" for w in self.wrong), *(f"  open:  {u}" for u in self.unresolved)]
        return "\n".join([f"\n{self.table}: {counts} of {self.total}", *rows])


@pytest.fixture(scope="session")
def tables() -> Path:
    named = os.environ.get("TORCHNAV_ACCEPTANCE")
    if not named:
        pytest.skip("needs the acceptance tables: set TORCHNAV_ACCEPTANCE to their folder")
    return Path(named)


def _rows(file: Path) -> Iterator[Row]:
    with file.open(newline="") as text:
        yield from csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE)


def _place(location: Location | None) -> str:
    return str(location) if location else ""


# ------------------------------------------------------------------------ kernels


@pytest.fixture(scope="session")
def kernels(checkout_index: Index) -> dict[tuple[str, str], KernelRow]:
    return {(row.op, row.key): row for row in checkout_index.kernel_rows()}


def _judge_kernel(expected: Row, row: KernelRow | None) -> str:
    wanted = set(filter(None, expected["definitions"].split(";")))
    found = {_place(d.location) for d in row.definitions} if row else set()
    if found - wanted:
        return "wrong"
    if row is None or found != wanted:
        return "unresolved"
    return "right" if (row.kind, row.symbol) == (expected["kind"], expected["symbol"]) else "wrong"


def test_kernels(tables: Path, kernels: dict[tuple[str, str], KernelRow]) -> None:
    score = Score("kernels.tsv")
    for expected in _rows(tables / "kernels.tsv"):
        row = kernels.get((expected["op_overload"], expected["dispatch_key"]))
        found = [_place(d.location) for d in row.definitions] if row else []
        what = f"{expected['op_overload']} {expected['dispatch_key']}"
        answer = f"{row.kind} {row.symbol} {found} {row.reason}" if row else "no row"
        wanted = f"{expected['kind']} {expected['symbol']} {expected['definitions']}"
        score.add(_judge_kernel(expected, row), f"{what}: {answer}, not {wanted}")
    print(score)
    assert score.total > 400
    assert score.wrong == []
    assert score.share >= 0.995


def test_decoys(tables: Path, kernels: dict[tuple[str, str], KernelRow]) -> None:
    """Definitions that share a kernel's name appear in no row of it."""
    score = Score("decoys.tsv")
    answered: dict[str, set[str]] = {}
    for row in kernels.values():
        for definition in row.definitions:
            answered.setdefault(_place(definition.location), set()).add(row.symbol)
    for decoy in _rows(tables / "decoys.tsv"):
        symbols = answered.get(decoy["definition"], set())
        verdict = "wrong" if decoy["symbol"] in symbols else "right"
        score.add(verdict, f"{decoy['symbol']} at {decoy['definition']}: {decoy['reason']}")
    print(score)
    assert score.total > 100
    assert score.wrong == []


def test_operators_without_a_kernel(tables: Path, checkout_index: Index) -> None:
    score = Score("nokernel.tsv")
    listed = {row.op for row in checkout_index.kernel_rows()}
    for expected in _rows(tables / "nokernel.tsv"):
        op = expected["op_overload"]
        summary = checkout_index.summary(op)
        assert summary, op
        good = op not in listed and summary.kind == "no kernel" and not summary.keys
        good = good and summary.location.line == int(expected["yaml_line"])
        score.add("right" if good else "wrong", f"{op}: {summary}")
    print(score)
    assert score.wrong == []


# -------------------------------------------------------------------------- stubs


def _stub_key(stub: str, registration: str) -> tuple[str, str]:
    return stub.rpartition("::")[2], registration


def test_stubs(tables: Path, checkout_index: Index) -> None:
    score = Score("stubs.tsv")
    found: dict[tuple[str, str], list[StubRow]] = {}
    for row in checkout_index.stub_rows():
        found.setdefault(_stub_key(row.stub, _place(row.registration)), []).append(row)
    for expected in _rows(tables / "stubs.tsv"):
        key = _stub_key(expected["stub"], expected["registration"])
        places = {
            _place(r.definition.location if r.definition else None) for r in found.get(key, [])
        }
        what = f"{expected['stub']} at {expected['registration']}: {places or 'no row'}"
        verdict = "unresolved" if places <= {""} and expected["definition"] else "wrong"
        wanted = set(expected["definition"].split(";"))
        score.add("right" if places and places <= wanted else verdict, f"{what}, not {wanted}")
    print(score)
    assert score.total > 100
    assert score.wrong == []
    assert score.unresolved == []


# ------------------------------------------------------------------------- chains


def _hops(torchnav: Run, tree: Path, cache: Path, op: str) -> list[dict[str, Any]]:
    done = torchnav("op", op, "--json", "--tree", str(tree), TORCHNAV_CACHE=str(cache))
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["op"]["name"] == op
    return list(answer["hops"])


def _at(hop: dict[str, Any], step: dict[str, Any]) -> bool:
    return (hop["path"], hop["line"]) == (step["file"], step["line"])


def _is_found(step: dict[str, Any], hops: list[dict[str, Any]]) -> bool:
    if roles := REQUIRED.get(step["role"]):
        return any(_at(hop, step) and hop["role"] in roles for hop in hops)
    return any(_at(hop, step) or any(_at(e, step) for e in hop["evidence"]) for hop in hops)


def test_chains(
    tables: Path, checkout: Path, checkout_cache: Path, checkout_index: Index, torchnav: Run
) -> None:
    """Every verified step, through the command line as a user gets it."""
    required, others = Score("chains.jsonl, required"), Score("chains.jsonl, other steps")
    assert checkout_index.operators()
    for line in (tables / "chains.jsonl").read_text().splitlines():
        case = json.loads(line)
        hops = _hops(torchnav, checkout, checkout_cache, case["op"])
        for step in case["steps"]:
            score = required if step["role"] in REQUIRED else others
            what = f"{case['op']}: {step['role']} {step['symbol']} at {step['file']}:{step['line']}"
            score.add("right" if _is_found(step, hops) else "unresolved", what)
    print(required)
    print(others)
    assert required.total > 100
    assert required.unresolved == []
    assert others.unresolved == []


# ----------------------------------------------------------- names of device kernels


def _judge_name(answer: DeviceKernelAnswer, expected: Row, tree: Path) -> str:
    """Right is that .cu, or a header that really defines what the name names."""
    if answer.source is None:
        return "unresolved"
    place, name = answer.source.location, answer.source.name
    if place.path.endswith(".cu"):
        return "right" if Path(place.path).stem == expected["defined_in_cu"] else "wrong"
    text = (tree / place.path).read_text("latin-1").split("\n")[place.line - 1]
    return "right" if name in text and name in expected["kernel_name"] else "wrong"


def test_names_of_device_kernels(tables: Path, checkout: Path, checkout_index: Index) -> None:
    score = Score("cuda_kernel_names.tsv")
    for expected in _rows(tables / "cuda_kernel_names.tsv"):
        answer = checkout_index.kernel_name(expected["kernel_name"])
        place = answer.source and _place(answer.source.location)
        what = f"{expected['kernel_name'][:120]}: {place} {answer.reason}"
        score.add(_judge_name(answer, expected, checkout), what)
    print(score)
    assert score.total > 200
    assert score.wrong == []
    assert score.share >= 0.97
