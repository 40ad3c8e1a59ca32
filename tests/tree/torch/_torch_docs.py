# mypy: allow-untyped-defs
"""Adds docstrings to functions defined in the torch._C module."""

import torch._C
from torch._C import _add_docstr as add_docstr

common_args = {}

add_docstr(  #! hop abs docs
    torch.abs,
    r"""
abs(input: Tensor, *, out: Optional[Tensor]) -> Tensor

Computes the absolute value of each element in :attr:`input`.
""".format(**common_args),
)

add_docstr(torch.add, r"add(input, other, *, alpha=1, out=None) -> Tensor")  #! hop add.Tensor docs

add_docstr(  #! hop cumsum docs
    torch.cumsum,
    r"cumsum(input, dim, *, dtype=None, out=None) -> Tensor",
)
