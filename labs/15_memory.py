# %% [markdown]
# # Where memory goes
# Parameters, gradients, the state of the optimizer, and what the forward keeps for the backward:
# the first three follow from the model, the last from the batch.

# %%
import torch

import navigator

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256))
optimizer = torch.optim.Adam(model.parameters())


def size(tensors):
    """Bytes of the storages of some tensors, each once."""
    return sum({t.untyped_storage()._cdata: t.untyped_storage().nbytes() for t in tensors}.values())


# %% [markdown]
# ## What follows from the model
# A gradient is as large as its parameter; Adam keeps two more of that size, the running means of
# the gradient and of its square, and a step count: see [[torch.optim.Adam.step]].

# %%
model(torch.randn(8, 256)).sum().backward()
optimizer.step()
parameters = size(model.parameters())
gradients = size(p.grad for p in model.parameters())
states = [v for state in optimizer.state.values() for v in state.values()]
print(f"{parameters:,} bytes of parameters, {gradients:,} of gradients, {size(states):,} of state")
assert parameters == 2 * (256 * 256 + 256) * 4, "two weights and two biases, 4 bytes a number"
assert gradients == parameters, "as much for gradients"
assert size(states) == 2 * parameters + 4 * 4, "twice as much for Adam, and four step counts"

# %% [markdown]
# ## What follows from the batch
# Each node keeps what its formula needs, [[torch::autograd::SavedVariable]]. `addmm` saves its
# input, `relu` its result: here the second layer's input is that very result, and is kept once.


# %%
def kept(batch):
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        model(batch).sum()
    own = {p.untyped_storage()._cdata for p in model.parameters()}
    return size(t for t in saved if t.untyped_storage()._cdata not in own)


assert kept(torch.randn(64, 256)) == 2 * 64 * 256 * 4, "the batch, and the result of relu"
assert kept(torch.randn(128, 256)) == 2 * kept(torch.randn(64, 256)), "it grows with the batch"

# %% [markdown]
# ## Who allocated
# The allocator for the CPU is [[DefaultCPUAllocator]]; it reports each block to the profiler.
# `torchnav trace --memory` joins blocks with operators and lines, and tells the peak.

# %%
with navigator.trace(memory=True) as recorded:
    block = torch.empty(1000, 1000)
    del block
allocated = [row.name for row in recorded.trace.ops()]
print(allocated)
assert "empty" in " ".join(allocated), "the operator that allocated is in the trace"

# %% [markdown]
# ## On a GPU
# The caching allocator keeps what was freed: reserved is more than allocated. Blocks are rounded
# up to 512 bytes. See [[torch.cuda.memory.max_memory_allocated]].

# %% needs: CUDA
torch.cuda.empty_cache()
before = torch.cuda.memory_allocated()
one = torch.ones(1, device="cuda")
assert torch.cuda.memory_allocated() - before == 512, "one number takes 512 bytes"
assert torch.cuda.memory_reserved() >= torch.cuda.memory_allocated(), "reserved is no less"
