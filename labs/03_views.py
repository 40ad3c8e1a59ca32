# %% [markdown]
# # Strides and views
# Transposing, slicing and expanding copy nothing: each makes a tensor with other sizes and
# strides over the same storage. Which operators do so is written in their schemas.

# %%
import torch

x = torch.arange(24)
matrix = x.reshape(4, 6)

# %% [markdown]
# ## What the schema says
# An operator whose result shares memory says so by an annotation, [[alias_info]]: in the schema of
# [[Tensor.view]] the result is a `Tensor(a)`, of the same memory as the argument `Tensor(a)`.

# %%
schema = torch.ops.aten.view.default._schema
print(schema)
assert not schema.arguments[0].alias_info.is_write, "view does not write to what it shares"
assert "Tensor(a)" in str(schema), "its result shares memory with its argument"
assert torch.ops.aten.mul_.Tensor._schema.arguments[0].alias_info.is_write, "mul_ writes: (a!)"

# %% [markdown]
# ## A base is not always what you made
# What a schema says is a possibility: the kernel of `reshape`, [[at::native::reshape]], makes a
# view where strides allow it and copies otherwise. `arange(24).reshape(4, 6)` is a view.

# %%
assert "Tensor(a)" in str(torch.ops.aten.reshape.default._schema), "reshape may share memory"
assert matrix._is_view(), "here it does"
assert matrix._base is x, "its base is the tensor of 24"
copied = matrix.t().reshape(24)
assert not copied._is_view(), "no strides walk a transpose in order: here it copies"
assert copied.tolist()[:3] == [0, 6, 12], "the copy is in the order of the transpose"

# %% [markdown]
# ## Everything is as_strided
# Sizes, strides and an offset are all that a view is; [[as_strided]] takes them as they are. A
# stride of 0 repeats an element, which is how broadcasting costs no memory.

# %%
again = torch.as_strided(x, (6, 4), (1, 6))
assert torch.equal(again, matrix.t()), "a transpose swaps sizes and strides"
wide = torch.ones(3, 1).expand(3, 1000)
assert wide.stride() == (1, 0), "expand gives a stride of 0"
assert wide.untyped_storage().nbytes() == 3 * 4, "3,000 elements in 12 bytes"

# %% [markdown]
# ## Contiguous
# A tensor is contiguous when walking its elements in order walks memory in order. Images in
# `channels_last` are so in another order of dimensions: the same shape, other strides.

# %%
image = torch.ones(2, 3, 4, 5)
last = image.contiguous(memory_format=torch.channels_last)
assert image.stride() == (60, 20, 5, 1), "the last dimension is next in memory"
assert last.stride() == (60, 1, 15, 3), "in channels_last the channels are"
assert last.shape == image.shape, "the shape says nothing of it"
assert not last.is_contiguous(), "it is not contiguous in the usual order"
assert last.is_contiguous(memory_format=torch.channels_last), "it is in its own"

# %% [markdown]
# ## Views and versions
# A tensor and its views count writes together, in a [[c10::VariableVersion]]: that is how
# autograd notices that something it saved was changed through another tensor.

# %%
before = matrix._version
x[0] = 100
assert matrix[0, 0] == 100, "a write to the base is seen through the view"
assert matrix._version == before + 1, "and counted by it"
