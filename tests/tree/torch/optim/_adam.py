from typing import overload

import torch
import torch.nn.functional as F
from torch.optim import optimizer as base
from torch.optim.optimizer import Optimizer

__all__ = ["Adam", "AdamW", "adam"]


class _Mixin:
    def step(self, closure=None):
        """Never the step of Adam: Optimizer comes before it."""

    def extra(self):  #! python torch.optim.Adam.extra method
        return F.relu(self)


class Adam(Optimizer, _Mixin):  #! python torch.optim.Adam,torch.optim._adam.Adam,optim.Adam class
    """Adam's algorithm."""

    betas: tuple  #! python torch.optim.Adam.betas attribute

    def __init__(self, params, lr=1e-3):
        self.lr = lr  #! python torch.optim.Adam.lr attribute
        self.step = 0

    @property
    def state(self):  #! python torch.optim.Adam.state property
        return {}

    @state.setter
    def state(self, value):
        pass

    @overload
    def load(self, state: int) -> None: ...
    @overload
    def load(self, state: str) -> None: ...

    def load(self, state):  #! python torch.optim.Adam.load,torch.optim.Adam.load_state method
        pass

    load_state = load


class AdamW(Adam):  #! python torch.optim.AdamW,AdamW class; uses torch.optim.Adam
    def __init__(self):
        super().__init__([])


class NAdam(Adam):  #! python torch.optim.NAdam class; uses torch.optim.Adam
    pass


class RAdam(base.Optimizer):  #! python torch.optim.RAdam class
    pass


def adam(params):  #! python torch.optim.adam,torch.optim.wrapped_adam function
    return torch.mul(params, params)


def fused_adam(params):  #! python torch.optim.fused_adam function
    return params


def train(model, params):
    optimizer = Adam(params)  #! uses torch.optim.Adam
    adam(params)  #! uses torch.optim._adam.adam
    model.eval()
    optimizer.anything.step()
