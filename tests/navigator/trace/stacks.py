"""Dispatch paths as C++ stacks show them, to check computed ones against.

A ``TorchDispatchMode`` takes the C++ stack of every operator that reaches it. On it stand the
kernels of all keys that the operator and those around it went through.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from indexes.queries.dispatch_path.recorded import DispatchPath
from navigator.trace.link import Linker
from navigator.trace.model import TraceOp
from navigator.trace.table import OP
from navigator.trace.trace import Trace
from tests.navigator.trace.programs import STEP

_WATCH = """\
import time
from torch._C._profiler import gather_traceback, symbolize_tracebacks
from torch.utils._python_dispatch import TorchDispatchMode

seen = []


class Watch(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        seen.append((time.time_ns(), gather_traceback(False, False, True)))
        return func(*args, **(kwargs or {}))


with Watch():
    step()
    conjugate = torch.randn(3, dtype=torch.complex64).conj()
    conjugate + 1
    conjugate.imag * 2
    with torch.autocast("cpu", dtype=torch.bfloat16):
        net(tokens)
    with torch.inference_mode():
        net(tokens)
    torch.func.vmap(lambda v: v.sin() + v)(torch.ones(2, 3))
    torch.func.grad(lambda v: v.sin().sum())(torch.ones(3))
stacks = symbolize_tracebacks([stack for _, stack in seen])
with open("stacks.json", "w") as file:
    json.dump([(at, [frame["name"] for frame in stack])
               for (at, _), stack in zip(seen, stacks)], file)
"""
"""What a training step is followed by, in a program that is watched."""
WATCHED = STEP.partition("step()\nwith profile")[0] + _WATCH

_CALL = re.compile(
    r"c10::Dispatcher::callWithDispatchKeySlowPath<|c10::Dispatcher::callBoxed\("
    r"|at::_ops::\w+::call\("
)
"""The dispatcher begins a call. The first may be inlined into the last, which calls it."""
_FRAMES = (
    ("Autograd", re.compile(r"torch::autograd::VariableType::|[aA]utogradNotImplementedFallback")),
    ("ADInplaceOrView", re.compile(r"torch::ADInplaceOrView::|[aA]utogradNotImplementedInplace")),
    ("Tracer", re.compile(r"torch::TraceType::")),
    ("Autocast", re.compile(r"at::autocast::(?!cached_cast)")),
    ("PythonTLSSnapshot", re.compile(r"pythonTLSSnapshotFallback")),
    ("Python", re.compile(r"pythonFallback\(")),
    ("Conjugate", re.compile(r"conjugateFallback")),
    ("Negative", re.compile(r"negationFallback")),
    ("FuncTorchDynamicLayerFrontMode", re.compile(r"dynamicLayerFrontFallback")),
    ("FuncTorchDynamicLayerBackMode", re.compile(r"functorch::dynamicLayerBack\(")),
    ("FuncTorchBatched", re.compile(r"at::functorch::\w*(?:batch_rule|plumbing)")),
    ("kernel", re.compile(r"at::native::|::wrapper_\w+")),
)


@dataclass(slots=True)
class Compared:
    """How many paths of how many calls are the same, and the others."""

    same: int = 0
    calls: int = 0
    uncertain: int = 0
    """Paths that differ and say themselves that they may."""
    unmatched: int = 0
    """Stacks that could not be told to belong to a row."""
    keys: Counter[str] = field(default_factory=Counter)
    """How many of the kernels on stacks belong to which key."""
    other: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)
    """(operator, computed, on the stack)"""


def compare(trace: Trace, linker: Linker, stacks: Path) -> Compared:
    """Hold the computed path of every call on every stack against that stack."""
    result = Compared()
    done: set[int] = set()
    base_ns = _base_ns(Path(trace.meta.path))
    for at, frames in json.loads(stacks.read_text()):
        microseconds = (at - base_ns) / 1000 - (trace.table.zero or 0.0)
        rows = around(trace, microseconds)
        parts = list(_calls(frames))
        if len(rows) != len(parts):
            result.unmatched += 1
            continue
        for depth, (row, part) in enumerate(zip(rows, parts, strict=True)):
            if row.id not in done or not depth:
                done.add(row.id)
                _compare_one(
                    result,
                    row.full_name,
                    linker.path(row),
                    part,
                    whole=not depth and part[-1:] == ("Python",),
                )
    return result


def _base_ns(recording: Path) -> int:
    """What the times of a recording count from."""
    line = next(one for one in recording.read_text().splitlines() if "torchnav_run" in one)
    return int(json.loads(line.rstrip(","))["args"]["base_ns"])


def around(trace: Trace, microseconds: float) -> list[TraceOp]:
    """Operators that were running at a moment, innermost first."""
    table = trace.table
    at = microseconds + (table.zero or 0.0)
    operators = (row for row in range(len(table)) if table.kind[row] == OP)
    running = [row for row in operators if 0 <= at - table.start[row] < table.duration[row]]
    return [trace.op(row) for row in sorted(running, key=lambda row: -table.start[row])]


def _calls(frames: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """For each call of the dispatcher, innermost first: the keys whose kernels are on the stack."""
    keys: list[str] = []
    before = ""
    for frame in frames:
        if _CALL.search(frame):
            if not ("::call(" in frame and "SlowPath<" in before):
                yield tuple(reversed(keys))
            keys = []
        for key, pattern in _FRAMES:
            if pattern.search(frame) and "MathOpFallback" not in frame:
                if not keys or keys[-1] != key:
                    keys.append(key)
                break
        before = frame


def _compare_one(
    result: Compared, name: str, path: DispatchPath | None, seen: tuple[str, ...], *, whole: bool
) -> None:
    """A call that called another one got only as far as the stack shows; so did one whose
    kernel asks the interpreter past the dispatcher (SavedVariable detaches so)."""
    assert path is not None
    computed = tuple(_general(path, key) for key in ran(path))
    computed = computed if whole else computed[: len(seen)]
    result.calls += 1
    result.keys.update(seen)
    if computed == seen:
        result.same += 1
    elif not path.is_certain:
        result.uncertain += 1
    else:
        result.other.append((name, computed, seen))


def ran(path: DispatchPath) -> list[str]:
    """The keys whose kernels ran: those that fell through are left out."""
    return [s.key for s in path.steps if s.slot is None or not s.slot.fallthrough]


def _general(path: DispatchPath, key: str) -> str:
    """The name that the stack has for it: of a backend or composite kernel just that."""
    if key == ran(path)[-1] and path.end.startswith(("the kernel", "composite")):
        return "kernel"
    return next((one for one in ("Autograd", "Autocast") if key.startswith(one)), key)
