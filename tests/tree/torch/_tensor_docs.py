"""Adds docstrings to Tensor functions."""

import torch._C
from torch._C import _add_docstr as add_docstr


def add_docstr_all(method, docstr):
    add_docstr(getattr(torch._C.TensorBase, method), docstr)


add_docstr_all(
    "abs_",
    r"""
abs_() -> Tensor

In-place version of :meth:`~Tensor.abs`
""",
)
