"""Kernels that operators launched on a GPU, in the chains of a full tree."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.launched import RECORDED, compare, launches, read
from indexes.queries.index import Index


def test_a_kernel_has_the_operators_around_the_call_that_launched_it() -> None:
    def event(cat: str, name: str, ts: int, dur: int, number: int = 0) -> dict[str, object]:
        what = {"cat": cat, "name": name, "ts": ts, "dur": dur, "tid": 1}
        return {**what, "args": {"correlation": number}}

    events = [
        event("cpu_op", "aten::softmax.int", 0, 50),
        event("cpu_op", "autograd::engine::evaluate_function: X", 0, 60),
        event("cpu_op", "aten::_softmax", 5, 30),
        event("cpu_op", "aten::add.Tensor", 40, 9),
        event("cuda_runtime", "cudaLaunchKernel", 10, 5, 7),
        event("kernel", "softmax_warp_forward", 90, 5, 7),
        event("kernel", "of_no_call", 95, 5, 8),
    ]
    assert list(launches(events)) == [
        (("aten::softmax.int", "aten::_softmax"), "softmax_warp_forward")
    ]


@pytest.mark.checkout
def test_chains_reach_what_was_launched(checkout_index: Index) -> None:
    found = list(compare(checkout_index, read(RECORDED)))
    for which, bar in (("own", 0.99), ("around", 0.99)):
        counts = Counter(verdict for one, verdict, _ in found if one == which)
        assert counts["reached"] > bar * (counts["reached"] + counts["missed"])
