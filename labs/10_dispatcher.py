# %% [markdown]
# # The dispatcher
# A call of an operator takes the union of the keys of its tensors, changes it by what the thread
# includes and excludes, and runs the kernel of the highest key that has one. That kernel
# usually does its part and calls again, for the keys below.

# %%
import torch

# %% [markdown]
# ## The keys of a call
# [[c10::DispatchKeySet]] is a set of bits, higher ones first; [[c10::DispatchKey]] lists them.

# %%
x = torch.ones(2, requires_grad=True)
Key, keys = torch._C.DispatchKey, torch._C._dispatch_keys(x)
print(keys)
assert keys.has(Key.CPU), "the back end"
assert keys.has(Key.ADInplaceOrView), "what counts views and versions"
assert keys.highestPriorityTypeId() == Key.AutocastCPU, "the highest is autocast's, in any tensor"
assert torch._C._dispatch_tls_is_dispatch_key_excluded(Key.AutocastCPU), "the thread excludes it"
assert keys.remove(Key.AutocastCPU).highestPriorityTypeId() == Key.AutogradCPU, "next is autograd"

# %% [markdown]
# ## The table
# Each operator has a kernel for each runtime key, worked out from what was registered by
# [[OperatorEntry::computeDispatchTableEntryWithDebug]]: a kernel for the key itself, else one for
# an alias as CompositeImplicitAutograd, else a fallback. `torchnav table mul.Tensor --live` shows
# what the source says beside what the running torch has.


# %%
def rows_of(operator):
    lines = torch._C._dispatch_dump_table(operator).splitlines()
    return dict(line.split(": ", 1) for line in lines)


rows = rows_of("aten::mul.Tensor")
for key in ("CPU", "AutogradCPU", "AutocastCPU"):
    print(f"{key}: {rows[key]}")
assert "[kernel]" in rows["CPU"], "mul has a kernel for the CPU"
assert "[autograd kernel]" in rows["AutogradCPU"], "and one that torchgen made for autograd"
assert "fallthrough" in rows["AutocastCPU"], "autocast passes it by"

# %% [markdown]
# ## Composites
# `linear` has one kernel for all keys, which calls other operators: autograd has nothing to do for
# it. For `AutogradCPU` the table has the same kernel again, and that is where a call ends.

# %%
rows = rows_of("aten::linear")
assert "[math kernel]" in rows["AutogradCPU"], "the composite kernel, also for autograd"
assert rows["AutogradCPU"] == rows["CPU"], "it is that of the CPU"

# %% [markdown]
# ## What the thread adds
# [[tls_local_dispatch_key_set]] holds keys that every call of the thread includes or excludes.
# Autocast is excluded until it is switched on; `no_grad` is no key at all.

# %%
with torch.autocast("cpu"):
    assert not torch._C._dispatch_tls_is_dispatch_key_excluded(Key.AutocastCPU), "on: not excluded"
    assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16, "and mm casts"
excluded = str(torch._C._dispatch_tls_local_exclude_set())
with torch.no_grad():
    assert str(torch._C._dispatch_tls_local_exclude_set()) == excluded, "no_grad changes no key"
    assert not (x * 2).requires_grad, "the kernel for autograd runs, and records nothing"

# %% [markdown]
# ## Kernels of your own
# A [[torch.library.Library]] puts a kernel into the table: here for PrivateUse1, the key kept for
# back ends outside of PyTorch. The table changes at once, and back when the library goes.

# %%
before = torch._C._dispatch_has_kernel_for_dispatch_key("aten::neg", "PrivateUse1")
library = torch.library.Library("aten", "IMPL")
library.impl("neg", lambda tensor: tensor.clone(), "PrivateUse1")
after = torch._C._dispatch_has_kernel_for_dispatch_key("aten::neg", "PrivateUse1")
library._destroy()
assert (before, after) == (False, True), "there was none, then there was one"
