"""The registry of decompositions."""

import torch


def register_decomposition(aten_op, registry=None, *, type="post_autograd", unsafe=False):
    def decomposition_decorator(fn):
        return fn

    return decomposition_decorator


def get_decompositions(aten_ops, type="post_autograd"):
    return {}


def remove_decompositions(decompositions, aten_ops):
    for op in aten_ops:
        decompositions.pop(op, None)


def core_aten_decompositions():
    from torch.export.exported_program import default_decompositions

    return default_decompositions()


def _core_aten_decompositions_post_autograd():
    aten = torch.ops.aten
    return get_decompositions(
        [
            aten.embedding,
            aten._softmax_backward_data,
            aten.nll_loss_forward.default,
            aten.cumsum,  # asked for, and there is none
        ]
    )
