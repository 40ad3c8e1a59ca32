"""What was recorded on one NVIDIA H100: a training step, a CUDA graph, a memory snapshot, and a
report of Nsight Compute; on an H200, a step of a compiled model."""

from __future__ import annotations

import linecache
from collections import Counter
from pathlib import Path

import pytest

from indexes.queries.index import Index
from navigator.trace.link import Linker
from navigator.trace.readers import read_trace
from navigator.trace.readers.replays import read_with_captures, replays_of
from navigator.trace.summary import summary_lines
from navigator.trace.trace import Trace
from navigator.trace.views import VIEWS, no_links
from tests.navigator.trace.conftest import TRACES

CUDA = TRACES / "cuda"


@pytest.fixture(scope="module")
def training() -> Trace:
    return read_trace(CUDA / "step.json.gz")


def line_of(trace: Trace, row: int) -> str:
    """The line of the program that called it."""
    user = trace.op(row).user
    assert user is not None
    return linecache.getline(str(CUDA / Path(user.path).name), user.line)


def test_every_device_kernel_of_a_training_step_is_under_an_operator(training: Trace) -> None:
    """As many as torch.profiler saw of the same program: 98 kernels, 17 copies, 6 fills."""
    assert training.meta.problems == []
    assert training.meta.devices == ("NVIDIA H100 80GB HBM3",)
    kernels = list(training.kernels())
    assert Counter(one.kind for one in kernels) == {"kernel": 98, "memcpy": 17, "memset": 6}
    phases = Counter(training.op(one.op_id).phase for one in kernels if one.op_id is not None)
    assert sum(phases.values()) == 121
    assert min(phases[one] for one in ("forward", "backward", "optimizer")) > 15


def test_the_first_use_of_the_device_is_recorded(training: Trace) -> None:
    first = min(training.kernels(), key=lambda one: one.start_us)
    assert first.name == "Memcpy HtoD (Pageable -> Device)"
    assert "image = torch.randn" in line_of(training, first.op_id or 0)


def test_device_kernels_have_the_line_of_the_program(training: Trace) -> None:
    rows = {
        training.op(one.op_id).name: one.op_id
        for one in training.kernels()
        if one.op_id is not None
    }
    assert "scaled_dot_product_attention" in line_of(
        training, rows["aten::_cudnn_attention_forward"]
    )
    assert "self.conv(image)" in line_of(training, rows["aten::cudnn_convolution"])
    backward = training.op(rows["aten::_cudnn_attention_backward"])
    assert backward.node == "ScaledDotProductCudnnAttentionBackward0"
    forward = training.op(backward.forward_id or 0)
    assert forward.name == "aten::_scaled_dot_product_cudnn_attention"


def test_triton_kernels_are_of_the_compiled_graphs_that_launch_them() -> None:
    trace = read_trace(CUDA / "compiled.json.gz")
    assert trace.meta.devices == ("NVIDIA H200",)
    triton = [one for one in trace.kernels() if one.name.startswith("triton_")]
    rows = [trace.op(one.op_id) for one in triton if one.op_id is not None]
    assert Counter(row.name for row in rows) == {
        "CompiledFunction": 3,
        "CompiledFunctionBackward": 5,
    }
    assert {row.phase for row in rows} == {"forward", "backward"}
    assert "loss_of(double(x), y)" in line_of(trace, rows[0].id)
    (by_hand,) = (one for one in trace.kernels() if one.name == "double_kernel")
    assert by_hand.reason == "launched outside of any recorded operator"


def test_replays_get_the_operators_of_the_capture_in_the_same_program() -> None:
    path = CUDA / "replay.json.gz"
    trace, joined = read_with_captures(path, [])
    assert joined is not None
    assert (joined.replays, joined.joined, joined.reasons) == (2, joined.kernels, [])
    for replay in replays_of(trace):
        works = [trace.kernel(number) for number in replay.kernels]
        names = [trace.op(one.op_id).name for one in works if one.op_id is not None]
        assert names == ["aten::addmm", "aten::gelu", "aten::_softmax"]
        assert works[0].reason == "replayed; launched while its capture was recorded"
    alone = read_trace(path)
    assert sum(one.op_id is None for one in alone.kernels()) == joined.kernels
    assert any("in no operator" in line for line in summary_lines(alone))
    assert not any("in no operator" in line for line in summary_lines(trace))


def test_a_snapshot_has_the_lines_of_the_program_and_the_nodes() -> None:
    """Of some 40 frames the innermost 11 and more are the allocator's and the dispatcher's."""
    view = VIEWS["memory"](read_trace(CUDA / "snapshot.pickle.gz"), no_links)
    lines = Counter(str(row["line"]).rpartition("/")[2] for row in view.rows if row.get("line"))
    known = {"snapshot.py:4", "snapshot.py:5", "snapshot.py:7", "AddmmBackward0", "GeluBackward0"}
    assert known <= set(lines) <= {*known, "(no line)"}


def test_a_report_of_nsight_compute_without_operators_lists_its_kernels() -> None:
    trace = read_trace(CUDA / "ncu.csv.gz")
    text = list(summary_lines(trace))
    assert "kernels    60 on devices" in text
    assert not any(line.startswith("operators") for line in text)
    assert text[-1].endswith("T2 *, const T1 *, int, int, int, const bool *, int, bool)")


@pytest.mark.checkout
@pytest.mark.parametrize("name", ["step.json.gz", "replay.json.gz", "ncu.csv.gz"])
def test_kernels_that_the_tree_has_lead_to_their_source(name: str, checkout_index: Index) -> None:
    trace = read_trace(CUDA / name)
    linker = Linker(trace, checkout_index)
    answers = [linker.kernel_name(one) for one in trace.kernels()]
    lost = {one.name for one in answers if not (one.source or one.library)}
    assert all("in this tree" in one.reason for one in answers if one.name in lost)
    assert len(lost) <= 1  # kernels that are younger than the tree
