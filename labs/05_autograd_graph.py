# %% [markdown]
# # The graph of a backward pass
# Each differentiable call leaves a node behind: what to do with a gradient, what was saved for
# it, and edges to the nodes of its inputs. `backward` walks these nodes, the latest first.

# %%
import torch

import navigator

x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0], requires_grad=True)
constant = torch.ones(2)
product = x * w
loss = (product + constant).exp().sum()
print(navigator.graph(loss))

# %% [markdown]
# ## Nodes and edges
# A [[torch::autograd::Node]] has one edge for each input of its forward; the edge says which node
# takes the gradient, and as which of its inputs. An input that needs no gradient has none.

# %%
add = loss.grad_fn.next_functions[0][0].next_functions[0][0]
assert add.name() == "AddBackward0", "behind the sum and the exp stands the add"
assert add.next_functions[0] == (product.grad_fn, 0), "its first edge leads to the product's node"
assert add.next_functions[1] == (None, 0), "the constant needs no gradient: no edge"

# %% [markdown]
# ## What is saved
# The formulas decide: that of `mul` needs the other factor, [[MulBackward0]]; that of `exp` its
# own result, [[ExpBackward0]]; that of `add` nothing. A [[torch::autograd::SavedVariable]] holds
# each, with the version it had.

# %%
assert product.grad_fn._saved_self is x, "mul saved x, the very object"
assert product.grad_fn._saved_other is w, "and w"
assert not [name for name in dir(add) if name == "_saved_self"], "add saved no tensor"

# %% [markdown]
# ## Order
# Nodes count up as they are made. The engine takes, of the nodes whose inputs are complete, the
# one that was made last: [[ReadyQueue]] is sorted by that number, and
# [[Engine::compute_dependencies]] counts what each node waits for.

# %%
ran = []
nodes = [loss.grad_fn]
for node in nodes:
    nodes += [edge for edge, _ in node.next_functions if edge and edge not in nodes]
    node.register_prehook(lambda _, node=node: ran.append(node))
numbers = {node.name(): node._sequence_nr() for node in nodes if hasattr(node, "_saved_self")}
loss.backward()
names = [node.name().rpartition("::")[2] for node in ran]
print(names)
inner = [node._sequence_nr() for node in ran if "Accumulate" not in node.name()]
assert inner == sorted(inner, reverse=True), "what was made last runs first"
assert names[-2:] == ["AccumulateGrad"] * 2, "here the leaves come last"
assert len(ran) == len(nodes) == 6, "every node ran once"

# %% [markdown]
# ## Once
# What was saved is freed as the pass goes, unless `retain_graph` asks to keep it.

# %%
try:
    loss.backward()
    error = ""
except RuntimeError as raised:
    error = str(raised)
assert "second time" in error, "a second pass finds nothing saved"
assert x.grad.equal(w * (x * w + 1).exp()), "by hand: w * exp(x * w + 1)"
