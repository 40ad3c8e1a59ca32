"""Inputs that would take memory or time without end are refused, or cut with a word."""

from __future__ import annotations

import contextlib
import json
import pickle
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from indexes.model.errors import TRACE_NESTING
from indexes.queries.index import Index
from navigator.trace.link import Linker
from navigator.trace.readers import chrome, memory_snapshot, ncu, read_trace
from navigator.trace.trace import BadTrace
from tests.growth import least_seconds, takes_less
from tests.navigator.trace.made import Event, block, made, op, tensors

MOST = 1_500_000_000
READ = """\
import resource, sys
from pathlib import Path
from navigator.trace.readers import read_trace
try:
    read_trace(Path(sys.argv[1]))
except Exception as error:
    print(type(error).__name__, error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def said(file: Path) -> tuple[str, int]:
    """What a process of its own says of a file, and the most memory that it had."""
    command = [sys.executable, "-c", READ, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    *words, memory = done.stdout.splitlines()
    return "\n".join(words), int(memory)


@pytest.mark.parametrize(
    "content",
    [
        b"\x80\x02Nr\xff\xff\xff\x7f.",  # a memo of 2**31 places
        b"\x80\x05\x96" + (3 << 30).to_bytes(8, "little") + b"a.",  # a bytearray of 3 GB
        b"\x80\x05\x8e" + (1 << 62).to_bytes(8, "little") + b"a.",
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="needs a bound on memory")
def test_a_pickle_that_says_to_be_large_takes_no_memory(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "snapshot").write_bytes(content)
    words, memory = said(tmp_path / "snapshot")
    assert words.startswith("BadTrace")
    assert "\n" not in words
    assert memory < MOST


def test_lists_that_hold_each_other_twice_are_not_written_out(tmp_path: Path) -> None:
    nested: list[object] = []
    for _ in range(200):
        nested = [nested, nested]
    frame = {"filename": nested, "line": 1, "name": nested}
    entry = {"action": nested, "stream": nested, "size": nested, "frames": [frame]}
    file = tmp_path / "snapshot"
    file.write_bytes(pickle.dumps({"segments": nested, "device_traces": [[entry]]}, 4))
    assert len(read_trace(file)) == 1


def test_rows_beyond_the_bound_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chrome, "TRACE_ROWS", 1)
    trace = made(tmp_path, [op("aten::add", float(at), 0.5) for at in range(3)])
    assert "only its first 1 rows are read" in trace.meta.problems


def test_events_beyond_the_bound_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which are no rows."""
    monkeypatch.setattr(chrome, "TRACE_EVENTS", 2)
    skipped: list[Event] = [{"ph": "X", "ts": 1.0, "dur": 1.0}] * 3
    trace = made(tmp_path, [op("aten::add", 0.0, 0.5), *skipped])
    assert "only its first 2 events are read" in trace.meta.problems


def test_an_operator_without_a_name_is_none(tmp_path: Path) -> None:
    trace = made(tmp_path, [op("aten::add", 0.0, 0.5), op("", 1.0, 0.5), block("", 2.0, 1.0)])
    assert len(trace) == 2
    assert "1 events could not be read" in trace.meta.problems


@pytest.mark.parametrize("kind", ["chrome", "execution trace"])
def test_rows_that_stand_too_deep_are_left_out(tmp_path: Path, kind: str) -> None:
    most = 3 * TRACE_NESTING
    if kind == "chrome":
        events = [op("aten::add", at, 2.0 * (most - at)) for at in range(most)]
        trace = made(tmp_path, [*events, op("aten::mul", 2.0 * most, 1.0)])
    else:
        nodes = [{"id": at, "name": "aten::add", "parent": at - 1} for at in range(1, most + 1)]
        nodes.append({"id": most + 2, "name": "aten::mul", "parent": 0})
        (tmp_path / "et.json").write_text(json.dumps({"schema": "1.1.1", "nodes": nodes}))
        trace = read_trace(tmp_path / "et.json")
    rows = [*trace.ops()]
    assert len(rows) == TRACE_NESTING + 1
    assert rows[-1].name == "aten::mul"
    assert f"{most - TRACE_NESTING:,} rows in more than 1,000 others are left out" in (
        trace.meta.problems
    )


def test_a_table_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ncu, "TABLE_BYTES", 100)
    (tmp_path / "report").write_text('"ID","Kernel Name"\n' + '"0","k"\n' * 100)
    with pytest.raises(BadTrace, match="too large for a report"):
        read_trace(tmp_path / "report")


def test_the_bound_on_memory_is_lifted_again(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    (tmp_path / "snapshot").write_bytes(b"\x80\x02N.")
    with pytest.raises(BadTrace):
        memory_snapshot.read(tmp_path / "snapshot", None)  # type: ignore[arg-type]
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_nothing_is_said_of_room_that_a_pickle_does_not_get(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "snapshot").write_bytes(b"\x80\x05]\x96" + (1 << 40).to_bytes(8, "little"))
    with pytest.raises(BadTrace, match="too much memory"):
        memory_snapshot.read(tmp_path / "snapshot", None)  # type: ignore[arg-type]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "content",
    [
        b'[{"ph":"M","name":"torchnav_window","args":{"places":["a"]}}]',
        b'ID,"Kernel Name","Metric Name","Metric Value"\n1,k,gpu__time_duration.sum,1e999\n',
        b"SQLite format 3\0\2\0\1\1\0@  " + b"\xe3(" * 400,
    ],
)
def test_found_by_fuzzing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "trace").write_bytes(content)
    with contextlib.suppress(BadTrace):
        assert len(read_trace(tmp_path / "trace")) >= 0


@pytest.mark.parametrize("overload", [{}, {"Overload Name": "Tensor"}])
def test_operators_one_in_the_other_end_no_link(
    tmp_path: Path, tree_index: Index, overload: dict[str, str]
) -> None:
    """Whether a kernel made a call, and which overload it is, hangs on the calls around it."""
    names, most = ("aten::add", "aten::mul"), 600
    inputs = tensors([3], [3], values=["1"]) if overload else {}
    events = [
        op(names[at % 2], at, 2.0 * (most - at), **{**inputs, **overload}) for at in range(most)
    ]
    trace = made(tmp_path, events)
    assert Linker(trace, tree_index).path(trace.op(most - 1)) is not None


@pytest.mark.parametrize("apart", [10.0, 0.0])
def test_a_thread_for_each_operator_takes_no_square_of_them(tmp_path: Path, apart: float) -> None:
    def events(threads: int) -> list[Event]:
        return [op("aten::add", at * apart, 5.0, tid=at + 1) for at in range(threads)]

    few, many = (partial(made, tmp_path, events(n)) for n in (4000, 32_000))
    assert takes_less(many, 16 * least_seconds(few))
