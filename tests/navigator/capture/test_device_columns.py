"""Windows in which a device worked, in columns: what a GPU did says the same either way."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from navigator.capture.calls import CallLog
from navigator.capture.kineto import Saved
from navigator.capture.profiler import Window
from navigator.trace.readers import read_trace
from navigator.trace.readers.packed import Content
from navigator.trace.trace import Trace
from tests.navigator.trace.conftest import TRACES

_END = '{"ph":"M","name":"torchnav_end","pid":1,"tid":0,"args":{"calls":0}}'
_KEY = re.compile(r', (?="(?:cat|name|pid|tid|ts|dur|args)": )')


def _lines(name: str) -> list[str]:
    with Content(TRACES / "cuda" / name).opened() as file:
        return [line.rstrip(",") for line in file.read().decode().split("\n")[1:] if len(line) > 1]


def _laid_out(event: str, is_new: bool) -> str:
    """As kineto does: it had fewer lines until 2025."""
    head, _, args = event.removesuffix("}}").partition(', "args": ')
    head = _KEY.sub(",\n    ", head) if is_new else head
    return (
        f'{head}{chr(10) + "    " * is_new},\n    "args": {args}\n    }}\n  }}' if args else event
    )


def _window(events: list[str], places: dict[str, list[int]], is_new: bool) -> Window:
    body = ",".join(_laid_out(one, is_new) for one in events)
    return Window(Saved({}, body.encode()), 0, places=places)


def _trace(path: Path, lines: list[str]) -> Trace:
    path.write_text("[\n" + ",\n".join([*lines, _END]) + "\n]\n")
    return read_trace(path)


def _both(folder: Path, name: str, is_new: bool) -> tuple[Trace, Trace]:
    """A recording whose windows are the profiler's events, without the calls, and in columns."""
    head, events, plain, columns = [], [], [], []
    log = CallLog(pid=1)
    for line in _lines(name):
        told = json.loads(line) if '"torchnav_' in line else None
        if told is None:
            events.append(line)
        elif told["name"] in ("torchnav_program", "torchnav_run"):
            head.append(line)
            log.base_ns = told["args"].get("base_ns", 0)
        elif told["name"] == "torchnav_window":
            plain += [*events, line]
            written, told["args"]["places"] = log.window(
                _window(events, told["args"]["places"], is_new)
            )
            assert not told["args"]["places"], "it is not in columns"
            columns += [*(one.decode() for one in written), json.dumps(told)]
            events = []
    pid = json.loads(head[-1])["pid"]
    columns = [re.sub(r'"pid":1\b', f'"pid":{pid}', one) for one in columns]
    return _trace(folder / "plain.json", head + plain), _trace(folder / "c.json", head + columns)


def _operators(trace: Trace) -> Counter[tuple[object, ...]]:
    return Counter(
        (
            *(op.kind, op.full_name, op.phase, op.device, op.inputs, op.sequence, op.node),
            *(round(op.start_us, 2), op.thread, op.forward_id is None),
            None if op.parent is None else trace.op(op.parent).name,
        )
        for op in trace.ops()
    )


def _kernels(trace: Trace) -> Counter[tuple[object, ...]]:
    return Counter(
        (
            *(one.kind, one.name, one.device, one.stream, one.launch, round(one.start_us, 2)),
            None if one.op_id is None else trace.op(one.op_id).full_name,
        )
        for one in trace.kernels()
    )


@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize("name", ["step.json.gz", "replay.json.gz"])
def test_columns_say_the_same(name: str, is_new: bool, tmp_path: Path) -> None:
    plain, columns = _both(tmp_path, name, is_new)
    assert columns.meta.problems == plain.meta.problems == []
    assert _operators(columns) == _operators(plain)
    assert _kernels(columns) == _kernels(plain)
    assert columns.table.kernels.graph_nodes == plain.table.kernels.graph_nodes
    sizes = [(tmp_path / one).stat().st_size for one in ("plain.json", "c.json")]
    assert sizes[1] < sizes[0] / 3


@pytest.mark.parametrize(
    ("category", "args"), [("mtia_runtime", '"correlation": 1'), ("kernel", '"device": {"id": 0}')]
)
def test_a_layout_that_is_not_known_is_written_as_it_is(category: str, args: str) -> None:
    event = (
        f'{{ "ph": "X", "cat": "{category}", "name": "x", "pid": 1, "tid": 1, "ts": 1.000, '
        f'"dur": 1.000, "args": {{ {args} }} }}'
    )
    window = Window(Saved({}, event.encode()), 0, places={"cuda:0": [1]})
    lines, places = CallLog(pid=1).window(window)
    assert [json.loads(line) for line in lines] == [json.loads(event)]
    assert places == {"cuda:0": [1]}


def test_a_window_whose_layout_is_not_known_is_written_once_its_moment_is_there() -> None:
    """The thread that writes waited for a lock that it held, and the program for the thread."""
    log = CallLog(pid=1)
    operator = (
        '{ "ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1.000, '
        '"dur": 1.000, "args": { "a field of tomorrow": {"id": 0} } }'
    )
    written: list[list[bytes]] = []
    data = b'{"traceEvents": [%b]}' % operator.encode()
    thread = threading.Thread(
        target=lambda: written.append(log.rows(data, {}, sys.maxsize)), daemon=True
    )
    thread.start()
    thread.join(10)
    assert [json.loads(line)["name"] for line in written[0]] == ["aten::add"]
