# mypy: allow-untyped-defs
import torch
from torch._decomp import register_decomposition

aten = torch._ops.ops.aten


@register_decomposition(aten.relu)
def relu(a, inplace=False):  #! hop relu ref
    return torch.where(torch.le(a, 0), 0, a)
