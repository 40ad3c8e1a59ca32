# %% [markdown]
# # An operator logger, in twenty lines
# Two places let Python see every call: above autograd, where a call has the program's words, and
# below it, where it is an operator that a back end is about to compute.

# %%
import torch
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._python_dispatch import TorchDispatchMode


class Above(TorchFunctionMode):
    """What the program calls."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.calls.append(resolve_name(function) or str(function))
        return function(*args, **(kwargs or {}))


class Below(TorchDispatchMode):
    """What the back end computes."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        self.calls.append(str(operator))
        return operator(*args, **(kwargs or {}))


# %% [markdown]
# ## One call, seen twice
# [[torch.overrides.TorchFunctionMode]] is asked by Python's bindings before they call into C++;
# [[torch.utils._python_dispatch.TorchDispatchMode]] by the dispatcher at the key `Python`, whose
# fallback is in [[PythonFallbackKernel.cpp]]. In between, composites became what they call.

# %%
x = torch.randn(2, 64)
layer = torch.nn.Linear(64, 600)
with Above() as above, Below() as below:
    loss = layer(x).square().sum()
print(above.calls, below.calls, sep="\n")
assert "torch.nn.functional.linear" in above.calls, "above: linear"
assert below.calls[:2] == ["aten.t.default", "aten.addmm.default"], "below: t and addmm"
assert "aten.pow.Tensor_Scalar" in below.calls, "square is a composite too: pow"

# %% [markdown]
# ## Backward too
# The engine calls operators like anybody: those of the formulas are seen below. Above, nothing
# is seen but `backward` itself, for no Python function is called in between.

# %%
with Above() as above, Below() as below:
    loss.backward()
print(above.calls, below.calls, sep="\n")
assert above.calls == ["torch.Tensor.backward"], "above: one call"
assert "aten.mm.default" in below.calls, "below: the products of addmm's formulas"
assert not [name for name in below.calls if "addmm" in name], "its formulas call mm alone"

# %% [markdown]
# ## It is not free, and not all
# A mode adds a key to the thread's, so composites may take another way, and it does not see what
# a compiled region does. `torchnav trace` records the operators of both, with the program's lines.

# %%
Key = torch._C.DispatchKey
before = torch._C._dispatch_tls_is_dispatch_key_included(Key.Python)
with Below():
    inside = torch._C._dispatch_tls_is_dispatch_key_included(Key.Python)
assert (before, inside) == (False, True), "the mode includes the key Python"
