"""Nothing of a transformer's and of a ResNet's training step is missing, by either recorder."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.queries.index import Index
from navigator.trace.link import Linker
from navigator.trace.readers import read_trace
from tests.navigator.trace.programs import STEP, run
from tests.navigator.trace.shown import RESNET, shown


@pytest.mark.parametrize("recorder", ["profiler", "compiled"])
@pytest.mark.parametrize("program", [STEP, RESNET], ids=["transformer", "resnet"])
def test_everything_is_shown(
    program: str, recorder: str, tmp_path: Path, wheel: Index, request: pytest.FixtureRequest
) -> None:
    options: tuple[str, ...] = ()
    if recorder == "compiled":
        options = ("--native", request.getfixturevalue("library"))
    done = run(tmp_path, program, str(tmp_path / "own.json"), options=options)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    trace = read_trace(tmp_path / "trace.json")
    counts = shown(trace, Linker(trace, wheel), tmp_path / "own.json", "program.py")
    assert not counts.differs
    for what, (there, all_) in counts.parts.items():
        assert there == all_ > 15, what
