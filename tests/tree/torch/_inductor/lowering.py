# mypy: allow-untyped-defs
import torch

aten = torch.ops.aten


def register_lowering(aten_fn, broadcast=False, type_promotion_kind=None):
    def wrapped(decomp_fn):
        return decomp_fn

    return wrapped


@register_lowering(aten.cumsum)
def cumsum(x, axis=None, dtype=None):
    return x


@register_lowering([aten.sum, aten.mean])
def reduce_(x, axis=None, keepdims=False):
    return x
