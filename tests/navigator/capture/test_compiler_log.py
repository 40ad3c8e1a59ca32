"""What the recorders write of torch.compile's own log."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from navigator.capture.compile_log import CompileLog
from navigator.capture.writer import TraceFile

LOGGER = logging.getLogger("torch.__trace")


class Torch(logging.Handler):
    """Leaves the logger at the first entry, as torch's own does where no log was asked for."""

    def emit(self, _record: logging.LogRecord) -> None:
        LOGGER.removeHandler(self)


def tell(said: dict[str, Any], text: object = None) -> None:
    payload = text if text is None or isinstance(text, str) else json.dumps(text)
    LOGGER.debug("", extra={"metadata": said, "payload": payload})


def part(name: str, ph: str, number: object = None) -> None:
    args = {"compile_id": str(number)}
    tell({"chromium_event": {}}, {"name": name, "ph": ph, "args": args})


@pytest.fixture(params=[True, False])
def texts(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def recorded(tmp_path: Path, texts: bool) -> list[tuple[str, dict[str, Any]]]:
    """The events of a file, (name, args), once the test has told what the compiler says."""
    before = list(LOGGER.handlers)
    LOGGER.handlers[:] = [Torch()]
    file = TraceFile(str(tmp_path / "trace.json"))
    times: list[int] = []
    log = CompileLog(file, texts, lambda: times.append(1), lambda: times.append(-1))
    log.start()
    tell_all()
    log.stop()
    LOGGER.handlers[:] = before
    file.close()
    assert times == 3 * [1, -1]
    events = json.loads((tmp_path / "trace.json").read_text())
    return [(event["name"], event["args"]) for event in events]


def tell_all() -> None:
    part("dynamo", "B", "0/0")
    part("entire_frame_compile", "B", "0/0")
    tell({"dynamo_start": {"stack": []}, "frame_id": 0})
    tell({"describe_tensor": {"id": 1}, "frame_id": 0})
    tell({"artifact": {"name": "inductor_provenance_tracking_node_mappings"}}, {"a": 1})
    tell({"compilation_metrics": {"co_name": "f", "graph_op_count": 3}, "frame_id": 0})
    part("dynamo", "E")  # of what is inside no end is told: it failed
    part("compile_file", "B")
    part("compile_file", "E")
    part("unknown", "E")
    part("entire_backward_compile", "B", "0/0")
    part("entire_backward_compile", "E")


def test_only_the_outermost_parts_are_timed(recorded: list[tuple[str, dict[str, Any]]]) -> None:
    spans = [(name, args) for name, args in recorded if name != "torchnav_compile_log"]
    spans = spans[:-1]  # the end of the file
    assert [name for name, _ in spans] == 3 * ["torchnav_compile_begin", "torchnav_compile_end"]
    begun = [(args["name"], args["id"]) for name, args in spans if name.endswith("begin")]
    assert begun == [("dynamo", "0/0"), ("compile_file", ""), ("entire_backward_compile", "0/0")]
    times = [args["at_ns"] for _, args in spans]
    assert times == sorted(times)


def test_of_the_texts_those_that_readers_use(
    recorded: list[tuple[str, dict[str, Any]]], texts: bool
) -> None:
    told = [args["entry"] for name, args in recorded if name == "torchnav_compile_log"]
    assert [next(iter(entry)) for entry in told] == (
        ["dynamo_start", "artifact", "compilation_metrics"] if texts else []
    )
    if texts:
        assert told[2]["compilation_metrics"]["co_name"] == "f"
        assert "graph_op_count" not in told[2]["compilation_metrics"]


def test_an_entry_of_another_form_does_not_end_the_program(tmp_path: Path) -> None:
    file = TraceFile(str(tmp_path / "trace.json"))
    log = CompileLog(file, True, lambda: None, lambda: None)
    log.emit(logging.makeLogRecord({"metadata": {"chromium_event": {}}, "payload": "no JSON"}))
    log.emit(logging.makeLogRecord({}))
    file.close()
    names = [event["name"] for event in json.loads((tmp_path / "trace.json").read_text())]
    assert names == ["torchnav_problem", "torchnav_problem", "torchnav_closed"]
