# %% [markdown]
# # One call, from Python to the kernel and back
# `F.linear` of 64 features to 600, end to end: the operators it becomes, the node that
# torchgen wrote for its gradient, and that gradient by hand.

# %%
import torch
import torch.nn.functional as F

import navigator

torch.manual_seed(0)
x = torch.randn(2, 64, requires_grad=True)
W = torch.randn(600, 64, requires_grad=True)
b = torch.randn(600, requires_grad=True)

# %% [markdown]
# ## Down
# [[F.linear]] is a binding in C++, with a docstring and no Python body. Its code is written by
# torchgen, from the template [[python_nn_functions.cpp]] and the entry [[aten::linear]]. That
# operator is composite: its kernel, [[at::native::linear]], calls other operators. For a bias
# and a matrix those are `t` and [[aten::addmm]].

# %%
with torch.profiler.profile() as profile:
    y = F.linear(x, W, b)
called = [event.name for event in profile.events() if event.name.startswith("aten::")]
print(called)
assert called[0] == "aten::linear", "the outermost operator is linear"
assert {"aten::t", "aten::addmm"} <= set(called), "linear is made of t and addmm"
assert torch.equal(y, torch.addmm(b, x, W.t())), "the result is that of addmm(b, x, W.t())"
assert y.shape == (2, 600), "64 features become 600"

# %% [markdown]
# ## What was generated
# `linear` has no entry in derivatives.yaml, and needs none: it is differentiable because what
# it calls is. For `addmm` torchgen made the class [[AddmmBackward0]] from its formulas, and a
# kernel for the Autograd keys that saves what they need and then calls the CPU's, which ends
# where the product is computed: [[addmm: CPU]]. `t` has a node of its own, [[TBackward0]].

# %%
node = y.grad_fn
print(node.name(), "->", [edge.name() for edge, _ in node.next_functions])
assert node.name() == "AddmmBackward0", "the node is named after the operator, not after linear"
inputs = [edge.name().rpartition("::")[2] for edge, _ in node.next_functions]
assert inputs == ["AccumulateGrad", "AccumulateGrad", "TBackward0"], "one edge for each input"
assert node._saved_mat1 is x, "mat1, which the formulas need, was saved: it is x itself"
assert node._saved_mat2.data_ptr() == W.data_ptr(), "mat2 is W.t(), a view of W"

# %% [markdown]
# ## Back, by hand
# With `G` the gradient of `y`, the chain rule for `y = x @ W.t() + b` gives three products.
# [[Engine::execute]] walks the graph and calls the nodes; [[AccumulateGrad]] writes `.grad`.

# %%
G = torch.randn(2, 600)
y.backward(G)
assert torch.allclose(x.grad, G @ W, atol=1e-4), "x.grad is G @ W"
assert torch.allclose(W.grad, G.t() @ x, atol=1e-4), "W.grad is G.t() @ x"
assert torch.allclose(b.grad, G.sum(0), atol=1e-4), "b.grad is G.sum(0), since b was broadcast"

# %% [markdown]
# ## The formulas that ran
# `navigator.graph` joins the graph with derivatives.yaml: the formula of each edge, with
# its line. The same from a shell: `torchnav graph train.py`.

# %%
print(navigator.graph(F.linear(x, W, b).sum()))
