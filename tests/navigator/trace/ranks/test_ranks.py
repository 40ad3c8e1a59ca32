"""A folder of traces, one for each rank: times across ranks, stragglers, what cannot be read."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from navigator.cli.main import main
from navigator.trace.model import BadRank, Rank
from navigator.trace.ranks.files import rank_files
from navigator.trace.ranks.reduce import read_ranks
from navigator.trace.ranks.summary import RunSummary, summarise

Span = tuple[str, str, float, float]
"""(category, name, start, duration)"""


def trace_of(rank: int | None, spans: Iterable[Span]) -> str:
    events = [
        {
            "ph": "X",
            "cat": cat,
            "name": name,
            "pid": 1,
            "tid": 1,
            "ts": start,
            "dur": length,
            "args": {"device": 0, "stream": 7 if "nccl" in name else 0},
        }
        for cat, name, start, length in spans
    ]
    fields = {} if rank is None else {"distributedInfo": {"rank": rank}}
    return json.dumps({**fields, "traceEvents": events})


def step(compute: float) -> list[Span]:
    """A kernel from 10 on, a collective from 50 to 150, which waits for what is computed."""
    return [
        ("cpu_op", "aten::mm", 0, 30),
        ("cpu_op", "aten::empty", 5, 10),
        ("kernel", "gemm", 10, compute),
        ("gpu_memcpy", "Memcpy DtoH", 160, 40),
        ("kernel", "ncclDevKernel_AllReduce", 50, 100),
    ]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHNAV_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for rank in range(8):
        compute = 90.0 if rank == 3 else 60.0 + rank / 100
        (tmp_path / f"{rank}.json").write_text(trace_of(rank, step(compute)))
    return tmp_path


def summary_of(folder: Path) -> RunSummary:
    return summarise(read_ranks(rank_files(str(folder)), workers=1))


def test_times_across_ranks(folder: Path) -> None:
    summary = summary_of(folder)
    assert [rank.number for rank in summary.ranks] == list(range(8))
    gemm = next(one for one in summary.spreads if one.name == "gemm")
    assert (gemm.kind, gemm.ranks, gemm.count) == ("kernel", 8, 8)
    assert (gemm.min_us, gemm.max_us, gemm.slowest) == (60.0, 90.0, 3)
    assert gemm.median_us == pytest.approx(60.045)
    mm = next(one for one in summary.spreads if one.name == "aten::mm")
    assert mm.max_us == 20.0, "without what it calls"


def test_communication_and_computation_beside_each_other(folder: Path) -> None:
    rank = summary_of(folder).ranks[0]
    assert (rank.compute_us, rank.communication_us) == (60.0, 100.0)
    assert rank.exposed_us == 80.0, "computed until 70, communicated from 50 to 150"
    assert rank.overlap == pytest.approx(0.2)
    assert (rank.busy_us, rank.span_us, rank.idle_us) == (180.0, 200.0, 20.0)


def test_who_computes_longest_is_named(folder: Path) -> None:
    assert [rank.number for rank in summary_of(folder).stragglers] == [3]


def test_equal_ranks_have_no_straggler(tmp_path: Path) -> None:
    for rank in range(4):
        (tmp_path / f"{rank}.json").write_text(trace_of(rank, step(60)))
    assert not summary_of(tmp_path).stragglers


def test_a_rank_without_a_kernel_counts_as_none(folder: Path) -> None:
    (folder / "4.json").write_text(trace_of(4, [*step(60), ("kernel", "only here", 300, 5)]))
    only = next(one for one in summary_of(folder).spreads if one.name == "only here")
    assert (only.ranks, only.min_us, only.median_us, only.max_us) == (1, 0, 0, 5)
    assert only.imbalance is None


def test_bad_ranks_are_named_and_cost_only_themselves(folder: Path) -> None:
    (folder / "5.json").write_text("no trace")
    (folder / "6.json").write_text(trace_of(2, step(60)))
    (folder / "7.json").write_text(trace_of(7, step(60))[:-60])
    summary = summary_of(folder)
    assert [(Path(bad.path).name, bad.reason.partition(":")[0]) for bad in summary.bad] == [
        ("5.json", "is not a trace"),
        ("6.json", f"has rank 2, like {folder / '2.json'}"),
    ]
    cut = next(rank for rank in summary.ranks if rank.number == 7)
    assert any("middle of an event" in problem for problem in cut.problems)


def test_ranks_that_do_not_say_who_they_are(tmp_path: Path) -> None:
    for name in ("rank10.json", "rank2.pt.trace.json", "other.json"):
        (tmp_path / name).write_text(trace_of(None, step(60)))
    found = {Path(rank.path).name: rank.number for rank in summary_of(tmp_path).ranks}
    assert found == {"rank10.json": 10, "rank2.pt.trace.json": 2, "other.json": 0}
    assert [Path(file).name for file in rank_files(str(tmp_path))][1:] == [
        "rank2.pt.trace.json",
        "rank10.json",
    ]


def test_without_devices_operators_are_counted(tmp_path: Path) -> None:
    spans: list[Span] = [
        ("cpu_op", "aten::mm", 0, 100),
        ("cpu_op", "aten::add", 10, 20),
        ("cpu_op", "c10d::allreduce_", 100, 50),
    ]
    (tmp_path / "rank0.json").write_text(trace_of(None, spans))
    (rank,) = summary_of(tmp_path).ranks
    assert not rank.on_device
    assert (rank.compute_us, rank.communication_us, rank.exposed_us) == (100.0, 50.0, 50.0)


def test_processes_read_as_one_does(folder: Path) -> None:
    files = rank_files(str(folder))
    alone, together = (list(read_ranks(files, workers)) for workers in (1, 2))
    assert alone == together
    assert all(isinstance(one, Rank | BadRank) for one in alone)


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ranks", str(folder), "-j", "1", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["stragglers"] == [3]
    kinds = {one["kind"] for one in answer["times"]}
    assert kinds == {"kernel", "operator", "phase", "device phase"}
    main(["ranks", str(folder), "-j", "1"])
    assert "straggler  rank 3 computes 90.0us, 1.50x the median" in capsys.readouterr().out


def test_folders_without_traces(tmp_path: Path) -> None:
    assert main(["ranks", str(tmp_path)]) == 1
    assert main(["ranks", str(tmp_path / "nowhere")]) == 2


def test_opening_such_a_folder_names_the_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "trace", str(folder)]) != 0
    assert f"torchnav ranks {folder}" in capsys.readouterr().err


def test_nothing_but_the_base_install_is_needed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("numpy", "pandas"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["ranks", str(folder), "-j", "1"]) == 0
    assert "8 ranks" in capsys.readouterr().out
