"""Gradients of the graph against differences of the loss, by running a program again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode

from navigator.objects.numeric import NumericCheck, check

WRONG = """
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return v * v
    @staticmethod
    def backward(ctx, grad):
        return FACTOR * grad * ctx.saved_tensors[0]
w = torch.ones(3, dtype=torch.double, requires_grad=True)
loss = Square.apply(w).sum()
"""


def checked(code: str, variable: str) -> NumericCheck:
    def run(mode: TorchFunctionMode) -> tuple[Any, Mapping[str, Any]]:
        names: dict[str, Any] = {"torch": torch}
        with mode:
            exec(code, names)
        return names["loss"], names

    return check(run, variable)


PLAIN = """
w = torch.linspace(0, 1, 5, dtype=torch.double, requires_grad=True)
loss = (w.exp() * w).sum()
"""
DRAWN = """
m = torch.nn.Linear(3, 2).double()
w = m.weight
torch.nn.init.normal_(w)
loss = m(torch.rand(4, 3).double()).tanh().sum()
"""
TIMED = """
import time
w = torch.ones(3, dtype=torch.double, requires_grad=True)
loss = (w * time.perf_counter_ns()).sum()
"""


@pytest.mark.parametrize("code", [PLAIN, DRAWN, WRONG.replace("FACTOR", "2")])
def test_a_right_gradient_agrees(code: str) -> None:
    found = checked(code, "w")
    assert found.agrees
    assert found.by_graph != 0


def test_a_wrong_backward_differs() -> None:
    found = checked(WRONG.replace("FACTOR", "3"), "w")
    assert not found.agrees
    assert found.by_graph == pytest.approx(1.5 * found.by_difference)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("w = torch.ones(3, requires_grad=True)\nloss = w * 2", "3 elements"),
        (TIMED, "another loss each time"),
        ("w = torch.ones(3)\nloss = w.sum()", "not a leaf"),
    ],
)
def test_what_cannot_be_checked(code: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        checked(code, "w")
