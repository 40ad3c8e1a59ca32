"""Operators that make a tensor from nothing ran where that tensor is."""

from __future__ import annotations

from pathlib import Path

import pytest

from navigator.trace.readers import read_trace
from tests.navigator.trace.programs import run

FACTORIES = """\
import torch
torch.empty(2)
torch.empty(2, device="meta")
torch.zeros(2, device="meta")
torch.empty(2, 2, layout=torch.sparse_coo)
torch.arange(3)
torch.tensor([1.0], device="meta")
"""
PLACES = [("cpu", "strided"), ("meta", "strided"), ("meta", "strided"), ("cpu", "sparse_coo")]


@pytest.mark.parametrize("compiled", [True, False])
def test_their_places(request: pytest.FixtureRequest, tmp_path: Path, compiled: bool) -> None:
    native = ("--native", request.getfixturevalue("library")) if compiled else ()
    done = run(tmp_path, FACTORIES, options=native)
    assert done.returncode == 0, done.stderr
    ops = [op for op in read_trace(tmp_path / "trace.json").ops() if op.kind == "op" and op.user]
    assert {op.user.line for op in ops if op.user} == set(range(2, 8))
    found = {op.user.line: (op.device, op.layout) for op in ops if op.user and op.user.line < 6}
    assert [found[line] for line in range(2, 6)] == PLACES
    for op in ops:
        if op.user and op.user.line == 4:
            assert op.device == "meta", "what a factory calls is made there too"
    ranges = {op.device for op in ops if op.name == "aten::arange"}
    assert ranges == {"cpu"}
    made, *_ = [op for op in ops if op.user and op.user.line == 7 and op.name == "aten::empty"]
    assert made.device == ("meta" if compiled else None), "no guess where that was not recorded"
