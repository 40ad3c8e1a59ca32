# mypy: allow-untyped-defs
import torch


def register_jagged_func(tables, schema_str: str):
    def inner(fn):
        return fn

    return inner


# The kernels of the operators with ``dispatch: {}``.
@register_jagged_func(torch.ops.aten._nested_get_values.default, "self: jt_all")
def _nested_get_values(func, *args, **kwargs):
    return args[0]._values


@register_jagged_func(torch.ops.aten._nested_get_offsets.default, "self: jt_all")
def _nested_get_offsets(func, *args, **kwargs):
    return args[0]._offsets
