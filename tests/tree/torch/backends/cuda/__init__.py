"""What is set for CUDA."""

import torch


class cuBLASModule:
    def __setattr__(self, name, value):
        if name == "allow_tf32":
            return torch._C._set_cublas_allow_tf32(value)
        raise AttributeError("Unknown attribute " + name)


matmul = cuBLASModule()


def is_fast():
    """Whether ``matmul.allow_tf32`` is on."""
    from torch._inductor import config

    return matmul.allow_tf32 and config.max_autotune


def be_exact():
    """Turns ``matmul.allow_tf32`` off."""
    matmul.allow_tf32 = False
