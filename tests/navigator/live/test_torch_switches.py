"""Paths from source beside the key sets and tables of the installed torch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.queries.dispatch_path.live import LiveSets, compare_path
from indexes.queries.dispatch_path.switches import MEANINGS
from indexes.queries.dispatch_path.walk import SwitchedPaths
from indexes.queries.index import Index
from indexes.source.source import Source
from indexes.source.torch_install import installed_torch
from navigator.live.installed import live_switches


@pytest.fixture(scope="module")
def index(wheel_index: str) -> Iterator[Index]:
    torch = installed_torch()
    assert torch
    with contextlib.closing(Index.open(Source.find(str(torch.root)), Path(wheel_index))) as index:
        yield index


def test_what_headers_tell_is_what_torch_says(index: Index) -> None:
    answer = SwitchedPaths(index).paths("add_.Tensor", list(MEANINGS))
    live = {one.switch: one for one in live_switches(answer)}
    agree = [switch for switch, one in live.items() if one.agrees]
    assert {"plain", "requires_grad", "no_grad", "inference", "subclass"} <= set(agree)
    assert [switch for switch, one in live.items() if one.agrees is False] == []
    assert live["mode"].included[0] == "PythonTLSSnapshot"
    assert live["vmap"].tensor[0] == "FuncTorchBatched"
    assert live["mode"].why.endswith("torchnav clone")


def test_a_device_that_is_not_there_is_a_reason(index: Index) -> None:
    plain = live_switches(SwitchedPaths(index).paths("add_.Tensor", [], "privateuse1"))[0]
    assert plain.agrees is None
    assert plain.why


def test_a_key_that_torch_does_not_have_is_named(index: Index) -> None:
    path = SwitchedPaths(index).paths("add_.Tensor").paths[0]
    said = LiveSets(("CPU",), (), (), ("CPU",))
    assert compare_path(path, said, {}).why == "not in its sets: AutogradCPU ADInplaceOrView"
