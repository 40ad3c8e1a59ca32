import sys
import types

import torch

enabled = False


class _Settings(types.ModuleType):
    def __init__(self):
        self.functions = torch._C._VariableFunctions
        self.decay = 0.9  #! python torch.optim.swa.decay attribute

    def __getattr__(self, name):
        return getattr(self.functions, name)


sys.modules[__name__] = _Settings()


def check(parameters):
    if not parameters:
        raise ValueError("this optimizer got no parameters")
