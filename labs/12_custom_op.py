# %% [markdown]
# # An operator of your own, in Python
# [[torch.library.custom_op]] makes an operator of a function: with a schema, kernels by device,
# a gradient, and a rule for shapes, so that autograd, vmap and the compiler can take it.
#
# needs: torch 2.4

# %%
import torch


@torch.library.custom_op("torchnav_lab::squared_plus", mutates_args=())
def squared_plus(x: torch.Tensor, c: float) -> torch.Tensor:
    return x * x + c


x = torch.tensor([1.0, 2.0, 3.0])
print(torch.ops.torchnav_lab.squared_plus.default._schema)
schema = str(torch.ops.torchnav_lab.squared_plus.default._schema)
assert schema.endswith("(Tensor x, float c) -> Tensor"), "the schema is that of the annotations"
assert squared_plus(x, 1.0).tolist() == [2, 5, 10], "it computes"

# %% [markdown]
# ## What is registered
# [[torch._library.custom_ops.CustomOpDef]] registers one kernel for all back ends, and one for
# autograd that fails in backward until a formula is there.

# %%
lines = torch._C._dispatch_dump("torchnav_lab::squared_plus").splitlines()
keys = [line.partition(":")[0] for line in lines if ": registered at" in line]
print(keys)
assert "CompositeExplicitAutograd[alias]" in keys, "one kernel for every back end"
assert "Autograd[alias]" in keys, "and one for autograd"

# %% [markdown]
# ## Shapes without numbers
# The compiler asks what comes out before anything is computed: [[torch.library.register_fake]].


# %%
@squared_plus.register_fake
def _(x, c):
    return torch.empty_like(x)


meta = squared_plus(torch.empty(5, 7, device="meta"), 1.0)
assert meta.shape == (5, 7), "a shape from a tensor without numbers"

# %% [markdown]
# ## A gradient
# [[torch.library.register_autograd]] takes the formula, and what to save for it.


# %%
def keep(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])


def backward(ctx, gradient):
    return gradient * 2 * ctx.saved_tensors[0], None


squared_plus.register_autograd(backward, setup_context=keep)
point = torch.tensor([1.0, 2.0], dtype=torch.double, requires_grad=True)
assert torch.autograd.gradcheck(lambda x: squared_plus(x, 1.0), point), "the formula is right"
name = type(squared_plus(point, 1.0).grad_fn).__name__
assert name.startswith("GeneratedBackwardFor_torchnav_lab_squared_plus"), "its node has its name"

# %% [markdown]
# ## Checked as PyTorch checks its own
# [[torch.library.opcheck]] tries the schema, the registration of autograd, the fake kernel and
# the compiler's way of tracing. Under `torch.compile` the operator stays whole.

# %%
verdicts = torch.library.opcheck(squared_plus, (point.detach().requires_grad_(), 1.0))
print(verdicts)
assert len(verdicts) == 4, "four checks"
assert set(verdicts.values()) == {"SUCCESS"}, "all pass"
compiled = torch.compile(lambda x: squared_plus(x, 1.0) * 2, backend="aot_eager", fullgraph=True)
assert compiled(x).tolist() == [4, 10, 20], "compiled in one graph, without a break"
