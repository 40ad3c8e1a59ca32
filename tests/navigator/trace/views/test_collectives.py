"""Collectives of a rank: bytes, cause, source, what the backend then ran; skew between ranks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from indexes.queries.index import Index
from navigator.trace.figures.collectives import Skew, arrivals, skews
from navigator.trace.link import Linker
from navigator.trace.model import Arrival
from navigator.trace.readers import read_trace
from navigator.trace.summary import summary_lines
from navigator.trace.trace import Trace
from navigator.trace.views import VIEWS, Row, no_links
from tests.navigator.trace.programs import run

PARALLEL = """
import torch, torch.distributed as dist, torch.nn as nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
replica = DistributedDataParallel(nn.Linear(4, 2))
replica(torch.ones(3, 4)).sum().backward()
total = torch.zeros(5, dtype=torch.float64)
dist.all_reduce(total)  # line 9
dist.barrier()  # line 10
dist.destroy_process_group()
"""
WRONG = """
import torch.distributed as dist

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
dist.group.WORLD.allreduce("text")
"""
Span = tuple[str, str, int, float, float]
"""(category, name, thread, start, duration)"""


@pytest.fixture(scope="module")
def parallel(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """DDP on one rank, and a collective of the program itself."""
    folder = tmp_path_factory.mktemp("parallel")
    done = run(folder, PARALLEL)
    assert done.returncode == 0, done.stderr
    return read_trace(folder / "trace.json")


def rows_of(trace: Trace) -> list[Row]:
    return list(VIEWS["collectives"](trace, no_links).rows)


def test_the_cause_is_what_asked(parallel: Trace) -> None:
    rows = rows_of(parallel)
    assert [row["cause"] for row in rows].count("DDP: reducer, hook of AccumulateGrad") == 1
    *made, reduced, barrier = [(row["cause"], str(row["user"])) for row in rows]
    assert {user.rpartition("/")[2] for _, user in made} == {"program.py:6", "program.py:7"}
    assert reduced[0] == "torch.distributed.distributed_c10d.all_reduce()"
    assert reduced[1].endswith("program.py:9")
    assert barrier[0] == "torch.distributed.ProcessGroup.barrier()"
    assert barrier[1].endswith("program.py:10")


def test_what_ddp_asks_of_its_reducer_has_a_line(parallel: Trace) -> None:
    """It makes and fills buckets in C++, in the constructor and before a forward pass."""
    ops = [op for op in parallel.ops() if op.kind == "op"]
    main = next(op.thread for op in ops if op.user)
    assert [op.name for op in ops if op.user is None and op.thread == main] == []
    assert any(op.name == "torch.distributed.Reducer.__init__" for op in parallel.ops())


def test_an_error_of_a_process_group_is_as_without_us(tmp_path: Path) -> None:
    alone, recorded = (run(tmp_path, WRONG, record=record) for record in (False, True))
    assert recorded.returncode == alone.returncode == 1
    told = [re.sub(r"0x[0-9a-f]+", "0x", done.stderr) for done in (alone, recorded)]
    assert told[0] == told[1]


def test_bytes_are_of_the_largest_argument(parallel: Trace) -> None:
    reduced, own = (row for row in rows_of(parallel) if row["operator"] == "c10d::allreduce_")
    assert (reduced["tensors"], reduced["bytes"]) == ("float32([10])", 40)
    assert (own["tensors"], own["bytes"]) == ("float64([5])", 40)


def test_the_summary_counts_them(parallel: Trace) -> None:
    (line,) = (line for line in summary_lines(parallel) if line.startswith("c10d "))
    assert f"{len(rows_of(parallel))} collectives of " in line


def spans(*events: Span, shapes: Sequence[int] = ()) -> Iterable[object]:
    """Events, each with one float tensor of a shape."""
    for (category, name, thread, start, length), count in zip(
        events, shapes or [0] * len(events), strict=True
    ):
        args = {"Input Dims": [[count]], "Input type": ["float"]} if count else {}
        yield {
            "ph": "X",
            "cat": category,
            "name": name,
            "pid": 1,
            "tid": thread,
            "ts": start,
            "dur": length,
            "args": args,
        }


def trace_of(path: Path, events: Iterable[object]) -> Trace:
    path.write_text(json.dumps({"baseTimeNanoseconds": 5000, "traceEvents": list(events)}))
    return read_trace(path)


def test_they_lead_to_the_line_of_c10d(tmp_path: Path, tree_index: Index) -> None:
    events = spans(("cpu_op", "c10d::barrier", 1, 0, 5), ("cpu_op", "c10d::send", 1, 10, 5))
    trace = trace_of(tmp_path / "trace.json", events)
    rows = VIEWS["collectives"](trace, lambda: Linker(trace, tree_index)).rows
    file = "torch/csrc/distributed/c10d/Ops.cpp"
    declared, computed = (row["source"] for row in rows)
    assert (declared, computed) == (f"{file}:13", f"{file}:26")


def test_regions_and_nodes_are_named_the_nearest_first(tmp_path: Path) -> None:
    node = "AddmmBackward0"
    events = spans(
        ("user_annotation", "ProfilerStep#3", 1, 0, 100),
        ("cpu_op", f"autograd::engine::evaluate_function: {node}", 1, 5, 60),
        ("cpu_op", node, 1, 6, 50),
        ("user_annotation", "FSDP::pre_backward (b)", 1, 7, 40),
        ("user_annotation", "FSDP::all_gather (a)", 1, 8, 30),
        ("cpu_op", "c10d::_allgather_base_", 1, 9, 5),
    )
    (row,) = rows_of(trace_of(tmp_path / "trace.json", events))
    assert row["cause"] == f"FSDP::all_gather (a) < FSDP::pre_backward (b) < {node}"
    assert row["cause_id"] == 4


def test_work_on_other_threads_goes_to_its_call(tmp_path: Path) -> None:
    events = spans(
        ("cpu_op", "c10d::allreduce_", 1, 0, 5),
        ("cpu_op", "c10d::_reduce_scatter_base_", 1, 10, 5),
        ("cpu_op", "c10d::allreduce_", 1, 20, 5),
        ("user_annotation", "gloo:all_reduce", 2, 4, 30),
        ("user_annotation", "gloo:all_reduce", 3, 12, 60),
        ("user_annotation", "gloo:all_reduce", 2, 40, 7),
        shapes=[8, 6, 8, 8, 6, 8],
    )
    rows = rows_of(trace_of(tmp_path / "trace.json", events))
    assert [row["work_us"] for row in rows] == [30, 60, 7]


def test_a_span_that_outlasts_its_caller_holds_nothing_that_comes_later(tmp_path: Path) -> None:
    events = spans(
        ("user_annotation", "Forward 0", 1, 0, 20),
        ("cpu_op", "c10d::send", 1, 5, 4),
        ("user_annotation", "gloo:send", 1, 8, 40),
        ("user_annotation", "Forward 1", 1, 30, 20),
        ("cpu_op", "c10d::send", 1, 35, 4),
    )
    rows = rows_of(trace_of(tmp_path / "trace.json", events))
    assert [row["cause"] for row in rows] == ["Forward 0", "Forward 1"]
    assert [row["work_us"] for row in rows] == [40, None]


def test_nccl_spans_count_where_no_operator_was_recorded(tmp_path: Path) -> None:
    events = spans(
        ("user_annotation", "sync", 1, 0, 20), ("user_annotation", "nccl:all_reduce", 1, 5, 4)
    )
    (row,) = rows_of(trace_of(tmp_path / "trace.json", events))
    assert (row["operator"], row["cause"]) == ("nccl:all_reduce", "sync")


def test_a_span_of_which_no_call_was_recorded_stands_for_it(tmp_path: Path) -> None:
    events = spans(
        ("user_annotation", "gloo:broadcast", 2, 0, 3),
        ("user_annotation", "nccl:coalesced", 1, 5, 9),
        ("user_annotation", "nccl:all_reduce", 1, 6, 2),
        ("cpu_op", "c10d::allreduce_", 1, 20, 5),
        ("user_annotation", "nccl:all_reduce", 1, 21, 3),
    )
    rows = rows_of(trace_of(tmp_path / "trace.json", events))
    operators = [row["operator"] for row in rows]
    assert operators == ["gloo:broadcast", "nccl:coalesced", "c10d::allreduce_"]
    assert [row["work_us"] for row in rows] == [None, None, 3]


def test_what_is_unknown_is_said(tmp_path: Path) -> None:
    trace = trace_of(tmp_path / "trace.json", spans(("cpu_op", "c10d::barrier", 1, 0, 5)))
    view = VIEWS["collectives"](trace, no_links)
    assert str(view.rows[0]["cause"]).startswith("unknown")
    assert any("1 without a cause" in note for note in view.notes)


def test_arrivals_count_from_the_epoch(tmp_path: Path) -> None:
    events = spans(
        ("cpu_op", "aten::add", 1, 100, 1),
        ("cpu_op", "c10d::send", 1, 110, 2),
        ("cpu_op", "c10d::allreduce_", 1, 120, 2),
        ("user_annotation", "gloo:all_reduce", 2, 121, 9),
        shapes=[3, 3, 3, 3],
    )
    found = list(arrivals(trace_of(tmp_path / "trace.json", events)))
    assert found == [Arrival("c10d::allreduce_ float32[3]", 0, 125.0, 135.0)]


def test_skew_of_the_same_call_on_all_ranks() -> None:
    ranks = {
        0: [Arrival("all", 0, 10, 90), Arrival("all", 1, 100, 110)],
        1: [Arrival("all", 0, 60, 92), Arrival("all", 1, 101, 110), Arrival("own", 0, 5, 6)],
    }
    assert skews(ranks) == [Skew("all", 0, 2, 50, 2, 1), Skew("all", 1, 2, 1, 0, 1)]
