"""Why a recorded program ended with an error, and which tensors its calls took and made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexes.model.errors import NotFound
from indexes.queries.index import Index
from navigator.explanation import Explanation
from navigator.trace.link import Linker
from navigator.trace.model import TensorState
from navigator.trace.readers import read_trace
from navigator.trace.rows import op_row
from navigator.trace.storages.tensors import RecordedTensor, recorded_tensors
from navigator.trace.storages.uses import Storages
from navigator.trace.trace import Trace
from navigator.trace.why import explain_trace
from navigator.tui.session import Opener
from tests.navigator.objects.test_why import BEGIN, PLANTED, line_of
from tests.navigator.trace.programs import run
from tests.navigator.trace.sitting import opened, opens, screen_of, sit

OFTEN = ("setitem", "foreach", "module", "view of a view", "out", "optimizer", "own function")
"""Those that are recorded by every run of the tests; the others are in the slow ones."""
SELDOM = tuple(kind for kind in PLANTED if kind not in OFTEN)
LEAF = f"{BEGIN}x = torch.ones(4, requires_grad=True)\n"


def recorded(folder: Path, code: str, *options: str) -> Trace:
    done = run(folder, code, options=options)
    assert done.returncode == ("Error" in done.stderr), done.stderr
    return read_trace(folder / "trace.json")


def explained(trace: Trace, index: Index) -> Explanation:
    return explain_trace(trace, Linker(trace, index))


def check_planted(kind: str, folder: Path, library: str, index: Index) -> None:
    code = f"{LEAF}{PLANTED[kind]}\n"
    (cause,) = explained(recorded(folder, code, "--native", library), index).causes

    assert [write.line for write in cause.writes] == [(str(folder / "program.py"), line_of(code))]
    assert cause.made_at is not None
    assert cause.entry is not None or cause.code is not None
    assert all(cause.saved)
    assert bool(cause.formulas) == bool(cause.entry)


@pytest.mark.parametrize("kind", OFTEN)
def test_the_line_that_wrote_is_named(
    kind: str, tmp_path: Path, library: str, wheel: Index
) -> None:
    check_planted(kind, tmp_path, library, wheel)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SELDOM)
def test_the_line_that_wrote_is_named_seldom(
    kind: str, tmp_path: Path, library: str, wheel: Index
) -> None:
    check_planted(kind, tmp_path, library, wheel)


def test_writes_after_the_value_was_saved_count_and_no_others(
    tmp_path: Path, library: str, wheel: Index
) -> None:
    code = f"{LEAF}y = x * 2\ny.add_(1)\nz = y.exp()\ny.add_(1)\nz[1:].mul_(2)\nz.neg_()\n"
    trace = recorded(tmp_path, f"{code}z.sum().backward()\n", "--native", library)
    (cause,) = explained(trace, wheel).causes

    assert (cause.node, cause.saved, cause.shape) == ("ExpBackward0", ("result",), (4,))
    told = [(one.call, one.before, one.after, one.through) for one in cause.writes]
    assert told == [
        ("aten::mul_.Tensor", 0, 1, "shape (3,), 1 elements into the storage"),
        ("aten::neg_", 1, 2, "shape (4,)"),
    ]


def test_a_recording_without_storages_says_so(tmp_path: Path, wheel: Index) -> None:
    found = explained(recorded(tmp_path, f"{LEAF}{PLANTED['setitem']}\n"), wheel)

    assert not found.causes
    assert "only the compiled recorder records storages" in found.note
    ((what, place),) = found.made
    assert what.startswith("ExpBackward0")
    assert place == (str(tmp_path / "program.py"), 4)


def test_another_error_has_the_operators_that_ran_and_their_tensors(
    tmp_path: Path, library: str, wheel: Index
) -> None:
    code = f"{BEGIN}a = torch.ones(2, 3)\nb = torch.ones(4, 5)\n\n(a * 2) @ b\n"
    found = explained(recorded(tmp_path, code, "--native", library), wheel)

    assert found.raised_at == (str(tmp_path / "program.py"), 6)
    assert found.call == "aten::matmul"
    assert found.given == ("self: float32[2, 3] on cpu", "other: float32[4, 5] on cpu")
    assert [line for _, (_, line) in found.made] == [6, 4]
    assert [(one.name, one.detail) for one in found.said_by] == [
        ("matmul", "was running"),
        ("mm", "was running"),
    ]
    assert "torchnav clone" in found.note
    assert json.loads(found.as_json())["call"] == "aten::matmul"


def test_python_that_raises_is_its_own_line(tmp_path: Path, library: str, wheel: Index) -> None:
    code = "def check():\n    torch.ones(2)\n    raise ValueError('no such thing')\n\n\ncheck()\n"
    found = explained(recorded(tmp_path, f"{BEGIN}{code}", "--native", library), wheel)

    assert found.error == "no such thing"
    assert found.raised_at == (str(tmp_path / "program.py"), 5)
    assert not found.said_by
    assert not found.call


def test_without_an_error_there_is_nothing_to_explain(
    tmp_path: Path, library: str, wheel: Index
) -> None:
    trace = recorded(tmp_path, f"{BEGIN}torch.ones(2)\n", "--native", library)
    with pytest.raises(NotFound, match="ended without an error"):
        explained(trace, wheel)


# ------------------------------------------------------------------------------- tensors

CALLS = f"""{BEGIN}
image = torch.ones(2, 3, 4, 5)
view = image.permute(0, 2, 3, 1)[1]
view.neg()  # here
torch._foreach_add_([torch.ones(2), view], 1.0)
with torch.inference_mode():
    torch.ones(3).cos()
torch.eye(3).to_sparse()
"""


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory, library: str) -> Trace:
    return recorded(tmp_path_factory.mktemp("calls"), CALLS, "--native", library)


def tensors(trace: Trace, index: Index, name: str) -> dict[str, RecordedTensor]:
    row = next(op.id for op in trace.ops() if op.name == name)
    return {one.name: one for one in recorded_tensors(trace, Linker(trace, index), row)}


def state(one: RecordedTensor) -> TensorState:
    assert one.state is not None
    return one.state


def told(one: RecordedTensor) -> dict[str, str]:
    return {told.member.name: told.value or told.reason for told in one.members}


def test_every_member_has_a_value_or_a_reason(calls: Trace, wheel: Index) -> None:
    found = tensors(calls, wheel, "aten::neg")
    members = told(found["self"])

    assert set(found) == {"self", "result"}
    assert set(members) == {one.name for one in wheel.tensorimpl()}
    assert all(members.values())
    assert members["storage_offset_"] == "60"
    assert members["sizes_and_strides_"] == "sizes (4, 5, 3), strides (5, 1, 20)"
    assert members["is_contiguous_"].startswith("False: dimension 2 of size 3 has stride 20")
    assert "made by aten::ones" in members["storage_"]
    assert members["numel_"] == "60"


def test_members_of_lists_have_their_own_storages(calls: Trace, wheel: Index) -> None:
    found = tensors(calls, wheel, "aten::_foreach_add_")
    first, second = state(found["self[0]"]), state(found["self[1]"])
    negated = state(tensors(calls, wheel, "aten::neg")["self"])

    assert (first.offset, second.offset) == (0, 60)
    assert first.storage != second.storage == negated.storage


def test_what_has_no_version_or_no_storage_says_so(calls: Trace, wheel: Index) -> None:
    inference = told(tensors(calls, wheel, "aten::cos")["self"])
    sparse = told(tensors(calls, wheel, "aten::to_sparse")["result"])

    assert "inference mode" in inference["version_counter_"]
    assert sparse["storage_"].startswith("no storage was recorded")


def test_who_wrote_is_told_of_what_is_not_given_back(calls: Trace, wheel: Index) -> None:
    """``_foreach_add_`` returns nothing, and nobody looks at the tensor afterwards."""
    linker = Linker(calls, wheel)
    storage = state(tensors(calls, wheel, "aten::neg")["self"]).storage
    made = next(op.id for op in calls.ops() if op.label == "aten::permute")
    writes = [*Storages(calls, linker).writes(storage, made)]

    assert [calls.op(one.use.row).label for one in writes] == ["aten::_foreach_add_.Scalar"]
    assert (writes[0].before, writes[0].after) == (0, 1)


def test_a_node_took_what_an_operator_made(tmp_path: Path, library: str, wheel: Index) -> None:
    """A Node is no operator: its storage is that which had the number when it began."""
    code = f"{LEAF}for _ in range(3):\n    y = x.sigmoid()\n    (y * 2).sum().backward()\n"
    trace = recorded(tmp_path, code, "--native", library)
    linker = Linker(trace, wheel)
    nodes = [op for op in trace.ops() if op.kind == "node" and op.name == "SigmoidBackward0"]

    assert len(nodes) == 3
    for node in nodes:
        (taken,) = recorded_tensors(trace, linker, node.id)
        begun = [trace.op(use.row).start_us for use in taken.uses]
        assert taken.uses[0].argument == -1
        assert begun[0] < node.start_us
        assert "made by" in told(taken)["storage_"]


def test_rows_of_json_have_them(calls: Trace, wheel: Index) -> None:
    op = next(op for op in calls.ops() if op.name == "aten::neg")
    row = op_row(calls, op, Linker(calls, wheel))

    ((given,),), ((made,),) = json.loads(json.dumps([row["given"], row["made"]]))
    assert (given["offset"], given["version"], made["version"]) == (60, 0, 0)
    assert given["storage"] != made["storage"]


async def test_the_screen_shows_them(
    opener: Opener, tmp_path_factory: pytest.TempPathFactory, library: str
) -> None:
    folder = tmp_path_factory.mktemp("shown")
    recorded(folder, CALLS, "--native", library)
    async with sit(opener, opened(folder / "trace.json"), 120, 40) as person:
        await opens(person)
        screen = screen_of(person)
        await person.until(lambda: screen.workspace.links is not None)
        assert screen.pane.trace is not None
        ops = screen.pane.trace.ops()
        screen.pane.open_row(next(op.id for op in ops if op.name == "aten::neg"))
        await person.presses("S")
        await person.sees("tensors of aten::neg", "storage_offset_ = 60", "members are not known")
        title, member = (person.line(word) for word in ("tensors of", "members are not known"))
        assert title.split()[-1] != "0"
        assert member.startswith("   ")
        await person.sees("taken by aten::permute")
