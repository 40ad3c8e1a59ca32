# %% [markdown]
# # What torch.compile makes
# Dynamo turns bytecode into a graph, AOTAutograd adds the backward and takes it apart into ATen,
# Inductor writes kernels. Each step leaves something to read.
#
# needs: compiler, torch 2.4

# %%
import os
import tempfile

folder = tempfile.TemporaryDirectory()
os.environ["TORCH_TRACE"] = folder.name  # read when torch is imported

import torch
from torch._dynamo.utils import counters
from torch._inductor.utils import run_and_get_code

from navigator.cli.main import main as torchnav


def function(x):
    return (x.sin() + x.cos()).relu()


# %% [markdown]
# ## Dynamo
# [[torch._dynamo.convert_frame]] is called for a frame that was not compiled yet;
# [[InstructionTranslator]] runs its bytecode with symbols, and records what reaches torch.

# %%
graphs = []


def show(module, inputs):
    graphs.append(module)
    return module.forward


x = torch.randn(1000)
torch.compile(function, backend=show)(x)
print(graphs[0].graph)
called = [n.op for n in graphs[0].graph.nodes if n.op in ("call_method", "call_function")]
assert len(called) == 4, "of four calls: sin, cos, add, relu"

# %% [markdown]
# ## A graph break
# What can't be recorded splits the function: graphs with Python in between.


# %%
def broken(x):
    torch._dynamo.graph_break()
    return function(x)


torch.compile(broken, backend=show)(x)
assert counters["graph_break"], "Dynamo counts the break, with its reason"

# %% [markdown]
# ## Inductor
# [[torch._inductor.graph.GraphLowering]] lowers each operator to loops,
# [[torch._inductor.scheduler.Scheduler]] fuses them, [[torch._inductor.codegen.cpp.CppKernel]]
# writes C++. Four operators are one loop here: nothing in between goes to memory.

# %%
result, (code, *_) = run_and_get_code(torch.compile(function), x)
kernel = code[code.index("cpp_fused") :].split("''')")[0]
print(kernel)
assert torch.allclose(result, function(x), atol=1e-6), "the same numbers"
assert code.count("async_compile.cpp_pybinding") == 1, "one kernel"
assert kernel.count(".sin()") == kernel.count(".cos()") > 0, "sin and cos are in it"

# %% [markdown]
# ## TORCH_TRACE
# The folder that it names has a log of all this, which torchnav reads: kernels with the operators
# that they compute, each linked to its lowering. `torchnav export trace FOLDER`.

# %%
assert torchnav(["export", "trace", folder.name, "--view", "compiled"]) == 0, "the log can be read"
