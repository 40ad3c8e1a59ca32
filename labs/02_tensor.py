# %% [markdown]
# # What a tensor holds
# Behind a `torch.Tensor` is one C++ object, a [[c10::TensorImpl]]: sizes, strides, an offset, a
# pointer to storage, a type, a device, and the set of keys by which its calls are dispatched.
# `navigator.inspect` tells each member, with the line that declares it; here its first lines.

# %%
import json

import torch

import navigator

x = torch.arange(24.0).reshape(2, 3, 4)[:, 1:, ::2]
print(*str(navigator.inspect(x)).splitlines()[:10], sep="\n")

# %% [markdown]
# ## One formula
# Element `[i, j, k]` is number `offset + i*s0 + j*s1 + k*s2` of the storage. Sizes, strides and
# the offset are plain numbers in the object; slicing made a new object with other numbers.

# %%
held = bytearray(x.untyped_storage().tolist())
flat = torch.frombuffer(held, dtype=torch.float32)
s0, s1, s2 = x.stride()
reached = [
    flat[x.storage_offset() + i * s0 + j * s1 + k * s2].item()
    for i in range(x.shape[0])
    for j in range(x.shape[1])
    for k in range(x.shape[2])
]
assert x.stride() == (12, 4, 2), "a step of 2 doubles the last stride"
assert x.storage_offset() == 4, "rows from 1 on begin 4 elements in"
assert reached == x.flatten().tolist(), "the formula finds every element"
assert x.untyped_storage().nbytes() == 24 * 4, "the storage is still that of all 24 numbers"

# %% [markdown]
# ## Storage
# The numbers are in a [[c10::StorageImpl]], which any number of tensors share. The address of
# that object tells whether two tensors do.

# %%
y = x.transpose(0, 1)
assert y.untyped_storage()._cdata == x.untyped_storage()._cdata, "a transpose shares the storage"
assert y.data_ptr() == x.data_ptr(), "and begins at the same element"
assert x.clone().untyped_storage()._cdata != x.untyped_storage()._cdata, "a clone has its own"

# %% [markdown]
# ## Keys
# A [[c10::DispatchKeySet]] has a bit for each thing that wants to see calls on this tensor. The
# keys for autograd are there whether or not it requires a gradient: the kernel for autograd looks
# at `requires_grad` when it runs. Only inference mode leaves them out.

# %%
keys = {bit["name"] for bit in json.loads(navigator.inspect(x).as_json())["keys"]["bits"]}
print(sorted(keys))
with torch.inference_mode():
    inferred = torch.ones(2)
assert torch._C._dispatch_keys(x).has(torch._C.DispatchKey.CPU), "its back end is the CPU"
assert torch._C._dispatch_keys(x).has(torch._C.DispatchKey.AutogradCPU), "autograd sees it"
assert not x.requires_grad, "though it needs no gradient"
absent = torch._C._dispatch_keys(inferred)
assert not absent.has(torch._C.DispatchKey.AutogradCPU), "in inference mode autograd does not"

# %% [markdown]
# ## More than dense tensors
# A sparse tensor is another class, [[at::SparseTensorImpl]], with no storage of its own; a meta
# tensor has sizes and strides, and a storage without memory.

# %%
sparse, meta = torch.eye(3).to_sparse(), torch.empty(1000, 1000, device="meta")
assert "SparseTensorImpl" in str(navigator.inspect(sparse)), "torchnav names the class"
assert meta.data_ptr() == 0, "a meta tensor points nowhere"
assert meta.untyped_storage().nbytes() == 4_000_000, "and knows how many bytes it would take"
