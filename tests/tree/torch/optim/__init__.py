"""How a package gives its names: re-exports, conditions, loops, tables that are asked late."""
import functools
import sys
from typing import TYPE_CHECKING

import torch
from torch._C import _optim as _C_optim
from torch.optim import lr_scheduler as lr_scheduler, swa as averaging
from torch.optim._adam import Adam as Adam, adam
from ._functional import *
from .optimizer import Optimizer

if TYPE_CHECKING:
    from torch.optim.decoys import AdamW
else:
    from torch.optim._adam import AdamW

try:
    from torch.optim._adam import fused_adam
except ImportError:
    fused_adam = None

if not hasattr(torch, "cuda"):

    def synchronize():
        raise RuntimeError


else:

    def synchronize():  #! python torch.optim.synchronize function
        pass


def _documented(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


def _maker(low, high):
    def chosen(x):  #! python torch.optim.clip function
        return low(x) if x < 0 else high(x)

    return chosen


@_documented
@torch.jit.ignore(drop=True)
def zero_grad(  #! python torch.optim.zero_grad function
    parameters,
):
    """Set the gradients to zero."""
    return torch.mul(parameters, 0)


clear_grad = zero_grad
wrapped_adam = _documented(adam)  #! uses torch.optim._adam.adam
clip = _maker(high=adam, low=zero_grad)
DEFAULTS: dict = {"lr": 1e-3}  #! python torch.optim.DEFAULTS attribute
mul = torch._C._add_docstr(torch._C._VariableFunctions.mul, "multiplies")

__name = ""
for __name in dir(torch._C._VariableFunctions):
    globals()[__name] = getattr(torch._C._VariableFunctions, __name)

_LATE = {"NAdam": "torch.optim._adam"}


def __getattr__(name):
    if name == "RAdam":
        from torch.optim._adam import RAdam

        return RAdam
    if name in _LATE:
        return getattr(importlib.import_module(_LATE[name]), name)
    raise AttributeError(name)
