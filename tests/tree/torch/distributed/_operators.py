"""Operators that Python defines, in each of the ways that torch.library has."""

from collections.abc import Sequence
from typing import Optional

import torch
from torch import Tensor
from torch._C import DispatchKey
from torch._ops import HigherOrderOperator
from torch.library import triton_op

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("scale(Tensor self, float by) -> Tensor") #! operator mylib::scale
lib.define( #! operator mylib::scale.out
    "scale.out(Tensor self, float by, *, "
    "Tensor(a!) out) -> Tensor(a!)"
)
_LISTED = [
    "first(Tensor self) -> Tensor", #! operator mylib::first
    "second(Tensor self) -> Tensor", #! operator mylib::second
]
for definition in _LISTED:
    lib.define(definition)


@torch.library.impl(lib, "scale", "CPU")
@torch.library.impl(lib, "scale", "CUDA")
def _scale(self: Tensor, by: float) -> Tensor: #! runs mylib::scale CPU,CUDA
    return self * by


def _first(self): #! runs mylib::first CompositeImplicitAutograd
    return self[0]


lib.impl("first", _first, "CompositeImplicitAutograd")
torch.library.define("mylib::sine", "(Tensor x) -> Tensor") #! operator mylib::sine


@torch.library.register_fake("mylib::sine")
def _sine_fake(x): #! runs mylib::sine Meta
    return torch.empty_like(x)


@torch.library.custom_op("mylib::cube", mutates_args=("out",))
def cube( #! operator mylib::cube; runs mylib::cube CompositeExplicitAutograd
    x: Tensor,
    sizes: Sequence[int],
    bias: Optional[Tensor] = None,
    *,
    name: str = "a",
    out: "list[Tensor]",
) -> tuple[Tensor, int]:
    return x * x * x, 1


@cube.register_fake
def _cube_fake(x, sizes, bias=None, *, name="a", out): #! runs mylib::cube Meta
    return torch.empty_like(x), 1


@cube.register_kernel("cuda")
def _cube_cuda(x, sizes, bias=None, *, name="a", out): #! runs mylib::cube CUDA
    return x ** 3, 1


def _backward(ctx, grad): #! runs mylib::cube Autograd
    return grad


cube.register_autograd(_backward)


@cube.register_vmap
def _cube_vmap(info, in_dims, x): #! runs mylib::cube FuncTorchBatched
    return x


@triton_op("mylib::fused", mutates_args={})
def fused(x: Tensor) -> Tensor: #! operator mylib::fused; runs mylib::fused CompositeExplicitAutograd
    return x


# Not a definition: which operator it is, is known at run time alone.
def define_all(names):
    for name in names:
        lib.define(f"{name}(Tensor self) -> Tensor")


@torch.library.impl("c10d::send", "Meta")
def _send_meta(tensors, dst, tag): #! runs c10d::send Meta
    return None


class CondOp(HigherOrderOperator): #! operator higher_order::cond
    def __init__(self):
        super().__init__("cond")

    def __call__(self, pred, true_fn, false_fn, operands):
        return super().__call__(pred, true_fn, false_fn, operands)


cond_op = CondOp()


@cond_op.py_impl(DispatchKey.CompositeExplicitAutograd)
def cond_op_dense(pred, true_fn, false_fn, operands): #! runs higher_order::cond CompositeExplicitAutograd
    return true_fn(*operands) if pred else false_fn(*operands)
