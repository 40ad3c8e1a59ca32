"""Uses of names, and what only looks like one."""
import torch
import torch.optim as optim
from torch import optim as O
from torch.optim import (
    Adam,
    Optimizer,
)
from torch.optim._adam import adam as run_adam

# torch.optim.adam(x) in a comment
TEXT = "torch.optim.adam(x)"


def by_module(params):
    """torch.optim.adam(params) in a docstring."""
    return torch.optim.adam(params)  #! uses torch.optim._adam.adam


def by_alias(params):
    return optim.adam(params)  #! uses torch.optim._adam.adam


def by_another_alias(params):
    return O.adam(params)  #! uses torch.optim._adam.adam


def renamed(params):
    return run_adam(params)  #! uses torch.optim._adam.adam


def in_text(params):
    return f"{run_adam(params)}"  #! uses torch.optim._adam.adam


def quoted(params):
    return f"{params}: torch.optim.adam(params)" + "optim.adam(x)"


def local(params, adam):
    return adam(params)


def made(params, unknown):
    inner = Optimizer(params)
    inner.step()  #! uses torch.optim.Optimizer.step
    unknown.step()


def annotated(given: Optimizer, others: list):
    given.step()  #! uses torch.optim.Optimizer.step


class Mine(Adam):  #! uses torch.optim.Adam
    def run(self):
        self.step()  #! uses torch.optim.Optimizer.step


class Other:
    def step(self):
        return None

    def run(self):
        self.step()
        self.adam()
