# %% [markdown]
# # An operator in C++
# `x * x + c` with the loop that PyTorch's own kernels have: [[at::TensorIterator]] for shapes and
# strides, [[cpu_kernel_vec]] for the loop, vectors of [[vec_base.h]] inside it.
#
# needs: compiler

# %%
import hashlib

import torch
from torch.utils.cpp_extension import load

import navigator
from indexes.queries.index import Index
from indexes.source.source import Source, cache_folder

SOURCE = r"""
#include <ATen/TensorIterator.h>
#include <ATen/native/cpu/Loops.h>
#include <torch/library.h>

at::Tensor squared_plus(const at::Tensor& x, double c) {
  at::Tensor out;
  auto iter = at::TensorIterator::unary_op(out, x);
  using Vec = at::vec::Vectorized<float>;
  float add = static_cast<float>(c);
  at::native::cpu_kernel_vec(
      iter,
      [=](float a) -> float { return a * a + add; },
      [=](Vec a) -> Vec { return a * a + Vec(add); });
  return iter.output();
}
TORCH_LIBRARY(lab_cpp, m) { m.def("squared_plus(Tensor x, float c) -> Tensor"); }
TORCH_LIBRARY_IMPL(lab_cpp, CPU, m) { m.impl("squared_plus", squared_plus); }
"""

# %% [markdown]
# ## Built
# Three headers instead of `torch/extension.h` make this seconds instead of a minute. What is built
# stays in the cache folder for the next run. The definitions name an instruction set.

# %%
digest = hashlib.sha256((SOURCE + torch.__version__).encode()).hexdigest()[:12]
folder = cache_folder() / "labs" / digest / "lab"
folder.mkdir(parents=True, exist_ok=True)
if not (file := folder / "lab.cpp").exists():
    file.write_text(SOURCE)
flags = ["-O1", "-DCPU_CAPABILITY=DEFAULT", "-DCPU_CAPABILITY_DEFAULT", "-Wno-psabi"]
load(file.stem + digest, [str(file)], flags, build_directory=folder, is_python_module=False)
squared_plus = torch.ops.lab_cpp.squared_plus
x = torch.randn(5, 1000)
assert torch.allclose(squared_plus(x[:, ::3], 1.0), x[:, ::3] ** 2 + 1), (
    "the loop is right, for strides too"
)
assert squared_plus(x.t(), 1.0).stride() == x.t().stride(), "TensorIterator kept the strides"

# %% [markdown]
# ## Traced into your own C++
# `torchnav --with DIR` indexes the folder beside PyTorch: the call that a trace shows leads to
# the line of `lab.cpp` that computes. `torchnav --with DIR trace train.py` does both at once.

# %%
with navigator.trace() as recorded:
    squared_plus(x, 1.0)
names = {op.full_name for op in recorded.trace.ops()}
assert "lab_cpp::squared_plus" in names, "the trace has the operator"
index = Index.open(Source.find(beside=[(str(folder), "lab")]))
(route,) = index.routes("lab_cpp::squared_plus")
print(route.symbol, route.location, route.kind)
assert str(route.location) == "@lab/lab.cpp:6", "and torchnav the line of its kernel"

# %% [markdown]
# ## What it lacks
# Nothing was said of gradients: autograd's fallback for operators puts a node into the graph that
# warns in backward, and gives none. [[torch.library.register_autograd]] would add a formula.

# %%
name = squared_plus(x.requires_grad_(), 1.0).grad_fn.name()
assert name.endswith("WarnNotImplemented"), "a node that only warns"
