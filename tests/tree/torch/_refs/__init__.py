# mypy: allow-untyped-defs
import torch
from torch._decomp import register_decomposition

aten = torch._ops.ops.aten


def _make_elementwise_unary_reference(type_promotion_kind, *, aten_op=None, extra_meta=None):
    def inner(prim):
        return register_decomposition(aten_op or getattr(torch.ops.aten, prim.__name__))(prim)

    return inner


def _make_elementwise_binary_reference(type_promotion_kind, aten_op=None, name=None):
    def inner(prim):
        return prim

    return inner


def _make_inplace(fn):
    def _fn(a, *args, **kwargs):
        return fn(a, *args, out=a, **kwargs)

    return _fn


@_make_elementwise_unary_reference("complex_to_float")
def abs(a):  #! hop abs ref
    return torch.ops.prims.abs(a)


@_make_elementwise_unary_reference("int_to_float")
def sin(a):  #! hop sin ref
    return torch.ops.prims.sin(a)


@_make_elementwise_unary_reference(
    "default",
    extra_meta=None,
)
def ceil(a):  #! hop ceil ref
    return torch.ops.prims.ceil(a)


@register_decomposition(aten.add)
def add(a, b, *, alpha=None):  #! hop add.Tensor ref
    return torch.ops.prims.add(a, b)


@register_decomposition(aten.cumsum)
def cumsum(a, dim, *, dtype=None, out=None):  #! hop cumsum ref
    return a


abs_ = _make_inplace(abs)
ceil_ = _make_inplace(ceil)


# A ref that no decomposition table has.
def mean(a, dim=None):  #! hop mean ref
    return torch.ops.prims.sum(a, dim)
