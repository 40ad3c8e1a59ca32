"""A compiled training step on a GPU, and a Triton kernel that is called by hand."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import nn

torch.manual_seed(0)


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)


def double(x):
    out = torch.empty_like(x)
    double_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
    return out


net = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 8)).cuda()
optimizer = torch.optim.AdamW(net.parameters())


@torch.compile
def loss_of(x, y):
    return F.cross_entropy(net(x).softmax(-1) * 2, y)


x, y = torch.randn(32, 16, device="cuda"), torch.randint(0, 8, (32,), device="cuda")
for _ in range(2):
    loss = loss_of(double(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item() > 0)
