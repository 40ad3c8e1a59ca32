# mypy: allow-untyped-defs
import torch
from torch.library import Library


def register_abs(module_path: str = "fast_abs") -> Library:
    return _register_kernels()


def _register_kernels() -> Library:
    lib = Library("aten", "IMPL", "CUDA")
    lib.impl("abs.out", _fast_abs, "CUDA")
    return lib


def _fast_abs(self, *, out):
    return torch.ops.fast.abs(self, out)
