# mypy: allow-untyped-defs
import torch

from ... import triton_utils as tu


def _nonzero_cond(self, *args, **kwargs) -> bool:
    return self.is_cuda


def _nonzero_impl(self, *args, **kwargs):
    from .triton_kernels import nonzero

    return nonzero(self)


def _nonzero_out_impl(self, *, out):
    return out.copy_(_nonzero_impl(self))


def _register_for_dispatch_key(dispatch_key: str) -> None:
    for op_symbol, impl in (("nonzero", _nonzero_impl), ("nonzero.out", _nonzero_out_impl)):
        tu.register_op_override("aten", op_symbol, dispatch_key, cond=_nonzero_cond, impl=impl)


def register_to_dispatch() -> None:
    _register_for_dispatch_key("CUDA")
    if torch.xpu._is_compiled():
        _register_for_dispatch_key("XPU")
