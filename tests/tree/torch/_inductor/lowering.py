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


def fallback_handler(kernel):
    def handler(*args, **kwargs):
        return kernel(*args, **kwargs)

    return handler


def make_fallback(op, layout_constraint=None, warn=True):
    return register_lowering(op, type_promotion_kind=None)(fallback_handler(op))


make_fallback(aten.nonzero)  #! hop nonzero registration


def make_pointwise(fn):
    def inner(*inputs):
        return fn(*inputs)

    return inner


def register_pointwise(aten_fn, name=None, type_promotion_kind=None):
    fn = make_pointwise(name or aten_fn.__name__)
    return register_lowering(aten_fn, type_promotion_kind=type_promotion_kind)(fn)


relu = register_pointwise(aten.relu)  #! hop relu registration


# a table of another file says which operators, and a generator finds them
from .codegen.common import pointwise_overrides_data


def _get_pointwise_overrides(ns, name):
    data = pointwise_overrides_data[name]
    op = getattr(ns, data.name, None)
    if op is None:
        return
    if isinstance(op, torch._ops.OpOverloadPacket):
        for overload in op.op_overloads():
            yield overload, data.type_promotion_kind
    else:
        yield op, data.type_promotion_kind


for name in pointwise_overrides_data:
    for op, kind in _get_pointwise_overrides(aten, name):
        #! hop isinf registration; hop ceil registration
        register_pointwise(op, name=name, type_promotion_kind=kind)


def register_inplace(aten_op, outplace_op):
    @register_lowering(aten_op)
    def fn(*args):
        return outplace_op(*args)

    return fn


register_inplace(aten.relu_, relu)  #! hop relu_ registration
