"""The package beside torch, which passes on some names and has others of its own."""
from torch.optim import Adam as Adam


def vmap(func):  #! python functorch.vmap function
    return func
