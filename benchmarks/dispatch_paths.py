"""The dispatch paths of ``torchnav table --when``, compared with C++ stacks of real calls.

    python -m benchmarks.dispatch_paths [--tree /path/to/pytorch] [--ops 60] [--seed 1]

Runs the first sample of OpInfos of the installed torch on the CPU, drawn at random, once for each
switch, under a dispatch mode that takes the C++ stack of every call that reaches the key Python.
The frames between the entry into the dispatcher and that key are the kernels of the keys above it;
they are compared with the path that the tree tells for the operator. What is below Python, the
backend, no stack shows. Printed are, for each switch, the calls that agree, and those that are left
out, by reason:

- *not through the dispatcher*: the interpreter was called without it (``detach`` for a saved
  variable), so that there is no frame of an entry;
- *below autograd*: the kernel of another key made the call, while its own keys were excluded;
- *below autocast*: the same inside of a kernel of autocast, which excludes its key;
- *guarded by its caller*: the C++ function that calls has a guard that excludes autograd
  (``internal_new_from_data``); with a checkout, where its text is at hand;
- *other tensors*: an argument has keys that a dense strided tensor on the CPU has not;
- *not told*: the tree does not tell the path, or has no such operator.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from indexes.model.errors import TorchnavError
from indexes.model.vocabulary import Definition
from indexes.queries.dispatch_path.walk import SwitchedPaths
from indexes.queries.index import Index
from indexes.source.source import Source

SWITCHES: dict[str, Callable[[], Any]] = {
    "plain": contextlib.nullcontext,
    "requires_grad": contextlib.nullcontext,
    "no_grad": torch.no_grad,
    "inference": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu"),
}
_PLAIN = {"AutocastCPU", "AutogradCPU", "ADInplaceOrView", "CPU"}
_MADE_INSIDE = {"AutocastCPU", "CPU"}
_ENTRY = re.compile(r"^at::_ops::(\w+)::call\(|^c10::Dispatcher::callBoxed")
_STAGES = (
    (
        "Autograd",
        re.compile(r"VariableType::|[aA]utograd_?[nN]ot_?[iI]mplemented|autograd_fallback"),
    ),
    ("ADInplaceOrView", re.compile(r"\bADInplaceOrView::")),
    ("Autocast", re.compile(r"autocast::WrapFunction")),
)
_FALLBACK = "pythonFallback("
_BINDING = "torch::autograd::THPVariable_"
_GUARD = re.compile(r"\bAutoDispatchBelow\w+\s+\w+")


@dataclass(slots=True)
class Call:
    """A call that reached the key Python."""

    op: str
    keys: list[set[str]]
    stack: Any
    frames: list[str] = field(default_factory=list)
    caller: str = ""
    """The frame that made the call."""


class Stacks(TorchDispatchMode):  # type: ignore[misc]
    """Records the C++ stack of every call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        stack = torch._C._profiler.gather_traceback(python=False, script=False, cpp=True)
        tensors = torch.utils._pytree.tree_leaves((args, kwargs))
        keys = [_keys(one) for one in tensors if isinstance(one, torch.Tensor)]
        name = str(func).removeprefix("aten.").removesuffix(".default")
        self.calls.append(Call(name, keys, stack))
        return func(*args, **(kwargs or {}))


def _keys(tensor: torch.Tensor) -> set[str]:
    inside = str(torch._C._dispatch_keys(tensor)).partition("(")[2].rpartition(")")[0]
    return set(inside.split(", "))


def samples(count: int, seed: int) -> Iterator[Any]:
    """Sampled OpInfos."""
    from torch.testing._internal.common_methods_invocations import op_db

    yield from random.Random(seed).sample(op_db, min(count, len(op_db)))


def run(info: Any, switch: str) -> list[Call]:
    """The calls of one sample while a switch is on; none if it cannot run."""
    grad = switch == "requires_grad"
    if grad and not info.supports_autograd:
        return []
    stacks = Stacks()
    with contextlib.suppress(Exception):
        sample = next(iter(info.sample_inputs("cpu", torch.float32, requires_grad=grad)))
        with SWITCHES[switch](), stacks:
            info.op(sample.input, *sample.args, **sample.kwargs)
    return stacks.calls


def symbolized(calls: list[Call]) -> None:
    """Adds the names of frames to every call, innermost first."""
    traces = torch._C._profiler.symbolize_tracebacks([call.stack for call in calls])
    for call, trace in zip(calls, traces, strict=True):
        call.frames, call.stack = [frame["name"] for frame in trace], None


def observed(call: Call) -> tuple[tuple[str, ...], str]:
    """The kernels above Python in order, or why the call is skipped."""
    start = next((at for at, name in enumerate(call.frames) if _FALLBACK in name), None)
    if start is None:
        return (), "not through the dispatcher"
    ends = [at for at in range(start, len(call.frames)) if _ENTRY.match(call.frames[at])]
    if not ends:
        return (), "not through the dispatcher"
    if any(_stage(name) in ("Autograd", "ADInplaceOrView") for name in call.frames[ends[0] + 1 :]):
        return (), "below autograd"
    if any(_stage(name) == "Autocast" for name in call.frames[ends[0] + 2 :]):
        return (), "below autocast"
    call.caller = call.frames[ends[0] + 1] if ends[0] + 1 < len(call.frames) else ""
    inner = [_stage(name) for name in call.frames[start : ends[0]]]
    before = "Autocast" if _stage(call.caller) == "Autocast" else ""
    return tuple(dict.fromkeys(stage for stage in (before, *reversed(inner)) if stage)), ""


def _stage(name: str) -> str:
    return next((stage for stage, pattern in _STAGES if pattern.search(name)), "")


@functools.cache
def _switched(index: Index) -> SwitchedPaths:
    return SwitchedPaths(index)


def told(index: Index, call: Call, switch: str) -> tuple[tuple[str, ...], str]:
    """The same from source."""
    if any(keys not in (_PLAIN, _MADE_INSIDE) for keys in call.keys):
        return (), "other tensors"
    if switch == "inference" and call.keys and all(k == _MADE_INSIDE for k in call.keys):
        switch = "inference_tensor"
    elif switch != "inference" and _MADE_INSIDE in call.keys:
        return (), "other tensors"
    if _is_guarded(index, call.caller):
        return (), "guarded by its caller"
    try:
        paths = {path.switch: path for path in _switched(index).paths(call.op, [switch]).paths}
    except TorchnavError:
        return (), "not told"
    binding = paths.get("binding") if call.caller.startswith(_BINDING) else None
    path = binding or paths[switch]
    stages = [next((s for s, _ in _STAGES if key.startswith(s)), "") for key in path.kernels]
    return tuple(dict.fromkeys(filter(None, stages))), "not told" if path.unknown else ""


def _is_guarded(index: Index, caller: str) -> bool:
    name = caller.replace("(anonymous namespace)::", "").partition("(")[0].rpartition("::")[2]
    if not name.isidentifier():
        return False
    return any(_GUARD.search(_text(index, one)) for one in index.definitions(name))


def _text(index: Index, one: Definition) -> str:
    lines = index.lines(one.location.path)[one.location.line - 1 : one.location.end_line]
    return "\n".join(lines)


def measure(index: Index, switch: str, calls: list[Call]) -> tuple[Counter[str], list[str]]:
    """Counts of calls that agree, differ or are skipped, and those that differ."""
    counts: Counter[str] = Counter()
    misses = []
    for call in calls:
        seen, why = observed(call)
        said, unsure = told(index, call, switch) if not why else ((), "")
        if why or unsure:
            counts[why or unsure] += 1
            continue
        agrees = said == seen
        counts["agree" if agrees else "differ"] += 1
        if not agrees:
            misses.append(f"{switch} {call.op}: told {said}, seen {seen}")
    return counts, misses


def main() -> None:
    """Prints the counts of each switch, and every call that differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree")
    parser.add_argument("--ops", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    index = Index.open(Source.find(given.tree))
    print(f"PyTorch {index.info.version} ({index.info.kind}) against torch {torch.__version__}")
    infos = list(samples(given.ops, given.seed))
    whole: Counter[str] = Counter()
    for switch in SWITCHES:
        began = time.perf_counter()
        calls = [call for info in infos for call in run(info, switch)]
        symbolized(calls)
        counts, misses = measure(index, switch, calls)
        whole += counts
        print(f"{switch}: {_line(counts)} ({time.perf_counter() - began:.0f} s)", flush=True)
        print("".join(f"  {miss}\n" for miss in sorted(set(misses))), end="")
    print(f"all: {_line(whole)}")


def _line(counts: Counter[str]) -> str:
    compared = counts["agree"] + counts["differ"]
    part = f"{100 * counts['agree'] / compared:.1f} %" if compared else "nothing"
    others = ", ".join(f"{n} {why}" for why, n in counts.items() if why not in ("agree", "differ"))
    return f"{counts['agree']} of {compared} agree, {part}; left out: {others or 'none'}"


if __name__ == "__main__":
    main()
