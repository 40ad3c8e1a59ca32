"""Paths from source beside the key sets and tables of the installed torch."""

from __future__ import annotations

from indexes.queries.dispatch_path.live import LiveSets, compare_path
from indexes.queries.dispatch_path.switches import MEANINGS
from indexes.queries.dispatch_path.walk import SwitchedPaths
from indexes.queries.index import Index
from navigator.live.installed import live_switches


def test_what_headers_tell_is_what_torch_says(wheel: Index) -> None:
    answer = SwitchedPaths(wheel).paths("add_.Tensor", list(MEANINGS))
    live = {one.switch: one for one in live_switches(answer)}
    agree = [switch for switch, one in live.items() if one.agrees]
    assert {"plain", "requires_grad", "no_grad", "inference", "subclass"} <= set(agree)
    assert [switch for switch, one in live.items() if one.agrees is False] == []
    assert live["mode"].included[0] == "PythonTLSSnapshot"
    assert live["vmap"].tensor[0] == "FuncTorchBatched"
    assert live["mode"].why.endswith("torchnav clone")


def test_a_device_that_is_not_there_is_a_reason(wheel: Index) -> None:
    plain = live_switches(SwitchedPaths(wheel).paths("add_.Tensor", [], "privateuse1"))[0]
    assert plain.agrees is None
    assert plain.why


def test_a_key_that_torch_does_not_have_is_named(wheel: Index) -> None:
    path = SwitchedPaths(wheel).paths("add_.Tensor").paths[0]
    said = LiveSets(("CPU",), (), (), ("CPU",))
    assert compare_path(path, said, {}).why == "not in its sets: AutogradCPU ADInplaceOrView"
