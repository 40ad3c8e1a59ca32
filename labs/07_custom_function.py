# %% [markdown]
# # A Function of your own
# [[torch.autograd.Function]] puts a node into the graph whose backward is Python: what to save,
# and how gradients go on, are yours. [[torch.autograd.gradcheck]] tells whether they are right.

# %%
import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * 3 * x**2


# %% [markdown]
# ## Its node
# `Cube.apply` runs the forward without recording and makes one node for it: [[PyNode]] in C++, an
# object of the class `CubeBackward` in Python. [[THPFunction_apply]] does both. During the
# backward pass, [[PyNode::apply]] calls the Python method.

# %%
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = Cube.apply(x)
print(type(y.grad_fn).__mro__)
assert y.grad_fn.name() == "CubeBackward", "the node is named after the class"
assert y.grad_fn.saved_tensors[0] is x, "it is also the ctx that saved x"
assert y.grad_fn.next_functions[0][0].variable is x, "what happened inside made no nodes"
y.sum().backward()
assert x.grad.tolist() == [3, 12], "3 * x**2"

# %% [markdown]
# ## Is it right?
# `gradcheck` moves each input a little, in double precision, and compares the slope with what
# backward says.

# %%
point = torch.tensor([1.0, 2.0], dtype=torch.double, requires_grad=True)
assert torch.autograd.gradcheck(Cube.apply, point), "the slope is what backward says"


class Wrong(Cube):
    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.saved_tensors[0] ** 2


assert not torch.autograd.gradcheck(Wrong.apply, point, raise_exception=False), "a lost 3 is found"

# %% [markdown]
# ## Twice
# The backward above is made of differentiable calls, so it has a gradient as well: the saved `x`
# comes back as part of the graph. A write to `x` in between would be noticed.

# %%
assert torch.autograd.gradgradcheck(Cube.apply, point), "the second derivative is right too"
(slope,) = torch.autograd.grad(Cube.apply(point).sum(), point, create_graph=True)
(bend,) = torch.autograd.grad(slope.sum(), point)
assert bend.tolist() == [6, 12], "6 * x"

# %% [markdown]
# ## What need not be computed
# `ctx.needs_input_grad` says which gradients anybody wants; None is returned for the others.

# %%
factor = torch.ones(2)
assert Cube.apply(factor).grad_fn is None, "an input that needs no gradient gets no node"
