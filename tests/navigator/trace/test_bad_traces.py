"""Traces that are cut, damaged, hostile or none at all: one clear line, and what was readable."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from navigator.trace import readers
from navigator.trace.readers import read_trace
from navigator.trace.readers.ranked import Item, build
from navigator.trace.table import OP
from navigator.trace.trace import BadTrace, Trace, Watch
from tests.navigator.trace.conftest import TRACES

BERT = TRACES / "h100-bert-small.json.gz"


def event(**fields: object) -> dict[str, object]:
    return {
        "ph": "X",
        "cat": "cpu_op",
        "name": "aten::add",
        "pid": 1,
        "tid": 1,
        "ts": 1.0,
        "dur": 2.0,
    } | fields


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "trace.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[",
        b"[]",
        b"{}",
        b"null",
        b'{"traceEvents": []}',
        b'{"traceEvents": 3}',
        bytes(range(256)) * 8,
        b"\x1f\x8b\x08 not gzip",
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'[{"ph": "X", "name": "another program", "ts": 1, "dur": 1}]',
    ],
)
def test_what_is_no_trace_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(BadTrace) as error:
        read_trace(written(tmp_path, content))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("head", ["[", '{"traceEvents": [', '{"schema": "1.1.1", "nodes": ['])
def test_an_event_beyond_all_measure_is_refused_with_its_place(tmp_path: Path, head: str) -> None:
    first = '{"ph": "X", "name": "aten::add", "ts": 1.0, "dur": 1.0}, '
    large = '{"name": "aten::add", "id": 2, "args": "' + "x" * (70 << 20)
    place = len(head) + len(first)
    with pytest.raises(BadTrace, match=f"the event at byte {place:,} is larger than 64 MB"):
        read_trace(written(tmp_path, head + first + large))


@pytest.mark.parametrize("piece", [b" ", json.dumps(event(args={"x": "y" * 4000})).encode() + b","])
def test_a_compressed_file_that_hardly_ends_is_refused(tmp_path: Path, piece: bytes) -> None:
    block = gzip.compress(piece * ((8 << 20) // len(piece)), 9)
    path = written(tmp_path, gzip.compress(b"[") + block * 64)
    with pytest.raises(BadTrace, match=r"expands to over 200 times|larger than 64 MB"):
        read_trace(path)


def test_a_new_format_is_a_module_and_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ours:
        def recognises(self, path: Path, head: bytes) -> bool:
            return head.startswith(b"OURS")

        def read(self, path: Path, watch: Watch) -> Trace:
            trace = Trace()
            build(trace, [Item(OP, "aten::add"), Item(OP, "aten::empty", parent=0)])
            return trace

    monkeypatch.setattr(readers, "FORMATS", (Ours(), *readers.FORMATS))
    assert [op.parent for op in read_trace(written(tmp_path, "OURS ...")).ops()] == [None, 0]
    assert len(read_trace(written(tmp_path, json.dumps([event()])))) == 1


def test_a_missing_file_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadTrace, match="No such file"):
        read_trace(tmp_path / "nowhere.json")


@pytest.mark.parametrize("part", [0.3, 0.5, 0.9, 0.999])
def test_a_cut_profile_is_read_up_to_the_cut(tmp_path: Path, part: float) -> None:
    data = gzip.decompress(BERT.read_bytes())
    whole = len(read_trace(BERT))
    trace = read_trace(written(tmp_path, data[: int(len(data) * part)]))
    assert 0 < len(trace) <= whole
    assert not trace.meta.complete
    assert any("ends in the middle" in problem for problem in trace.meta.problems)


def test_a_cut_compressed_profile_is_read_up_to_the_cut(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    path.write_bytes(BERT.read_bytes()[:-2000])
    trace = read_trace(path)
    assert len(trace) > 0
    assert trace.meta.problems


@pytest.mark.parametrize("cut", range(1, 40, 3))
def test_a_recording_cut_anywhere_is_read(step_folder: Path, tmp_path: Path, cut: int) -> None:
    data = (step_folder / "trace.json").read_bytes()
    trace = read_trace(written(tmp_path, data[: len(data) * cut // 40]))
    assert trace.meta.format == "torchnav"
    assert not trace.meta.complete
    assert trace.meta.problems


def test_a_bad_event_costs_that_event(tmp_path: Path) -> None:
    events = [event(), event(ts="soon"), event(dur=[1]), event(name=7), event(args=3), event()]
    trace = read_trace(written(tmp_path, json.dumps(events)))
    assert len(trace) == 3
    assert trace.meta.problems == ["3 events could not be read"]


@pytest.mark.parametrize("key", ["ts", "dur"])
@pytest.mark.parametrize("time", ["nan", "inf", "-Infinity", 1e308, -(2.0**63)])
def test_an_event_whose_time_no_clock_tells_costs_that_event(
    tmp_path: Path, key: str, time: object
) -> None:
    trace = read_trace(written(tmp_path, json.dumps([event(), event(**{key: time})])))
    assert len(trace) == 1
    assert trace.meta.problems[0] == "1 events could not be read"


def test_broken_text_in_the_middle_costs_its_line(tmp_path: Path) -> None:
    lines = [json.dumps(event(ts=n)) for n in range(6)]
    lines[2] = lines[2][:30] + "\x00\x01" + lines[2][33:50]
    trace = read_trace(written(tmp_path, "[" + ",\n".join(lines) + "]"))
    assert len(trace) == 5
    assert "1 events could not be read" in trace.meta.problems


@pytest.mark.parametrize(
    "fields",
    [
        {"ts": 1e308, "dur": 1e308},
        {"ts": -5.0},
        {"dur": -1.0},
        {"pid": "x", "tid": None},
        {"args": {"External id": 2**70}},
        {"args": {"Sequence number": 2**64 - 1}},
        {"args": {"Input Dims": {"a": 1}, "Input type": 5}},
        {"name": "\x1b[31maten::add\n"},
        {"args": {"Input Dims": [[1, "x", None]], "Input type": ["float", [], {}]}},
    ],
)
def test_strange_values_do_no_harm(tmp_path: Path, fields: dict[str, object]) -> None:
    trace = read_trace(written(tmp_path, json.dumps([event(), event(**fields)])))
    assert next(op.name for op in trace.ops()) == "aten::add"
    assert all(isinstance(op.inputs, tuple) for op in trace.ops())


def test_hostile_events_of_our_own_kind_do_no_harm(tmp_path: Path) -> None:
    names = ["run", "stack", "call", "window", "backward", "problem", "end", "program", "what"]
    bad: list[object] = [
        {},
        {"stack": "x", "frames": 3},
        {"call": [], "places": {"cpu": ["x"]}},
        {"format": "x"},
        [],
        7,
    ]
    events = [event()]
    events += [
        {"ph": "M", "name": f"torchnav_{name}", "args": args} for name in names for args in bad
    ]
    events.append(event(cat="torchnav_call", name="torch.add", args={"call": "x", "stack": {}}))
    trace = read_trace(written(tmp_path, json.dumps(events)))
    assert "aten::add" in [op.name for op in trace.ops()]


def test_nothing_outside_of_the_array_is_taken_for_an_event(tmp_path: Path) -> None:
    text = json.dumps(
        {
            "deviceProperties": [{"name": "A"}, {"name": "B"}],
            "traceEvents": [event()],
            "more": [{"name": "aten::mul", "ph": "X", "ts": 1, "dur": 1, "cat": "cpu_op"}],
        }
    )
    trace = read_trace(written(tmp_path, text))
    assert [op.name for op in trace.ops()] == ["aten::add"]
    assert trace.meta.devices == ("A", "B")


def test_the_first_rows_of_a_large_trace_come_early(tmp_path: Path) -> None:
    """They are those that the whole trace begins with, and come once."""
    events = [event(ts=float(n), dur=0.5, args={"padding": "x" * 2000}) for n in range(6000)]
    path = written(tmp_path, json.dumps({"traceEvents": events}))
    shown: list[Trace] = []
    whole = read_trace(path, None, shown.append)
    assert len(shown) == 1
    assert 0 < len(shown[0]) < len(whole) == 6000
    last = len(shown[0]) - 1
    assert shown[0].op(last) == whole.op(last)


def test_a_small_trace_has_no_early_rows(tmp_path: Path) -> None:
    shown: list[Trace] = []
    read_trace(written(tmp_path, json.dumps([event()])), None, shown.append)
    assert not shown
