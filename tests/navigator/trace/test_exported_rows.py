"""The rows of ``torchnav export trace --json``: a whole in which every id leads to a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from indexes.queries.index import Index
from navigator.trace.groups import gather
from navigator.trace.link import Linker
from navigator.trace.readers import read_trace
from navigator.trace.rows import trace_rows
from navigator.trace.trace import Trace
from tests.navigator.trace.programs import run

Rows = Sequence[dict[str, Any]]
LINEAR = """\
import torch

linear = torch.nn.Linear(3, 2)
linear(torch.ones(4, 3)).sum().backward()
"""
PRINT = """\
import torch

x = torch.ones(4, 3)
print(x)
y = x + 1
print(y)
"""


def exported(trace: Trace, index: Index) -> Rows:
    return list(trace_rows(trace, Linker(trace, index)))


def check_ids(rows: Rows) -> None:
    found = {row["id"]: row for row in rows if row["kind"] in ("op", "node", "call", "region")}
    for row in rows:
        for key, value in row.items():
            if (key == "parent" or key.endswith("_id")) and value is not None:
                assert value in found, (key, row)
        if row.get("call_id") is not None:
            assert found[row["call_id"]]["kind"] == "call"
        if row.get("made_node_id") is not None:
            node = found[row["made_node_id"]]
            assert (node["kind"], node["name"]) == ("node", row["made_node"])
            assert node["forward_id"] == row["id"]
        if row.get("node_id") is not None:
            assert found[row["node_id"]]["name"].endswith(row["grad_fn"])


def without_forward(rows: Rows) -> Rows:
    backward = [row for row in rows if row["kind"] == "op" and row["phase"] == "backward"]
    assert backward
    assert all(row["forward_note"] for row in backward)
    return [row for row in backward if row["forward_id"] is None]


def test_every_id_of_a_step_names_a_row(step: Trace, wheel: Index) -> None:
    rows = exported(step, wheel)
    check_ids(rows)
    assert not without_forward(rows)
    assert {row["kind"] for row in rows} == {"op", "node", "call", "region"}
    assert len({row["id"] for row in rows}) == len(rows)


def test_every_id_of_a_mixed_program_names_a_row(mixed: Trace, wheel: Index) -> None:
    rows = exported(mixed, wheel)
    check_ids(rows)
    assert not without_forward(rows)
    assert {row["region"] for row in rows if row["kind"] == "region"} >= {"engine", "region"}


def test_every_id_of_the_compiled_recorder_names_a_row(compiled_mixed: Trace, wheel: Index) -> None:
    rows = exported(compiled_mixed, wheel)
    check_ids(rows)
    assert not without_forward(rows)


def test_every_id_of_a_profile_of_others_names_a_row(profile_file: Path, wheel: Index) -> None:
    check_ids(exported(read_trace(profile_file), wheel))


@pytest.mark.parametrize("recorder", ["profiler", "compiled"])
def test_made_node_is_the_node_that_was_made(
    recorder: str, tmp_path: Path, wheel: Index, request: pytest.FixtureRequest
) -> None:
    native = recorder == "compiled"
    options = ("--native", request.getfixturevalue("library")) if native else ()
    run(tmp_path, LINEAR, options=options)
    rows = exported(read_trace(tmp_path / "trace.json"), wheel)
    made = {row["name"]: row["made_node"] for row in rows if row["made_node"]}
    assert made == {
        "aten::t": "TBackward0",
        "aten::addmm": "AddmmBackward0",
        "aten::sum": "SumBackward0",
    }
    claimed = [row for row in rows if row["phase"] == "forward" and row["derivative"]]
    assert len(claimed) > len(made), "what could be differentiated is more"


def test_allocations_and_frees_add_up_to_what_is_held(tmp_path: Path, wheel: Index) -> None:
    run(tmp_path, LINEAR, options=("--memory",))
    rows = exported(read_trace(tmp_path / "trace.json"), wheel)
    check_ids(rows)
    memory = [row for row in rows if row["kind"] == "allocation"]
    memory.sort(key=lambda row: row["start_us"])
    assert {row["device"] for row in memory} == {"cpu"}
    taken: Counter[int] = Counter()
    for before, row in pairwise(memory):
        assert before["total_bytes"] + row["bytes"] == row["total_bytes"]
    for row in memory:
        taken[row["address"]] += row["bytes"]
    assert min(row["bytes"] for row in memory) < 0 < max(row["bytes"] for row in memory)
    assert any(total == 0 for total in taken.values()), "what is given back has its address"


def test_what_is_not_certain_says_what_its_candidates_share(
    profile_file: Path, wheel: Index
) -> None:
    rows = [row for row in exported(read_trace(profile_file), wheel) if row["kind"] == "op"]
    assert {row["status"] for row in rows} <= {"exact", "candidates", "unknown"}
    for row in rows:
        assert (row["status"] == "candidates") == (row["shared"] is not None)
        assert row["status"] != "exact" or (row["schema"] and row["kernel"])
        assert row["status"] != "candidates" or row["kernel"] is None
        if row["status"] == "candidates":
            name = row["name"].removeprefix("aten::")
            assert row["shared"]["schema"].startswith(name)
            assert row["shared"]["schema_path"].endswith("native_functions.yaml")


@pytest.mark.parametrize("recorder", ["profiler", "compiled"])
def test_the_operators_that_print_a_tensor_are_in_one_row(
    recorder: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    native = recorder == "compiled"
    options = ("--native", request.getfixturevalue("library")) if native else ()
    run(tmp_path, PRINT, options=options)
    trace = read_trace(tmp_path / "trace.json")
    roots = [trace.op(row) for row in trace.roots()]
    prints = [op for op in roots if op.name == "torch._tensor.Tensor.__repr__"]
    assert [op.user.line for op in prints if op.user] == [4, 6]
    assert [len(trace.children(op.id)) > 5 for op in prints] == [True, True]
    assert len(roots) == 4, "a tensor is made, printed, added to, printed"
    groups = {group.name: group.count for group in gather(trace, "operator")}
    below = sum(len(list(trace.table.descendants(op.id))) for op in prints)
    assert groups.pop("(printing tensors)") == below
    assert groups.keys() >= {"aten::ones", "aten::fill_.Scalar", "aten::add.Tensor"}
    timed = sum(op.kind in ("op", "region") for op in trace.ops())
    assert sum(groups.values()) + below == timed
