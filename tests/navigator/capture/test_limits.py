"""Recording a part of a run: what is asked for is recorded, the rest is said not to be."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from navigator.capture.limits.options import Limits, count_of, pattern_of, size_of, steps_of
from navigator.cli.main import main
from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace
from tests.navigator.trace.programs import run

TRAINS = """\
import sys, time
import torch
from torch import nn
from torch.nn.modules import module
from torch.overrides import _get_current_function_mode_stack
from torch.profiler import record_function

net = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.ReLU(), nn.Linear(4, 2)))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
with torch.device("cpu"):
    for step in range(12):
        with record_function(f"step#{step}"):
            optimizer.zero_grad()
            net(torch.ones(2, 3)).sum().backward()
            optimizer.step()
        torch.ones(1).cos()
    until = time.monotonic() + 120
    while sys.argv[1:] and (
        len(_get_current_function_mode_stack()) > 1 or module._global_forward_hooks
    ):
        assert time.monotonic() < until
        torch.ones(1).sin()
print(len(_get_current_function_mode_stack()), len(module._global_forward_hooks))
"""


@pytest.fixture(scope="module", params=["profiler", "compiled"])
def recorder(request: pytest.FixtureRequest) -> tuple[str, ...]:
    if request.param == "profiler":
        return ()
    return ("--native", str(request.getfixturevalue("library")))


def recorded(tmp_path: Path, *options: str, ends: bool = False) -> tuple[Trace, str, str]:
    """The trace, what the program printed and what was said. With ``ends`` the recording is to
    end while the program goes on, which then waits for it."""
    done = run(tmp_path, TRAINS, *["wait"] * ends, options=options)
    assert done.returncode == 0, done.stderr
    trace = read_trace(tmp_path / "trace.json")
    assert trace.meta.complete
    return trace, done.stdout, done.stderr


def counts(trace: Trace) -> Counter[str]:
    return Counter(op.full_name for op in trace.ops() if op.kind != "call")


def test_steps_are_recorded_whole_and_no_others(tmp_path: Path, recorder: tuple[str, ...]) -> None:
    trace, out, told = recorded(tmp_path, *recorder, "--steps=3:5", ends=True)
    found = counts(trace)
    assert (found["linear"], found["ReluBackward0"], found["cos"]) == (4, 2, 2)
    assert found["Optimizer.step#SGD.step"] == 2
    assert {name for name in found if name.startswith("step#")} == {"step#3", "step#4"}
    assert trace.meta.problems == [
        "steps 0 to 2 are not recorded: --steps 3:5",
        "steps from 5 on are not recorded: --steps 3:5",
    ]
    assert out == "0 0\n", "no mode and no hook is left"
    assert told == ""


def test_blocks_of_a_name_are_steps_too(tmp_path: Path, recorder: tuple[str, ...]) -> None:
    trace, _, _ = recorded(tmp_path, *recorder, "--steps=10:", "--step-name=step")
    found = counts(trace)
    assert (found["linear"], found["cos"]) == (4, 3)
    assert {name for name in found if name.startswith("step#")} == {"step#10", "step#11"}
    assert trace.meta.problems == ["steps 0 to 9 are not recorded: --steps 10:"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--steps=99:",), "nothing was recorded: the program ended in step 12"),
        (
            ("--steps=9", "--step-name=none"),
            "nothing was recorded: no step was counted, no record_function block none ended",
        ),
    ],
)
def test_a_step_that_never_came_is_told(
    tmp_path: Path, recorder: tuple[str, ...], options: tuple[str, ...], said: str
) -> None:
    trace, _, _ = recorded(tmp_path, *recorder, *options)
    assert not counts(trace)
    assert trace.meta.problems[-1] == said


def test_operators_of_other_modules_are_left_out(tmp_path: Path, recorder: tuple[str, ...]) -> None:
    trace, _, _ = recorded(tmp_path, *recorder, "--only=module:1.?", "--steps=:6")
    found = counts(trace)
    assert found["linear"] == found["relu"] == found["addmm"] == 6
    assert set(found) <= {"linear", "relu", "addmm", "t", "transpose.int", "as_strided"} | {
        "clamp_min",
        "expand",
        "copy_",
        "resolve_conj",
    }
    assert {op.module for op in trace.ops() if op.kind == "op"} == {
        "Sequential.1.0",
        "Sequential.1.1",
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, recorder: tuple[str, ...]) -> Counter[str]:
    """All that the program runs."""
    return counts(recorded(tmp_path_factory.mktemp("whole"), *recorder)[0])


@pytest.mark.parametrize("most", [7, 100])
def test_recording_stops_at_a_number_of_operators(
    tmp_path: Path, recorder: tuple[str, ...], whole: Counter[str], most: int
) -> None:
    trace, out, told = recorded(tmp_path, *recorder, f"--max-ops={most}", ends=True)
    raw = sum(op.kind not in ("call", "annotation") for op in trace.ops())
    assert most - 90 < raw <= most < whole.total()
    assert counts(trace) <= whole
    assert told.startswith(f"torchnav: recording stopped at {most} operators and Nodes: --max-ops")
    assert "not in the trace" in trace.meta.problems[-1]
    assert out == "0 0\n"


def test_recording_stops_at_a_size(tmp_path: Path, recorder: tuple[str, ...]) -> None:
    trace, out, told = recorded(tmp_path, *recorder, "--max-size=40KB", ends=True)
    assert (tmp_path / "trace.json").stat().st_size <= 40_000
    json.loads((tmp_path / "trace.json").read_text())
    assert told.startswith("torchnav: recording stopped at 40,000 bytes: --max-size 40000")
    assert "not in the trace" in trace.meta.problems[-1]
    assert out == "0 0\n"


def test_what_options_say() -> None:
    assert [steps_of(text) for text in ("10:13", "10:", ":3", "7")] == [
        (10, 13),
        (10, None),
        (0, 3),
        (7, 8),
    ]
    assert [size_of(text) for text in ("100MB", "1.5g", "2KiB", "7")] == [
        100_000_000,
        1_500_000_000,
        2048,
        7,
    ]
    assert (count_of("1_000"), pattern_of("module:a.*")) == (1000, "a.*")


@pytest.mark.parametrize(
    ("pattern", "module", "inside"),
    [
        ("Net.blocks.0", "Net.blocks.0.attn", True),
        ("blocks.0", "Net.blocks.0.attn", True),
        ("blocks.?", "Net.blocks.11", False),
        ("*attn*", "Net.blocks.0.attn.qkv", True),
        ("attn", "Net.blocks.0.attn", False),
        ("Net", "", False),
    ],
)
def test_a_pattern_is_of_a_module_or_one_around_it(pattern: str, module: str, inside: bool) -> None:
    assert Limits(only=pattern).matches(module) is inside


@pytest.mark.parametrize(
    "options",
    [
        ["--steps", "5:3"],
        ["--steps", "a"],
        ["--steps", ":"],
        ["--steps", "1:2", "--skip", "3"],
        ["--step-name", "x"],
        ["--only", "blocks"],
        ["--max-ops", "-4"],
        ["--max-size", "0"],
        ["--max-size", "10 parsecs"],
    ],
)
def test_wrong_values_are_told_in_one_line(
    capsys: pytest.CaptureFixture[str], nowhere: Path, options: list[str]
) -> None:
    (nowhere / "x.py").write_text("")
    assert main(["trace", *options, "-o", "t.json", "x.py"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert not (nowhere / "t.json").exists()
