"""Ranks that are kept, on a cluster, and behind URLs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import dask
import distributed
import fsspec
import pytest

from indexes.model.errors import UsageError
from navigator.cli.main import main
from navigator.trace.model import BadRank, Rank
from navigator.trace.ranks.files import rank_files
from navigator.trace.ranks.reduce import read_on_cluster, read_ranks
from navigator.trace.ranks.stored import complete
from navigator.trace.ranks.summary import RunSummary, spreads, summarise
from tests.navigator.trace.ranks.test_ranks import step, trace_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Seven ranks; of two names most ranks have none, and one file is no trace."""
    traces = tmp_path / "run"
    traces.mkdir()
    for rank in range(7):
        late = 440.0 if rank == 5 else 400.0 + rank
        more = [("cpu_op", "c10d::allreduce_", at + late, 9.0) for at in (0, 100)]
        if rank % 3:
            more.append(("kernel", f"only {rank % 3 > 1}", 300.0, 5.0 + rank))
        text = trace_of(rank, [*step(90 if rank == 3 else 60 + rank / 100), *more])
        (traces / f"rank{rank}.json").write_text(text)
    (traces / "rank7.json").write_text("no trace")
    return traces


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Four workers on this machine."""
    with distributed.LocalCluster(4, threads_per_worker=1, dashboard_address=None) as started:
        yield started.scheduler_address


def run_kept(folder: Path, kept: Path) -> tuple[RunSummary, list[str]]:
    """The summary by what is kept, and the files that were read for it."""
    read: list[str] = []

    def reading(files: object) -> Iterator[Rank | BadRank]:
        assert isinstance(files, list)
        read.extend(Path(file).name for file in files)
        return read_ranks(files, 1)

    return summarise(complete(kept, rank_files(str(folder)), reading)), read


def test_what_is_kept_tells_what_the_traces_tell(folder: Path, tmp_path: Path) -> None:
    files = rank_files(str(folder))
    fresh = summarise(read_ranks(files, 1))
    first, read = run_kept(folder, tmp_path / "kept")
    again, read_again = run_kept(folder, tmp_path / "kept")
    assert read == [Path(file).name for file in files]
    assert read_again == ["rank7.json"], "what is no trace is looked at again"
    for found in (first, again):
        assert found == fresh
        assert found.skews
        assert [(skew.start_us, skew.last) for skew in found.skews] == [(40, 5), (40, 5)]
        assert len(found.stragglers) == 1


def test_nothing_but_files_that_are_no_trace(tmp_path: Path) -> None:
    (tmp_path / "rank0.json").write_text("no trace")
    summary, _ = run_kept(tmp_path, tmp_path / "kept")
    assert (summary.ranks, summary.spreads, len(summary.bad)) == ((), (), 1)


def test_a_trace_that_changed_is_read_again(folder: Path, tmp_path: Path) -> None:
    run_kept(folder, tmp_path / "kept")
    (folder / "rank2.json").write_text(trace_of(2, step(75)))
    summary, read = run_kept(folder, tmp_path / "kept")
    assert read == ["rank2.json", "rank7.json"]
    assert summary.ranks[2].compute_us == 75


def test_what_is_kept_and_spoilt_is_made_anew(folder: Path, tmp_path: Path) -> None:
    before, _ = run_kept(folder, tmp_path / "kept")
    for file in (tmp_path / "kept").iterdir():
        file.write_bytes(file.read_bytes()[:40])
    after, read = run_kept(folder, tmp_path / "kept")
    assert len(read) == 8
    assert after == before


def test_four_workers_of_a_cluster_tell_the_same(folder: Path, cluster: str) -> None:
    files = rank_files(str(folder))
    seen: list[int] = []
    found = list(read_on_cluster(files, cluster, seen.append))
    assert found == list(read_ranks(files, 1))
    assert seen == list(range(1, 9))


def test_no_cluster_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with dask.config.set({"distributed.comm.timeouts.connect": "0.2s"}):
        arguments = ["ranks", str(folder), "--cluster", "tcp://127.0.0.1:9"]
        assert main([*arguments, "--cache", str(folder / "cache")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in line


def test_urls(folder: Path, tmp_path: Path) -> None:
    system = fsspec.filesystem("memory")
    system.put(f"{folder}/", "/runs/one", recursive=True)
    for where in ("memory://runs/one", "memory://runs/one/rank*.json"):
        files = rank_files(where)
        assert [Path(file).name for file in files] == [f"rank{n}.json" for n in range(8)]
        found = summarise(read_ranks(files, 1))
        assert [*found.spreads] == spreads([r for r in read_ranks(files, 1) if isinstance(r, Rank)])
        assert len(found.ranks) == 7
    with pytest.raises(UsageError, match="nowhere://run cannot be read"):
        rank_files("nowhere://run")


def test_patterns_and_what_is_kept_by_the_command(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["ranks", f"{folder}/rank[0-5].json", "--cache", str(tmp_path / "c"), "--json"]
    assert main(command) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert [rank["rank"] for rank in first["ranks"]] == [0, 1, 2, 3, 4, 5]
    assert len(list((tmp_path / "c" / "ranks").iterdir())) == 6
    assert main(command[:-1]) == 0
    assert "rank 5 comes last to 2 of 2 collectives" in capsys.readouterr().out
