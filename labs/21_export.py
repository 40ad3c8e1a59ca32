# %% [markdown]
# # Export and core ATen
# [[torch.export.export]] takes a program out of Python, as one graph of operators with what it
# assumes about its inputs. Decompositions then leave a small set that back ends must know.
#
# needs: torch 2.5

# %%
import torch
from torch.export import Dim, export

from indexes.queries.index import Index
from indexes.source.source import Source


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(64, 600)

    def forward(self, x):
        return torch.nn.functional.silu(self.linear(x)).softmax(-1)


model, x = Model(), torch.randn(4, 64)
program = export(model, (x,), dynamic_shapes={"x": {0: Dim("batch")}})
print(program.graph)

# %% [markdown]
# ## What is in it
# No Python and no module is left. Parameters became inputs of the graph; the signature says which
# one each is. The batch is a symbol, and any size of it will do.


# %%
def targets(program):
    return [node.target for node in program.graph.nodes if node.op == "call_function"]


exported = [str(target) for target in targets(program)]
assert exported == ["aten.linear.default", "aten.silu.default", "aten.softmax.int"], "as written"
names = list(program.graph_signature.inputs_to_parameters.values())
assert names == ["linear.weight", "linear.bias"], "parameters are inputs, by name"
assert program.module()(torch.randn(7, 64)).shape == (7, 600), "another batch size runs"

# %% [markdown]
# ## Core ATen
# [[torch.export.ExportedProgram.run_decompositions]] applies the table of
# [[torch._decomp.core_aten_decompositions]] until what is left is tagged `core` in
# native_functions.yaml, as [[tags.yaml]] says what that means.

# %%
core = program.run_decompositions()
left = targets(core)
print([str(target) for target in left])
tagged = [torch.Tag.core in target.tags for target in left]
assert all(tagged), "every operator that is left is core"
assert torch.Tag.core not in torch.ops.aten.linear.default.tags, "linear is not"
assert "aten.addmm.default" in map(str, left), "it became addmm"
assert "aten._softmax.default" in map(str, left), "and softmax its differentiable half, _softmax"
assert torch.allclose(core.module()(x), model(x), atol=1e-6), "the numbers are the same"

# %% [markdown]
# ## From an operator to its decomposition
# torchnav has, for each operator, whether it is core, what decomposes it, and on which line: the
# row `Inductor` and `core ATen` of `torchnav op silu`, here asked of the index.

# %%
index = Index.open(Source.find())
for name in ("silu", "_softmax", "addmm"):
    (line,) = (one for one in index.card(name).lines if one.label == "Inductor")
    print(f"{name}: {line.text}  {line.location}")
assert "core" in index.native("addmm").tags, "the tag is in the tree's own entry of addmm"
