"""Programs that tests run under the recorder, and how they run them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from navigator.trace.trace import Trace
from tests.navigator.trace.forking import can_fork, forks

RECORDER = Path(__file__).parents[3] / "navigator" / "capture" / "__main__.py"

STEP = """\
import json, sys
import torch
import torch.nn.functional as F
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.heads = heads

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width=16, heads=2):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, 16))

    def forward(self, x):
        x = x + self.attention(self.norm(x))  # LINE residual
        return x + self.mlp(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 16)
        self.block = Block()
        self.head = nn.Linear(16, 11)

    def forward(self, tokens):
        return self.head(self.block(self.embed(tokens)))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.AdamW(net.parameters())
tokens = torch.arange(10).view(2, 5)


def step():
    optimizer.zero_grad()
    loss = F.cross_entropy(net(tokens).flatten(0, 1), tokens.flatten())
    loss.backward()  # LINE backward
    optimizer.step()  # LINE optimizer


step()
with profile(activities=[ProfilerActivity.CPU]) as own:
    step()
with record_function("the step"):
    step()
with open(sys.argv[1], "w") as file:
    json.dump([event.name() for event in own.profiler.kineto_results.events()], file)
print("done")
"""

MIXED = """\
import threading
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad  # LINE custom backward


@torch.library.custom_op("torchnav_test::triple", mutates_args=())
def triple(x: torch.Tensor) -> torch.Tensor:
    return x * 3


linear = torch.nn.Linear(3, 3)
x = torch.ones(2, 3, requires_grad=True)
Square.apply(x).sum().backward()
y = checkpoint(lambda z: F.gelu(linear(z)), x, use_reentrant=False)  # LINE checkpoint
y.sum().backward()
triple(torch.ones(3))
with torch.autocast("cpu", dtype=torch.bfloat16):
    print(linear(x).dtype)
torch.func.vmap(torch.func.grad(lambda v: v.sin().sum()))(torch.ones(2, 3))


@torch.compile(backend="aot_eager")
def compiled(z):
    return z.sin() + z.cos()  # LINE compiled


print([compiled(torch.ones(4)).shape for _ in range(3)])
print(torch._dynamo.utils.counters["graph_break"])


def work():
    torch.ones(4).mul(2)  # LINE thread


thread = threading.Thread(target=work)
thread.start()
thread.join()
dense = torch.eye(3)
dense.to_sparse() + dense.to_sparse()
torch.empty(3, device="meta") + 1
hooked = torch.ones(3, requires_grad=True)
(hooked.register_hook(lambda grad: grad.neg()) and hooked.mul(2).sum()).backward()  # LINE hook
"""

_COMPILES = re.compile(r"torch\.(compile|export|_dynamo)\b")


def line_of(program: str, mark: str) -> int:
    """The line of a program that ends in ``# LINE mark``."""
    lines = program.splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.endswith(f"# LINE {mark}"))


def run(
    folder: Path,
    program: str,
    *args: str,
    record: bool = True,
    options: tuple[str, ...] = (),
    stdin: str = "",
    afresh: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run ``program`` in ``folder``; the recording is ``trace.json`` beside it. A test of how
    Python starts or torch is imported has it started ``afresh``: else torch and Dynamo are there
    before the recorder, though out of sight. Dynamo knows the functions of its own import."""
    script = folder / "program.py"
    script.write_text(program)
    recorder = [str(RECORDER), "-o", str(folder / "trace.json"), *options, "--"] if record else []
    command = [*recorder, "program.py", *args]
    environment = {k: v for k, v in os.environ.items() if k != "KINETO_LOG_LEVEL"}
    if record and not afresh and not _COMPILES.search(program) and can_fork():
        return forks(str(RECORDER)).run(command, folder, environment, stdin)
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
        check=False,
    )


def names(trace: Trace) -> set[str]:
    """Of all rows, with overloads."""
    return {op.full_name for op in trace.ops()}
