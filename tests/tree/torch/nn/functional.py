"""Functional interface."""

import torch
from torch import _VF

linear = torch._C._nn.linear


def softmax(input, dim=None, _stacklevel=3, dtype=None):  #! hop softmax.int python
    r"""Apply a softmax function."""
    if dtype is None:
        ret = input.softmax(dim)
    else:
        ret = input.softmax(dim, dtype=dtype)
    return ret


def relu(input, inplace=False):  #! hop relu python
    r"""relu(input, inplace=False) -> Tensor"""
    if inplace:
        result = torch.relu_(input)
    else:
        result = torch.relu(input)
    return result


def dropout(input, p=0.5, training=True, inplace=False):  #! hop dropout python
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return _VF.dropout_(input, p, training) if inplace else _VF.dropout(input, p, training)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):  #! hop layer_norm python
    return torch.layer_norm(input, normalized_shape, weight, bias, eps, torch.backends.cudnn.enabled)


def embedding(input, weight, padding_idx=None, sparse=False):  #! hop embedding python
    return torch.embedding(weight, input, padding_idx, False, sparse)


def nll_loss(input, target, weight=None, ignore_index=-100, reduction="mean"):  #! hop nll_loss_nd python
    return torch._C._nn.nll_loss_nd(input, target, weight, 1, ignore_index)
