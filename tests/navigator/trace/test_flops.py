"""The work of operators against torch's own counter, and how fast they did it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile
from torch.utils import flop_counter

from indexes.queries.index import Index
from navigator.cli.main import main
from navigator.trace.figures.peaks import parse_peak, peak_of
from navigator.trace.figures.work import broadcast, bytes_of, elements, itemsize, work_of
from navigator.trace.link import Linker
from navigator.trace.model import Input
from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace
from navigator.trace.views import VIEWS, View, no_links
from navigator.trace.wording import with_prefix
from tests.navigator.trace.conftest import TRACES
from tests.navigator.trace.made import kernel, launch, made, op, tensors

t = torch.randn


def leaf(*sizes: int) -> torch.Tensor:
    return t(*sizes, requires_grad=True)


PROGRAMS: dict[str, Callable[[], object]] = {
    "mm": lambda: t(3, 4) @ t(4, 5),
    "matmul of batches": lambda: t(2, 1, 3, 4) @ t(6, 4, 5),
    "addmm": lambda: torch.addmm(t(5), t(3, 4), t(4, 5)),
    "bmm": lambda: t(2, 3, 4).bmm(t(2, 4, 5)),
    "baddbmm": lambda: torch.baddbmm(t(2, 3, 5), t(2, 3, 4), t(2, 4, 5)),
    "linear": lambda: functional.linear(leaf(2, 7, 4), leaf(5, 4), leaf(5)).sum().backward(),
    "einsum": lambda: torch.einsum("bij,bjk->bik", t(2, 3, 4), t(2, 4, 5)),
    "conv1d": lambda: functional.conv1d(leaf(2, 3, 9), leaf(4, 3, 3)).sum().backward(),
    "conv2d": lambda: (
        functional.conv2d(leaf(2, 3, 9, 8), leaf(4, 3, 3, 2), stride=2, padding=1).sum().backward()
    ),
    "conv2d with groups": lambda: functional.conv2d(
        t(2, 4, 9, 8), t(6, 2, 3, 3), dilation=2, groups=2
    ),
    "conv3d": lambda: functional.conv3d(t(1, 2, 5, 5, 5), t(3, 2, 2, 2, 2)),
    "transposed": lambda: (
        functional.conv_transpose2d(leaf(2, 3, 5, 6), leaf(3, 4, 3, 3), stride=2, output_padding=1)
        .sum()
        .backward()
    ),
}


def profiled(program: Callable[[], object], folder: Path) -> Trace:
    program()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as recorded:
        program()
    recorded.export_chrome_trace(str(folder / "profile.json"))
    return read_trace(folder / "profile.json")


def flops(view: View) -> int:
    return sum(int(str(row["flops"])) for row in view.rows)


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_many_as_torch_counts(name: str, tmp_path: Path) -> None:
    with flop_counter.FlopCounterMode(display=False) as counter:
        PROGRAMS[name]()
    view = VIEWS["flops"](profiled(PROGRAMS[name], tmp_path), no_links)
    assert counter.get_total_flops() > 0
    assert flops(view) == counter.get_total_flops()
    assert not any("without recorded" in note for note in view.notes)


def test_attention_forward_and_backward(tmp_path: Path) -> None:
    query, key, value = (2, 4, 6, 8), (2, 4, 7, 8), (2, 4, 7, 8)

    def program() -> None:
        functional.scaled_dot_product_attention(
            leaf(*query), leaf(*key), leaf(*value)
        ).sum().backward()

    view = VIEWS["flops"](profiled(program, tmp_path), no_links)
    wanted = flop_counter.sdpa_flop_count(query, key, value)
    wanted += flop_counter.sdpa_backward_flop_count(query, query, key, value)
    assert flops(view) == wanted


def test_values_of_fewer_heads_than_queries() -> None:
    inputs = [Input("tensor", "float16", shape) for shape in ((1, 8, 4, 16), *[(1, 2, 5, 16)] * 2)]
    work = work_of("aten::_scaled_dot_product_flash_attention", inputs)
    assert work is not None
    shapes = [one.shape for one in inputs]
    assert work.flops == flop_counter.sdpa_flop_count(*shapes)


def test_names_that_only_look_alike_have_no_work() -> None:
    inputs = [Input("tensor", "float32", (4, 4))] * 3
    names = "comm upsample_bilinear2d _trilinear _thnn_fused_lstm_cell symm _fused_sdp_choice t"
    assert not any(work_of(f"aten::{name}", inputs) for name in names.split())
    assert all(work_of(f"aten::{name}", inputs) for name in "mm_ _new_mm addmm matmul".split())
    assert work_of("aten::mm", []) is None
    assert work_of("aten::mm", [Input("tensor", "float32", (2, 3))] * 2) is None


def test_bytes() -> None:
    sizes = {"bfloat16": 2, "float8_e4m3fn": 1, "bool": 1, "complex64": 8, "?": None}
    assert {name: itemsize(name) for name in sizes} == sizes
    assert elements(Input("tensor", "float32", (8, 4), strides=(0, 1))) == 4
    inputs = [Input("tensor", "float32", (2, 3)), Input("scalar", value="1")]
    assert bytes_of(inputs, [(2, 3)], "float32") == 48
    assert bytes_of([Input("tensors", elements=((2,),))], [], "float32") is None
    assert broadcast([(2, 1, 3), (4, 1)]) == (2, 4, 3)
    assert broadcast([(2,), (3,)]) is None


def test_element_by_element_by_what_the_yaml_says(tmp_path: Path, wheel: Index) -> None:
    trace = profiled(lambda: (functional.gelu(t(4, 1).add(t(3))), t(9).view(3, 3)), tmp_path)
    view = VIEWS["flops"](trace, lambda: Linker(trace, wheel))
    found = {str(row["operator"]).partition(".")[0]: row for row in view.rows}
    assert found["aten::add"]["flops"] == found["aten::gelu"]["flops"] == 12
    assert found["aten::add"]["bytes"] == 4 * (4 + 3 + 12)
    assert found["aten::gelu"]["bytes"] == 4 * (12 + 12)
    assert "aten::view" not in found
    without = VIEWS["flops"](trace, no_links)
    assert not without.rows
    assert any("elementwise operators are left out" in note for note in without.notes)


def test_speed_is_that_of_the_kernels_and_of_the_known_device(tmp_path: Path) -> None:
    shapes = tensors([1024, 1024], [1024, 1024], dtype="c10::BFloat16")
    single = tensors([1024, 1024], [1024, 1024])
    events = [op("aten::mm", 0, 900, **shapes), launch(5, 1), kernel("gemm", 950, 10, 1)]
    events += [op("aten::mm", 1000, 90, **single), launch(1005, 2), launch(1007, 3)]
    events += [kernel("gemm_tf32", 1100, 15, 2), kernel("splitK", 1120, 5, 3)]
    trace = made(tmp_path, events, "NVIDIA H100 80GB HBM3")
    one, two = sorted(VIEWS["flops"](trace, no_links).rows, key=lambda row: str(row["inputs"]))
    assert one["time_us"] == 10
    assert one["flops_s"] == pytest.approx(2 * 1024**3 / 10e-6)
    assert one["of_peak"] == pytest.approx(2 * 1024**3 / 10e-6 / 989.5e12)
    assert one["bytes"] == 3 * 2 * 1024**2
    assert one["of_bandwidth"] == pytest.approx(3 * 2 * 1024**2 / 10e-6 / 3350e9, rel=1e-3)
    assert two["time_us"] == 20
    assert two["of_peak"] == pytest.approx(2 * 1024**3 / 20e-6 / 494.5e12)


@pytest.mark.parametrize(
    ("name", "time", "limit"),
    [("sgemm", 100, 67.0), ("cutlass_80_tensorop_s1688gemm", 100, 494.5), ("sgemm", 10, 494.5)],
)
def test_tensor_cores_take_float32_as_tf32(
    tmp_path: Path, name: str, time: float, limit: float
) -> None:
    events = [op("aten::mm", 0, 9, **tensors([1024, 1024], [1024, 1024])), launch(5, 1)]
    trace = made(tmp_path, [*events, kernel(name, 20, time, 1)], "NVIDIA H100 80GB HBM3")
    (row,) = VIEWS["flops"](trace, no_links).rows
    assert row["of_peak"] == pytest.approx(2 * 1024**3 / (time * 1e-6) / (limit * 1e12))


def test_an_unknown_device_has_no_peak(tmp_path: Path) -> None:
    events = [op("aten::mm", 0, 10, **tensors([8, 8], [8, 8]))]
    for device in ("NVIDIA H999", ""):
        view = VIEWS["flops"](made(tmp_path, events, device), no_links)
        assert [row["of_peak"] for row in view.rows] == [None]
        assert any(f"the peak of {device or 'the CPU'} is unknown" in note for note in view.notes)
    assert peak_of(["NVIDIA H200", "NVIDIA H100 80GB HBM3"]) is None
    assert peak_of(["AMD Instinct MI300X VF"]) is not None
    assert peak_of(["NVIDIA L40S"]) is None


def test_calls_without_shapes_are_said(tmp_path: Path) -> None:
    events = [op("aten::linear", 0, 10), op("aten::addmm", 1, 5), op("aten::mul", 20, 2)]
    events += [op("aten::linear", 30, 10), op("aten::mm", 31, 5, **tensors([2, 3], [3, 4]))]
    view = VIEWS["flops"](made(tmp_path, events), no_links)
    assert [row["operator"] for row in view.rows] == ["aten::mm"]
    assert any("values: aten::linear (1); record_shapes" in note for note in view.notes)


def test_a_peak_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(TRACES / "h100-bert-small.json.gz")
    peak = ["--peak", "bfloat16=1,bandwidth=2"]
    assert main(["export", "trace", file, "--view", "flops", "--json", *peak]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    linear = next(row for row in rows if row["operator"] == "aten::linear")
    assert linear["of_peak"] == pytest.approx(linear["flops_s"] / 1e12)
    assert linear["of_bandwidth"] == pytest.approx(linear["bytes_s"] / 2e9)
    assert main(["export", "trace", file, "--view", "flops", "--peak", "x"]) == 2
    assert main(["export", "trace", file, "--view", "line", *peak]) == 2
    assert [with_prefix(n) for n in (0, 999, 3.4e6, 989e12)] == ["0", "999", "3.4 M", "989 T"]
    with pytest.raises(ValueError, match="neither DTYPE"):
        parse_peak("bfloat16")
