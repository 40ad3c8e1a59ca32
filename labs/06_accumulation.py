# %% [markdown]
# # Where gradients end
# `.grad` is written by one kind of node, [[torch::autograd::AccumulateGrad]], one for each leaf.
# It adds: to zero a gradient is the program's own work.

# %%
import torch

w = torch.ones(3, requires_grad=True)

# %% [markdown]
# ## It adds
# The first gradient is taken over where nobody else holds it, later ones are added to it:
# [[AccumulateGrad::accumulateGrad]] has each case. `zero_grad` sets `.grad` to None, so that the
# next pass takes over again instead of adding to zeros.

# %%
for _ in range(3):
    (w * 2).sum().backward()
assert w.grad.tolist() == [6, 6, 6], "three passes of 2 are 6"
torch.optim.SGD([w], lr=0.1).zero_grad()
assert w.grad is None, "zero_grad takes it away"

# %% [markdown]
# ## One node for a leaf
# All uses of a leaf lead to the same node; the engine adds up their gradients before it runs,
# in an [[torch::autograd::InputBuffer]].

# %%
first, second = w * 2, w * 5
node = first.grad_fn.next_functions[0][0]
assert second.grad_fn.next_functions[0][0] is node, "two uses, one node"
assert node.variable is w, "which knows its leaf"
runs = []
node.register_prehook(lambda gradients: runs.append(gradients[0].tolist()))
(first + second).sum().backward()
assert runs == [[7, 7, 7]], "it runs once, with the sum of both"

# %% [markdown]
# ## Micro-batches
# Because it adds, the gradient of a large batch is the sum over small ones: memory for one small
# batch at a time, the same step at the end.

# %%
torch.manual_seed(0)
model, data = torch.nn.Linear(8, 1), torch.randn(32, 8)
model(data).pow(2).sum().backward()
whole = model.weight.grad.clone()
model.zero_grad()
for part in data.split(8):
    model(part).pow(2).sum().backward()
assert torch.allclose(model.weight.grad, whole, rtol=1e-4), "four parts give the whole's gradient"

# %% [markdown]
# ## Not only leaves
# A tensor in the middle keeps no gradient unless asked; a hook sees it pass. `torch.autograd.grad`
# gives gradients back and leaves `.grad` alone.

# %%
x = torch.tensor([2.0], requires_grad=True)
middle = x * 3
middle.retain_grad()
middle.register_hook(lambda gradient: runs.append(gradient.item()))
middle.square().backward()
assert middle.grad.item() == 12, "retain_grad keeps 2 * 6"
assert runs[-1] == 12, "the hook saw the same"
(direct,) = torch.autograd.grad(x.pow(3), x)
assert direct.item() == 12, "grad of x**3 at 2"
assert x.grad.item() == 36, "and .grad is still that of the pass before"

# %% [markdown]
# ## After the gradient is there
# `register_post_accumulate_grad_hook` runs when a leaf is done: an optimizer can step there and
# free the gradient while the pass goes on.

# %%
p = torch.ones(2, requires_grad=True)
p.register_post_accumulate_grad_hook(lambda leaf: setattr(leaf, "grad", None))
(p * 2).sum().backward()
assert p.grad is None, "used and freed inside the pass"
