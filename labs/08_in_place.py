# %% [markdown]
# # Writing in place
# A backward formula needs values as they were. Each write in place raises a counter that a
# tensor shares with its views, and a node compares it with what it was when the value was saved.

# %%
import torch

from navigator.objects.writes import Writes

x = torch.ones(3, requires_grad=True)

# %% [markdown]
# ## The counter
# [[c10::VariableVersion]] is raised for every operator that writes, by
# [[TensorImpl::bump_version]]. `detach` shares it, `clone` has its own.

# %%
y = x * 1
y[0] = 5.0
y.mul_(2)
assert y._version == 2, "two writes"
assert y.detach()._version == y._version, "detach shares the counter"
assert y.clone()._version == 0, "a clone begins anew"

# %% [markdown]
# ## What fails
# The node of `exp` saved its result, see [[exp: grad]]. The result is then changed: unpacking
# it, in [[SavedVariable::unpack]], compares the versions.

# %%
result = x.exp()
result[:2].zero_()
try:
    result.sum().backward()
except RuntimeError as error:
    message = str(error)
print(message)
assert "modified by an inplace operation" in message, "the write is noticed"
assert "is at version 1; expected version 0" in message, "by its version"

# %% [markdown]
# ## Who wrote?
# The message names neither the write nor its line. `torchnav why train.py` does, without anomaly
# mode; here the same from inside: the write went through a view of the saved tensor.

# %%
with Writes() as noted:
    result = x.exp()
    result[:2].zero_()
(write,) = noted.writes
print(write.call, "through", write.through)
assert write.call == "Tensor.zero_", "one call wrote"
assert (write.before, write.after) == (0, 1), "and raised the version"

# %% [markdown]
# ## What is allowed
# `add` saves nothing, [[add: grad]], so its result may be changed. Autograd then rewrites the
# history: the view's write becomes a node [[CopySlices]] of the base.

# %%
total = x + 1
total[0] = 0.0
assert type(total.grad_fn).__name__ == "CopySlices", "the base got the node of the write"
total.sum().backward()
assert x.grad.tolist() == [0, 1, 1], "what was overwritten has no gradient"

# %% [markdown]
# ## Leaves
# A leaf that needs a gradient can't be changed in place while gradients are recorded:
# [[check_inplace]] says so. An optimizer writes below `no_grad`.

# %%
try:
    x.add_(1)
except RuntimeError as error:
    message = str(error)
assert "leaf Variable that requires grad" in message, "refused"
with torch.no_grad():
    assert x.add_(1).tolist() == [2, 2, 2], "allowed without recording"
