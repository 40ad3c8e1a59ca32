"""Overhead of recording, relative to the untraced program, and of torch.profiler.

    python -m benchmarks TREE --only capture_overhead

Measures two steps alternately in one process, in CPU time of the main thread: a transformer's
training step with operators of a few microseconds, and one with operators of milliseconds. Writing,
which happens when a window closes, is included and also listed separately.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial

os.environ.setdefault("KINETO_LOG_LEVEL", "99")

import torch
import torch.nn.functional as functional
from torch import nn

from benchmarks.harness import Bench, Comparison, Cost, Figure
from navigator.capture.build import BuildError, Torch, build
from navigator.capture.compiled import CompiledRecorder, load
from navigator.capture.recorder import Recorder
from navigator.capture.writer import TraceFile

NEEDS = ()
ROUNDS = 5
STEPS = {"small": 20, "large": 3}


class Block(nn.Module):  # type: ignore[misc]
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
    """Seconds of a step while recording, and of writing."""
    with tempfile.TemporaryDirectory() as folder:
        file = TraceFile(os.path.join(folder, "trace.json"))
        recorder = (
            CompiledRecorder(file, native)
            if native is not None
            else Recorder(file, window_s=1e6, window_calls=0)
        )
        recorder.start()
        taken = seconds(step, count)
        start = time.thread_time()
        recorder.finish()
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
    """The compiled recorder; None if it can't be built."""
    try:
        return load(
            build(os.path.join(tempfile.gettempdir(), "torchnav-benchmark"), Torch.of(torch))
        )
    except BuildError as error:
        print(error)
        return None


def figures(bench: Bench) -> Iterator[Comparison]:
    """Both recorders and torch.profiler, relative to the plain program."""
    torch.set_num_threads(1)
    native = library()
    sizes = (("small", "~5 us", 160, 32, 14.0, 3.0), ("large", "ms", 1024, 256, 1.1, 1.1))
    for size, words, width, length, bar, bar_compiled in sizes:
        step, count = training_step(width, length), STEPS[size]
        seconds(step, 3)
        ways: list[tuple[str, float | None, Callable[[], tuple[float, float]]]] = [
            ("capture", bar, partial(recorded, step, count)),
            ("torch.profiler, shapes and stacks", None, partial(profiled, step, count)),
        ]
        if native is not None:
            ways.insert(1, ("compiled", bar_compiled, partial(recorded, step, count, native)))
        for name, limit, run in ways:
            yield _beside(
                f"{name}, operators of {words}", limit, run, partial(seconds, step, count)
            )


def _beside(
    name: str, bar: float | None, run: Callable[[], tuple[float, float]], plain: Callable[[], float]
) -> Comparison:
    """A recorded step, and the writing after it, relative to the plain step."""

    def ours() -> Cost:
        taken, after = run()
        return Cost(cpu=taken + after, wall=after)

    def theirs() -> Cost:
        taken = plain()
        return Cost(cpu=taken, wall=taken)

    wanted = (Figure(name, bar, "cpu"), Figure("  of it writing, afterwards", None, "wall"))
    return Comparison(wanted, ours, "untraced", theirs, ROUNDS)
