"""A stand-in for torch: it is read, never imported."""
from torch import _C
from torch._C import *
from torch._tensor import Tensor as Tensor

for __name in dir(_C._VariableFunctions):
    globals()[__name] = getattr(_C._VariableFunctions, __name)

from torch.functional import *
