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
from indexes.source.source import cache_folder
from navigator.cli.main import main as torchnav

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
# stays in the cache folder, named after the source: the next run finds it. The two definitions
# say for which instruction set the loops are meant; PyTorch's build does so file by file.

# %%
digest = hashlib.sha256((SOURCE + torch.__version__).encode()).hexdigest()[:12]
folder = cache_folder() / "labs" / digest / "lab"
folder.mkdir(parents=True, exist_ok=True)
file = folder / "lab.cpp"
if not file.exists():
    file.write_text(SOURCE)
flags = ["-O1", "-DCPU_CAPABILITY=DEFAULT", "-DCPU_CAPABILITY_DEFAULT", "-Wno-psabi"]
load(f"lab_{digest}", [str(file)], flags, build_directory=str(folder), is_python_module=False)
squared_plus = torch.ops.lab_cpp.squared_plus
x = torch.randn(5, 1000)
assert torch.allclose(squared_plus(x, 1.0), x * x + 1), "the loop is right"
assert torch.allclose(squared_plus(x.t()[::3], 1.0), x.t()[::3] ** 2 + 1), "for strides, too"
assert squared_plus(x.t(), 1.0).stride() == x.t().stride(), "TensorIterator kept the strides"

# %% [markdown]
# ## Traced into your own C++
# `torchnav --with DIR` indexes the folder beside PyTorch: the call that a trace shows leads to
# the line of `lab.cpp` that computes. `torchnav --with DIR trace train.py` does both at once.

# %%
with navigator.trace() as recorded:
    squared_plus(x, 1.0)
names = [op.full_name for op in recorded.trace.ops() if op.kind == "op"]
print(names)
assert "lab_cpp::squared_plus" in names, "the trace has the operator"
assert torchnav(["--with", str(folder), "op", "lab_cpp::squared_plus"]) == 0, "torchnav has its line"

# %% [markdown]
# ## What it lacks
# Nothing was said of gradients. [[torch.library.register_autograd]] would add a formula.

# %%
assert not squared_plus(x.requires_grad_(), 1.0).requires_grad, "the result is cut off"
