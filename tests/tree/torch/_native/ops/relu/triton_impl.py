# mypy: allow-untyped-defs
import torch

from ... import triton_utils as tu


def _relu_cond(self, *args, **kwargs) -> bool:
    return self.is_cuda


def _relu_impl(self, *args, **kwargs):
    from .triton_kernels import relu

    return relu(self)


def _relu_inplace_impl(self, *args, **kwargs):
    return self.copy_(_relu_impl(self))


def _register_for_dispatch_key(dispatch_key: str) -> None:
    for op_symbol, impl in (("relu", _relu_impl), ("relu_", _relu_inplace_impl)):
        tu.register_op_override("aten", op_symbol, dispatch_key, cond=_relu_cond, impl=impl)


def register_to_dispatch() -> None:
    _register_for_dispatch_key("CUDA")
    if torch.xpu._is_compiled():
        _register_for_dispatch_key("XPU")
