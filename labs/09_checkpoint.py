# %% [markdown]
# # Checkpointing: compute again instead of keeping
# A forward keeps what its formulas need until backward. [[torch.utils.checkpoint.checkpoint]]
# keeps the inputs alone, and computes the rest again when the first of them is asked for.

# %%
import torch
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
calls = []
layers = torch.nn.Sequential()
for _ in range(4):
    layers.extend([torch.nn.Linear(64, 64), torch.nn.Tanh()])
layers.register_forward_hook(lambda *_: calls.append("forward"))
x = torch.randn(32, 64, requires_grad=True)

# %% [markdown]
# ## What is kept
# [[torch.autograd.graph.saved_tensors_hooks]] sees each tensor that a node saves. Their bytes,
# but for parameters and the input, are what a forward costs until its backward.

# %%
known = {tensor.untyped_storage()._cdata for tensor in (x, *layers.parameters())}


def kept(run):
    """Bytes of the storages that nodes save while ``run`` runs."""
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        storages[storage._cdata] = (storage.nbytes(), tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        out = run()
    return out, sum(size for key, (size, _) in storages.items() if key not in known)


plain, plain_bytes = kept(lambda: layers(x))
saved, saved_bytes = kept(lambda: checkpoint(layers, x, use_reentrant=False))
print(f"plain {plain_bytes:,} bytes, with a checkpoint {saved_bytes:,} bytes")
assert plain_bytes == 4 * 32 * 64 * 4, "four results of Tanh"
assert saved_bytes == 0, "none with a checkpoint, whose own hooks keep nothing"

# %% [markdown]
# ## When it is computed again
# Inside, its own hooks put a placeholder where a tensor would be saved. The first node of the
# backward that unpacks one runs the function again, up to the last tensor that is needed: see
# [[torch.utils.checkpoint._checkpoint_without_reentrant_generator]].

# %%
assert calls == ["forward"] * 2, "one forward each so far"
expected = torch.autograd.grad(plain.sum(), x)[0]
assert len(calls) == 2, "the plain backward runs no forward"
gradient = torch.autograd.grad(saved.sum(), x)[0]
assert torch.equal(gradient, expected), "the gradients are the same, bit by bit"

# %% [markdown]
# ## It stops early
# As soon as all that was saved is there again, the second forward ends with an exception that
# checkpoint catches: the hook behind the last layer is not reached.

# %%
assert len(calls) == 2, "the second forward did not come to its end"
with torch.utils.checkpoint.set_checkpoint_early_stop(False):
    checkpoint(layers, x, use_reentrant=False).sum().backward()
assert len(calls) == 4, "without early stop it did: one more forward, twice"

# %% [markdown]
# ## The same again
# The second forward must do what the first did. Random numbers are set back, so that dropout
# drops the same elements.

# %%
drop = torch.nn.Dropout(0.5)
y = checkpoint(drop, x, use_reentrant=False)
(slope,) = torch.autograd.grad(y.sum(), x)
assert torch.equal(slope == 0, y == 0), "the mask of backward is that of forward"
