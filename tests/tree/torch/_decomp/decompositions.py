# mypy: allow-untyped-defs
import functools

import torch
from torch._decomp import register_decomposition

aten = torch._ops.ops.aten


def type_casts(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs)

    return inner


def softmax_backward_helper(grad_output, output):
    return grad_output * output


# the line of the function's name is the answer, below its decorators
@register_decomposition(aten._softmax)
@type_casts
def _softmax(x, dim: int, half_to_float: bool):  #! hop _softmax decomposition
    unnormalized = torch.exp(x - torch.amax(x, dim, keepdim=True))
    return unnormalized / torch.sum(unnormalized, dim, keepdim=True)


@register_decomposition(aten._softmax_backward_data)
def _softmax_backward_data(grad_output, output, dim: int, input_dtype):  #! hop _softmax_backward_data decomposition
    return softmax_backward_helper(grad_output, output)


@register_decomposition([aten.native_layer_norm.default, aten.native_layer_norm.out])
def native_layer_norm(input, normalized_shape, weight, bias, eps):  #! hop native_layer_norm decomposition
    return input, input, input


@register_decomposition(aten.embedding)
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):  #! hop embedding decomposition
    return weight[indices]


# @register_decomposition(aten.cumsum)
def cumsum(x, dim):  #! not-hop cumsum
    return x


@register_decomposition(
    [
        aten.nll_loss_forward.default,
        aten.nll_loss_forward.output,
    ]
)
def nll_loss_forward(self, target, weight, reduction, ignore_index):  #! hop nll_loss_forward decomposition
    return self, target


def check_cast(dtype):
    if dtype is torch.int64:
        raise RuntimeError("result dtype Float can't be cast to the output dtype Long")
