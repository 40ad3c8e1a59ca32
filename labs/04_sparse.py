# %% [markdown]
# # Sparse tensors
# Two layouts that keep only what is not zero: a list of coordinates, COO, and compressed rows,
# CSR. Operators reach them by a dispatch key of their own, not by an `if` in each kernel.

# %%
import warnings

import torch

warnings.filterwarnings("ignore", message="Sparse")
dense = torch.tensor([[0.0, 2.0, 0.0], [3.0, 0.0, 4.0]])
coo, csr = dense.to_sparse(), dense.to_sparse_csr()

# %% [markdown]
# ## Coordinates
# [[at::SparseTensorImpl]] holds a matrix of indices, one column for each value, and the values.

# %%
print(coo)
assert coo.indices().tolist() == [[0, 1, 1], [1, 0, 2]], "rows, then columns, of each value"
assert coo.values().tolist() == [2, 3, 4], "the values in that order"
assert torch._C._dispatch_keys(coo).has(torch._C.DispatchKey.SparseCPU), "its key is SparseCPU"

# %% [markdown]
# ## The same place twice
# Coordinates may repeat; their values then count together. A tensor whose coordinates are sorted
# and unique is *coalesced*: [[_coalesce_sparse_cpu]] sorts and adds.

# %%
twice = torch.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 1.0], (2, 3))
assert twice._nnz() == 2, "two values at one place"
assert twice.coalesce().values().tolist() == [2], "which are one after coalesce"
assert twice.to_dense()[0, 1] == 2, "and mean the same before it"

# %% [markdown]
# ## Compressed rows
# [[at::SparseCsrTensorImpl]] has, for each row, where its values begin: one number a row and one
# more, in place of one a value. Asking it for strides fails, since there are none.

# %%
assert csr.crow_indices().tolist() == [0, 1, 3], "row 0 has 1 value, row 1 has 2"
assert csr.col_indices().tolist() == [1, 0, 2], "the columns are those of COO"
try:
    message = str(csr.stride())
except RuntimeError as error:
    message = str(error)
assert "do not have strides" in message, "no strides"

# %% [markdown]
# ## Kernels of their own
# `mm` has a kernel for each layout, in [[native_functions.yaml]]: the dispatcher takes the one of
# the key. What has none for `SparseCPU` fails, it does not make the tensor dense in silence.
# `torchnav table mm` shows every key.

# %%
right = torch.ones(3, 2)
assert torch.equal(coo @ right, dense @ right), "sparse times dense"
assert torch.equal(csr @ right, dense @ right), "also from CSR"
table = torch._C._dispatch_dump_table("aten::mm")
rows = dict(line.split(": ", 1) for line in table.splitlines())
print(rows["SparseCPU"], rows["SparseCsrCPU"], sep="\n")
assert "SparseCPU" in rows["SparseCPU"], "mm has a kernel for COO"
assert "SparseCsrCPU" in rows["SparseCsrCPU"], "and another one for CSR"
try:
    coo.cumsum(0)
    message = ""
except NotImplementedError as error:
    message = str(error)
assert "from the 'SparseCPU' backend" in message, "cumsum has none for COO, and says so"

# %% [markdown]
# ## Gradients
# A gradient may be sparse itself: the rows of an embedding that were looked up.

# %%
table = torch.nn.Embedding(1000, 4, sparse=True)
table(torch.tensor([3, 7])).sum().backward()
assert table.weight.grad.is_sparse, "the gradient of the table is sparse"
assert table.weight.grad.coalesce().indices().tolist() == [[3, 7]], "two rows of a thousand"
