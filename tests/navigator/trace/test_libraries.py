"""Operators of namespaces other than aten in a trace: linked where the tree defines them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexes.queries.index import Index
from navigator.trace.link import Linker
from navigator.trace.links import OpLink
from navigator.trace.readers import read_trace


@pytest.fixture
def linked(tree_index: Index, tmp_path: Path) -> dict[str, OpLink]:
    """What each operator of a recorded run leads to, by its name."""
    names = ["c10d::send", "mylib::scale", "prims::fma", "other::thing", "torch::a::mul_out"]
    events = [
        {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 10 * at, "dur": 5}
        for at, name in enumerate(names)
    ]
    file = tmp_path / "trace.json"
    file.write_text(json.dumps({"traceEvents": events}))
    trace = read_trace(file)
    linker = Linker(trace, tree_index)
    rows = (trace.op(number) for number in range(len(names)))
    return {row.name: linker.link(row) for row in rows}


@pytest.mark.parametrize("name", ["c10d::send", "prims::fma"])
def test_what_the_tree_defines_has_its_place(
    linked: dict[str, OpLink], tree_index: Index, name: str
) -> None:
    native = tree_index.native(name)
    assert native is not None
    schema = linked[name].schema
    assert schema is not None
    assert schema.location == native.location


def test_overloads_are_told_apart_as_those_of_aten(linked: dict[str, OpLink]) -> None:
    assert linked["mylib::scale"].candidates == ("mylib::scale", "mylib::scale.out")


def test_registered_elsewhere_is_said_after_looking(linked: dict[str, OpLink]) -> None:
    (reason,) = linked["other::thing"].reasons
    assert "no TORCH_LIBRARY block and no torch.library call" in reason


def test_a_timed_region_of_cpp_is_no_operator(linked: dict[str, OpLink]) -> None:
    (reason,) = linked["torch::a::mul_out"].reasons
    assert reason.startswith("not an operator")
