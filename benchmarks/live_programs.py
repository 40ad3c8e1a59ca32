"""Short programs of the kinds that recordings are measured on: see ``benchmarks.live``."""

from __future__ import annotations

_START = """\
import threading
import torch
import torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4))
optimizer = torch.optim.AdamW(net.parameters())
x, y = torch.randn(6, 8), torch.randint(0, 4, (6,))
def step(model=net, given=x):
    loss = F.cross_entropy(model(given), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
"""

ONE_PROCESS = {
    "plain": "for _ in range(3): print(step())",
    "compiled": "compiled = torch.compile(net)\nfor _ in range(3): print(step(compiled))",
    "checkpoint": """\
from torch.utils.checkpoint import checkpoint
for reentrant in (True, False):
    x.requires_grad_()
    print(step(lambda given: checkpoint(net, given, use_reentrant=reentrant)))
""",
    "custom Function": """\
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, given):
        ctx.save_for_backward(given)
        return given * given
    @staticmethod
    def backward(ctx, grad):
        (given,) = ctx.saved_tensors
        return grad * given * 2
for _ in range(3): print(step(lambda given: Square.apply(net(given))))
""",
    "custom op": """\
@torch.library.custom_op("mine::scale", mutates_args=())
def scale(given: torch.Tensor, factor: float) -> torch.Tensor:
    return given * factor
scale.register_autograd(
    lambda ctx, grad: (grad * ctx.factor, None),
    setup_context=lambda ctx, inputs, output: setattr(ctx, "factor", inputs[1]),
)
for _ in range(3): print(step(lambda given: scale(net(given), 2.0)))
""",
    "mode": """\
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode
class Count(TorchDispatchMode):
    seen = 0
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.seen += 1
        return function(*args, **(kwargs or {}))
with Count() as count: print(step(), count.seen)
with FlopCounterMode(display=False) as flops: print(step(), flops.get_total_flops())
""",
    "subclass": """\
from torch.testing._internal.two_tensor import TwoTensor
class Plain(torch.Tensor): pass
print(step(given=x.as_subclass(Plain)))
both = TwoTensor(torch.randn(6, 8), torch.randn(6, 8)).requires_grad_()
out = (both * 2 + 1).sin().sum()
out.backward()
print(both.grad.a.sum().item(), out.a.item())
""",
    "vmap": """\
from torch.func import functional_call, grad, jacrev, vmap
weights = {name: value.detach() for name, value in net.named_parameters()}
def loss(weights, one, label):
    return F.cross_entropy(functional_call(net, weights, (one[None],)), label[None])
print(vmap(grad(loss), (None, 0, 0))(weights, x, y)["3.bias"].sum().item())
print(jacrev(net)(x[0]).shape, vmap(net)(x).sum().item(), step())
""",
    "own profiler": """\
from torch.profiler import profile, schedule
with profile(schedule=schedule(wait=1, warmup=1, active=2), record_shapes=True) as own:
    for _ in range(5):
        step()
        own.step()
print(len(own.events()) > 0, step())
""",
    "threads": """\
def work():
    mine = nn.Linear(8, 4)
    for _ in range(3): F.cross_entropy(mine(x), y).backward()
threads = [threading.Thread(target=work) for _ in range(3)]
for one in threads: one.start()
for one in threads: one.join()
print(step())
""",
    "double backward": """\
inputs = torch.randn(6, 8, requires_grad=True)
for _ in range(3):
    (grads,) = torch.autograd.grad(net(inputs).sum(), inputs, create_graph=True)
    (grads.norm(dim=1) - 1).pow(2).mean().backward()
    inputs.register_hook(lambda grad: grad * 2)
    (inputs.exp().sin().sum() + net(inputs).square().sum()).backward()
    print(inputs.grad.sum().item())
""",
    "convolutions": """\
images = torch.randn(2, 3, 16, 16)
conv = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.LazyLinear(4))
for _ in range(3):
    loss = F.cross_entropy(conv(images), y[:2])
    loss.backward()
    print(loss.item())
""",
}

_RANKS = (
    _START
    + """\
import torch.distributed as dist
dist.init_process_group("gloo")
from torch.distributed.device_mesh import init_device_mesh
mesh = init_device_mesh("cpu", (2,))
"""
)
_END = "\ndist.destroy_process_group()\n"
TWO_RANKS = {
    "DDP": """\
from torch.nn.parallel import DistributedDataParallel
model = DistributedDataParallel(net)
for _ in range(3): print(step(model))
""",
    "FSDP2": """\
from torch.distributed.fsdp import fully_shard
for one in net: fully_shard(one, mesh=mesh) if list(one.parameters()) else None
fully_shard(net, mesh=mesh)
optimizer = torch.optim.AdamW(net.parameters())
for _ in range(3): print(step())
""",
    "tensor parallel": """\
from torch.distributed.tensor.parallel import (
    ColwiseParallel, RowwiseParallel, parallelize_module)
net = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4))
parallelize_module(net, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
optimizer = torch.optim.AdamW(net.parameters())
for _ in range(3): print(step(net))
""",
    "pipeline": """\
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
rank = dist.get_rank()
part = nn.Linear(8, 8) if rank == 0 else nn.Linear(8, 4)
stage = PipelineStage(part, rank, 2, torch.device("cpu"))
schedule = ScheduleGPipe(stage, n_microbatches=2, loss_fn=F.cross_entropy)
for _ in range(3):
    schedule.step(x) if rank == 0 else schedule.step(target=y)
""",
}


def text(name: str) -> str:
    """The whole program."""
    if name in TWO_RANKS:
        return _RANKS + TWO_RANKS[name] + _END
    return _START + ONE_PROCESS[name]
