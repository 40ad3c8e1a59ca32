"""What recording costs, as a ratio to the untraced program and beside torch.profiler.

    python benchmarks/capture_overhead.py

Two steps are measured, in one process and in turns, in CPU time of the main thread: a
transformer's training step of operators of a few microseconds, and one of milliseconds. The
second number of each is what writing costs, which happens when a window closes.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable

os.environ.setdefault("KINETO_LOG_LEVEL", "99")

import torch
import torch.nn.functional as functional
from torch import nn

from navigator.capture.build import BuildError, build
from navigator.capture.compiled import CompiledRecorder, load
from navigator.capture.recorder import Options, Recorder
from navigator.capture.writer import TraceFile

ROUNDS = 5
STEPS = {"small": 20, "large": 3}


class Block(nn.Module):
    """A transformer block with a head."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1)
        )
        self.head = nn.Linear(width, 50)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        y = (
            functional.scaled_dot_product_attention(q, k, v)
            .transpose(1, 2)
            .reshape(batch, length, width)
        )
        x = x + self.out(y)
        result: torch.Tensor = self.head(x + self.mlp(self.norm2(x)))
        return result


def training_step(width: int, length: int) -> Callable[[], None]:
    net = Block(width, 4)
    optimizer = torch.optim.AdamW(net.parameters())
    x, y = torch.randn(2, length, width), torch.randint(0, 50, (2 * length,))

    def step() -> None:
        optimizer.zero_grad()
        functional.cross_entropy(net(x).flatten(0, 1), y).backward()
        optimizer.step()

    return step


def seconds(step: Callable[[], None], count: int) -> float:
    times = []
    for _ in range(count):
        start = time.thread_time()
        step()
        times.append(time.thread_time() - start)
    return statistics.median(times)


def recorded(step: Callable[[], None], count: int, native: object = None) -> tuple[float, float]:
    """Seconds of a step while recording, and of writing it."""
    with tempfile.TemporaryDirectory() as folder:
        file = TraceFile(os.path.join(folder, "trace.json"))
        recorder = (
            CompiledRecorder(file, native)
            if native is not None
            else Recorder(file, Options(window_s=1e6, window_calls=0))
        )
        recorder.start()
        taken = seconds(step, count)
        start = time.thread_time()
        recorder.finish()
        recorder.leave()
        return taken, (time.thread_time() - start) / count


def profiled(step: Callable[[], None], count: int) -> tuple[float, float]:
    """The same for torch.profiler with shapes and stacks."""
    profile = torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True, with_stack=True
    )
    with profile:
        taken = seconds(step, count)
        start = time.thread_time()
    return taken, (time.thread_time() - start) / count


def library() -> object:
    """The compiled recorder; None where it cannot be built."""
    try:
        return load(build(os.path.join(tempfile.gettempdir(), "torchnav-benchmark")))
    except BuildError as error:
        print(error)
        return None


def measure(name: str, step: Callable[[], None], native: object) -> None:
    count = STEPS[name]
    seconds(step, 3)
    rows = []
    for _ in range(ROUNDS):
        plain = seconds(step, count)
        compiled = recorded(step, count, native) if native is not None else (0.0, 0.0)
        rows.append((plain, *recorded(step, count), *compiled, *profiled(step, count)))
    medians = [statistics.median(column) for column in zip(*rows, strict=True)]
    plain, ours, written, compiled_s, compiled_end, theirs, processed = medians
    print(f"{name}: {plain * 1e3:.2f} ms a step untraced")
    print(f"  torchnav        {ours / plain:5.2f}x  writing {written / plain:6.2f}x")
    print(f"  compiled        {compiled_s / plain:5.2f}x  writing {compiled_end / plain:6.2f}x")
    print(f"  torch.profiler  {theirs / plain:5.2f}x  ending  {processed / plain:6.2f}x")


if __name__ == "__main__":
    torch.set_num_threads(1)
    found = library()
    measure("small", training_step(160, 32), found)
    measure("large", training_step(1024, 256), found)
