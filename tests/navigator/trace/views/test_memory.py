"""Memory by line, operator, Node, module and category; the peak and what is alive at it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from navigator.trace.figures.blocks import ledgers
from navigator.trace.figures.categories import Categories
from navigator.trace.readers import read_trace
from navigator.trace.summary import summary_lines
from navigator.trace.trace import Trace
from navigator.trace.views import VIEWS, Row, no_links
from navigator.trace.views.memory import MEMORY_BY
from tests.navigator.trace.conftest import TRACES
from tests.navigator.trace.programs import run

TRAINING = """
import sys, torch, torch.nn as nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
blocks = [nn.Sequential(nn.Linear(32, 256), nn.GELU(), nn.Linear(256, 32)) for _ in range(4)]
optimizer = torch.optim.Adam([one for block in blocks for one in block.parameters()])
for _ in range(2):
    x = torch.randn(64, 32)
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False) if sys.argv[1:] else block(x)
    x.square().mean().backward()  # line 12
    optimizer.step()
    optimizer.zero_grad()
"""


def recorded(folder: Path, *args: str) -> Trace:
    done = run(folder, TRAINING, *args, options=("--memory",))
    assert done.returncode == 0, done.stderr
    return read_trace(folder / "trace.json")


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    return recorded(tmp_path_factory.mktemp("plain"))


def rows_of(trace: Trace, name: str = "memory") -> list[Row]:
    return list(VIEWS[name](trace, no_links).rows)


def number(row: Row, key: str) -> int:
    return int(str(row.get(key, 0)))


def total(rows: Iterable[Row], key: str) -> int:
    return sum(number(row, key) for row in rows)


def test_what_is_taken_less_what_is_freed_is_the_last_total(training: Trace) -> None:
    allocations = training.table.allocations
    last = max(range(len(allocations)), key=allocations.start.__getitem__)
    rows = rows_of(training)
    assert total(rows, "bytes") - total(rows, "freed_bytes") == allocations.total[last] > 0
    assert total(rows, "kept_bytes") == allocations.total[last]


def test_what_is_alive_at_the_peak_is_the_peak(training: Trace) -> None:
    peak = max(training.table.allocations.total)
    for by in MEMORY_BY:
        name = "memory" if by == "line" else f"memory-{by}"
        assert total(rows_of(training, name), "peak_bytes") == peak, by
    assert total(rows_of(training, "memory-peak"), "bytes") == peak


def test_checkpointing_lowers_the_peak(training: Trace, tmp_path: Path) -> None:
    checkpointed = max(recorded(tmp_path, "checkpoint").table.allocations.total)
    assert checkpointed < max(training.table.allocations.total)


def test_categories_go_by_who_took_it_and_until_when(training: Trace) -> None:
    parameters = sum(2 * 32 * 256 + 256 + 32 for _ in range(4))
    by_category = {row["category"]: row for row in rows_of(training, "memory-category")}
    state = by_category["optimizer state"]
    assert number(state, "kept_bytes") >= 8 * parameters, "two moments of four bytes"
    assert number(by_category["parameter"], "kept_bytes") == 4 * parameters
    assert number(by_category["input"], "bytes") == 2 * 4 * 64 * 32
    gradients = by_category["gradient"]
    assert number(gradients, "bytes") == 2 * 4 * parameters, "two steps"
    assert number(by_category["autograd"], "kept_bytes") == 0
    assert number(by_category["temporary"], "kept_bytes") == 0
    assert number(by_category["activation"], "bytes") > 2 * 4 * 4 * 64 * 256


def test_lines_of_the_program(training: Trace) -> None:
    lines = {str(row["line"]).rpartition(":")[2]: row for row in rows_of(training)}
    assert {"6", "9", "11", "12", "13"} <= lines.keys()
    assert number(lines["9"], "count") >= 2


def test_nodes_and_modules(training: Trace) -> None:
    nodes = {row["node"] for row in rows_of(training, "memory-node")}
    assert {"AddmmBackward0", "GeluBackward0", "(forward)"} <= nodes
    modules = {row["module"] for row in rows_of(training, "memory-module")}
    assert {"Sequential.0", "Sequential.2"} <= modules


def test_the_summary_says_the_peak(training: Trace) -> None:
    (line,) = (line for line in summary_lines(training) if line.startswith("memory "))
    assert "cpu: peak" in line


def test_memory_is_told_as_it_was_at_the_moment(tmp_path: Path) -> None:
    """The address of a parameter that is gone is soon that of something else."""
    events = [(1.0, 8, 7, 8), (3.0, -8, 7, 0), (5.0, 8, 7, 8), (9.0, -8, 7, 0)]
    trace = trace_of(tmp_path / "trace.json", events)
    trace.table.storages += [
        (4.0, "gradient", (7,)),
        (6.0, "input", (7,)),
        (7.0, "parameter", (7,)),
    ]
    (ledger,) = ledgers(trace)
    categories = Categories(trace)
    found = [categories.category(ledger, block) for block in ledger.blocks]
    assert found == ["temporary", "parameter"]


Event = tuple[float, int, int, int]
"""(time, bytes, address, total)"""


def trace_of(path: Path, events: Iterable[Event], device: int = 0) -> Trace:
    """Allocations on a device, in an operator that lasts 1000 us."""
    operator = {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1}
    found: list[object] = [{**operator, "ts": 0, "dur": 1000}]
    for start, size, address, held in events:
        args = {"Bytes": size, "Addr": address, "Total Allocated": held}
        args |= {"Device Type": device, "Device Id": 0, "Total Reserved": 4096 * device}
        common = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1}
        found.append({**common, "ts": start, "args": args})
    path.write_text(json.dumps({"traceEvents": found}))
    return read_trace(path)


def test_frees_of_earlier_memory_are_counted_apart(tmp_path: Path) -> None:
    events = [(1.0, -100, 7, 400), (2.0, 50, 8, 450), (3.0, -50, 8, 400)]
    trace = trace_of(tmp_path / "trace.json", events)
    (ledger,) = ledgers(trace)
    assert (len(ledger.earlier), len(ledger.blocks)) == (1, 1)
    view = VIEWS["memory-operator"](trace, no_links)
    earlier = view.rows[-1]
    assert (earlier["operator"], earlier["freed_bytes"]) == ("(taken before the recording)", 100)
    assert any("= 400 B; the allocator says 400 B" in note for note in view.notes)
    assert any("400 B of it from before" in note for note in view.notes)


def test_an_address_that_is_taken_again_was_freed_unseen(tmp_path: Path) -> None:
    trace = trace_of(tmp_path / "trace.json", [(1.0, 10, 7, 10), (2.0, 20, 7, 30)])
    (ledger,) = ledgers(trace)
    assert ledger.unseen == 1
    assert [block.bytes for block in ledger.alive(ledger.peak)] == [20]


def test_memory_past_the_allocator_is_apart(tmp_path: Path) -> None:
    events = [(1.0, 10, 7, 10), (2.0, 4096, 8, 0), (3.0, 10, 9, 20), (4.0, -4096, 8, 0)]
    found = {one.device: one for one in ledgers(trace_of(tmp_path / "trace.json", events))}
    assert found["cpu"].totals == [10, 20]
    assert found["cpu shared"].totals == [4096, 0]


def test_a_device_has_what_it_reserved(tmp_path: Path) -> None:
    trace = trace_of(tmp_path / "trace.json", [(1.0, 10, 7, 10)], device=1)
    (note, *_) = VIEWS["memory"](trace, no_links).notes
    assert note.startswith("cuda:0: peak 10 B, 4.1 kB reserved at 1.0us, in aten::add")


@pytest.mark.parametrize("name", ["h100-bert-small", "mi300-bert-small"])
def test_recorded_devices(name: str) -> None:
    trace = read_trace(TRACES / f"{name}.json.gz")
    allocations = trace.table.allocations
    sizes: Counter[str] = Counter()
    for place, size in zip(allocations.place, allocations.size, strict=True):
        sizes[allocations.places[place]] += size
    found = ledgers(trace)
    assert {one.device for one in found} == set(sizes)
    for ledger in found:
        first = allocations.size[ledger.moments[0]]
        assert ledger.totals[-1] - (ledger.totals[0] - first) == sizes[ledger.device]


def test_without_allocations_the_view_says_what_records_them() -> None:
    trace = read_trace(TRACES / "a100-alexnet-training.json.gz")
    view = VIEWS["memory"](trace, no_links)
    assert not view.rows
    assert "--memory" in view.notes[0]
