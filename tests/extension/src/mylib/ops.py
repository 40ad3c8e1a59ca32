"""Operators in Python."""

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = """
torch::Tensor shift(torch::Tensor self, double by) { // mark: shift
  return self + by;
}
"""
_inline = load_inline(name="inline", cpp_sources=[SOURCE], functions=["shift"])


@torch.library.custom_op("mylib::halve", mutates_args=())
def halve(x: torch.Tensor) -> torch.Tensor:  # mark: halve
    return x / 2


class Scale(torch.autograd.Function):  # mark: Scale
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return torch.ops.mylib.scale(x, factor)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None
