"""What a recording of a training step shows of it, in counts."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from navigator.trace.link import Linker
from navigator.trace.model import TraceOp
from navigator.trace.trace import Trace

RESNET = """\
import json, sys
import torch
import torch.nn.functional as F
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function


class Block(nn.Module):
    def __init__(self, inner, outer, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outer)
        self.down = nn.Sequential()
        if stride != 1 or inner != outer:
            self.down = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False),
                                      nn.BatchNorm2d(outer))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn2(self.conv2(y))
        y += self.down(x)
        return F.relu(y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8),
                                  nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
        self.layers = nn.Sequential(Block(8, 8, 1), Block(8, 16, 2), Block(16, 32, 2))
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        x = self.layers(self.stem(x))
        return self.head(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
images, labels = torch.randn(2, 3, 32, 32), torch.tensor([1, 2])


def step():
    optimizer.zero_grad()
    out = net(images)
    loss = F.cross_entropy(out, labels)
    loss.backward()
    optimizer.step()


step()
with profile(activities=[ProfilerActivity.CPU]) as own:
    step()
with record_function("the step"):
    step()
with open(sys.argv[1], "w") as file:
    json.dump([event.name() for event in own.profiler.kineto_results.events()], file)
print("done")
"""
"""A ResNet's step, in the form of ``programs.STEP``."""


@dataclass(slots=True)
class Shown:
    """Counts of the rows below ``the step``, which no other profiler watched."""

    calls: int = 0
    """Of operators of ATen."""
    schema: int = 0
    exact_line: int = 0
    in_module: int = 0
    """Those that a module's forward, or the gradient of one, has called."""
    module: int = 0
    backward: int = 0
    """Those of a backward pass that a Node runs, not the engine itself."""
    formula: int = 0
    """Those under a Node that leads to its formula, or to the class of one written by hand."""
    nodes: int = 0
    linked: int = 0
    """Nodes with the forward operator that made them; none made AccumulateGrad."""
    differs: Counter[str] = field(default_factory=Counter)
    """Events that only one of this and an independent profiler run has."""

    @property
    def parts(self) -> dict[str, tuple[int, int]]:
        """What there is of each, and of how many."""
        return {
            "ATen calls with schema": (self.schema, self.calls),
            "ATen calls with the exact user line": (self.exact_line, self.calls),
            "calls of a module with its path": (self.module, self.in_module),
            "backward operators with Node and formula": (self.formula, self.backward),
            "Nodes linked to their forward operator": (self.linked, self.nodes),
        }


def shown(trace: Trace, linker: Linker, own_profile: Path, program: str) -> Shown:
    """Count what a recording of ``program``'s step shows."""
    top = next(op for op in trace.ops() if op.name == "the step")
    rows = [trace.op(row) for row in trace.table.descendants(top.id)]
    counts = Shown()
    profiled = Counter(json.loads(own_profile.read_text()))
    # The profiler sees the thread that started it, not those of torch's pool.
    seen = Counter(op.name for op in rows if op.kind != "call" and op.thread == top.thread)
    counts.differs = (seen - profiled) + (profiled - seen)
    for op in rows:
        if op.kind == "op" and op.name.startswith("aten::"):
            _count_call(counts, op, linker, program)
        elif op.kind == "node" and "AccumulateGrad" not in op.name:
            counts.nodes += 1
            counts.linked += op.forward_id is not None
    _count_modules(counts, trace, rows)
    return counts


def _count_call(counts: Shown, op: TraceOp, linker: Linker, program: str) -> None:
    link = linker.link(op)
    counts.calls += 1
    counts.schema += link.schema is not None
    counts.exact_line += op.user_exact and op.user is not None and op.user.path.endswith(program)
    if op.phase == "backward" and op.node and not op.origin:
        counts.backward += 1
        node = link.node
        counts.formula += node is not None and bool(node.formulas or node.definition)


def _count_modules(counts: Shown, trace: Trace, rows: list[TraceOp]) -> None:
    """The frames tell independently of the hooks what a module has called."""
    for op in rows:
        if op.kind != "op":
            continue
        cause = op
        if op.node_id is not None:
            forward = trace.op(op.node_id).forward_id
            if forward is None:
                continue
            cause = trace.op(forward)
        if any(frame.function == "forward" for frame in cause.stack):
            counts.in_module += 1
            counts.module += bool(op.module)
