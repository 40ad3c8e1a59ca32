"""Device kernels of traces, and the operators that reach them."""

from __future__ import annotations

import pytest

from indexes.queries.audit.launched import Reached
from indexes.queries.audit.report import chained
from indexes.queries.index import Index

SOFTMAX = "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float>(float*)"


@pytest.mark.parametrize(
    ("operator", "kernel", "runs"),
    [
        ("_softmax", SOFTMAX, True),
        ("native_layer_norm", SOFTMAX, False),
        ("addmm", "ampere_sgemm_128x64_nn", True),
        ("mul", "ampere_sgemm_128x64_nn", False),
        ("addmm", "Cijk_Ailk_Bljk_SB_MT64x64x16", True),
        ("no_such_operator", SOFTMAX, None),
    ],
)
def test_a_device_kernel_is_reached_from_its_operator(
    operator: str, kernel: str, runs: bool | None, tree_index: Index
) -> None:
    assert Reached(tree_index).runs(operator, tree_index.kernel_name(kernel)) is runs


@pytest.mark.parametrize(
    ("kernel", "by_rule"),
    [("ampere_sgemm_128x64_nn", False), ("Cijk_Ailk_Bljk_SB_MT64x64x16", True), (SOFTMAX, False)],
)
def test_a_kernel_behind_another_library_is_reached_by_rule(
    kernel: str, by_rule: bool, tree_index: Index
) -> None:
    assert Reached(tree_index).is_by_rule("addmm", tree_index.kernel_name(kernel)) is by_rule


def test_what_moves_is_told_from_what_computes(tree_index: Index) -> None:
    reached = Reached(tree_index)
    moves = {base for base in ("copy_", "mul", "sum") if reached.moves(base)}
    assert moves == {"copy_"}


def test_kernels_of_a_trace_are_counted_by_operator_and_around_it(tree_index: Index) -> None:
    launched = [(SOFTMAX, ["_softmax", "mul"]), (SOFTMAX, ["copy_", "mul"]), (SOFTMAX, [])]
    own, around = chained(tree_index, "a.json", launched)
    assert (own.counts, around.counts) == ({"right": 1, "not": 1}, {"right": 0, "not": 1})
    assert own.met is False
    assert own.short[0].startswith("1x copy_: ")
