"""Which operators launch which device kernels, as recorded on a GPU, compared with a tree.

    python -m benchmarks.launched record FILE.tsv.gz [--part I/N]  # needs a GPU
    python -m benchmarks.launched compare [FILE.tsv.gz] [--tree /path/to/pytorch]

``record`` runs samples of the OpInfos of the installed torch, of its modules and optimizers,
forward and backward, under torch.profiler, and writes a line for each way to a kernel: the
operators that it ran in, innermost last, and its name. ``compare`` asks for the source or library
of each kernel, and whether the chains on CUDA of the operator that launched it, and of those around
it, reach that; copies and fills by the runtime are left out. What is compared by default is
``tests/data/launched/h200.tsv.gz``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from indexes.queries.audit.launched import Reached
from indexes.queries.index import Index
from indexes.source.source import Source

RECORDED = Path(__file__).parents[1] / "tests/data/launched/h200.tsv.gz"
Launch = tuple[tuple[str, ...], str]
"""The operators that a kernel ran in, innermost last, and its name."""
Call = Callable[[], object]
_DTYPES = "float32 float16 int64 complex64 bool bfloat16 float64".split()
_MOST_SAMPLES = 16
_RAISED = (RuntimeError, TypeError, ValueError, AttributeError, AssertionError)
"""What calls and the makers of their samples raise where a device or type is not supported."""
_SHORT = 20
"""Most that is listed of what falls short."""

# ------------------------------------------------------------------------- comparing


def read(file: Path) -> list[Launch]:
    """What was recorded."""
    lines = gzip.decompress(file.read_bytes()).decode().splitlines()
    rows = (line.split("\t") for line in lines)
    return [(tuple(operators.split()), kernel) for operators, kernel in rows]


def compare(index: Index, launches: Iterable[Launch]) -> Iterator[tuple[str, str, str]]:
    """For each operator of a launch ``own`` or ``around``, the verdict, and what it is about."""
    reached = Reached(index)
    for operators, kernel in launches:
        answer = index.kernel_name(kernel)
        for number, name in enumerate(reversed(operators)):
            known = bool(answer.source or answer.library)
            runs = reached.runs(name.removeprefix("aten::"), answer) if known else None
            verdict = {True: "reached", False: "missed", None: "unknown operator"}[runs]
            about = f"{name}: {kernel}"
            yield "around" if number else "own", verdict if known else "unknown kernel", about


def _compare(file: Path, tree: str | None) -> None:
    index = Index.open(Source.find(tree))
    found = list(compare(index, read(file)))
    for which in ("own", "around"):
        counts = Counter(verdict for one, verdict, _ in found if one == which)
        print(which, dict(counts.most_common()))
    missed = dict.fromkeys(about for _, verdict, about in found if verdict == "missed")
    for about in islice(missed, _SHORT):
        print(f"  missed: {about[:150]}")


# -------------------------------------------------------------------------- recording


def _tensors(value: object) -> Iterator[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _tensors(one)


def _backward(result: object) -> None:
    import torch

    ends = [one for one in _tensors(result) if one.grad_fn is not None and not one.is_sparse]
    torch.autograd.backward(ends, [torch.ones_like(one) for one in ends])


def _of_op(op: Any, name: str, device: str) -> Iterator[Call]:
    import torch

    dtype = getattr(torch, name)
    grad = op.supports_autograd and dtype in op.supported_backward_dtypes(device)
    samples = op.sample_inputs(device, dtype, requires_grad=grad)
    for sample in islice(samples, _MOST_SAMPLES if name == _DTYPES[0] else 4):
        yield partial(_run_sample, op.op, sample)


def _run_sample(op: Callable[..., object], sample: Any) -> None:
    _backward(op(sample.input, *sample.args, **sample.kwargs))


def _of_module(info: Any, device: str) -> Iterator[Call]:
    import torch

    how = {"device": device, "dtype": torch.float32, "requires_grad": True, "training": True}
    for one in islice(info.module_inputs_func(info, **how), 3):

        def run(one: Any = one) -> None:
            made = info.module_cls(*one.constructor_input.args, **one.constructor_input.kwargs)
            given = one.forward_input
            _backward(made.to(device)(*given.args, **given.kwargs))

        yield run


def _of_optimizer(info: Any, device: str) -> Iterator[Call]:
    import torch

    for one in info.optim_inputs_func(device=device):

        def run(one: Any = one) -> None:
            parameters = [torch.nn.Parameter(torch.randn(3, 4, device=device)) for _ in range(3)]
            for parameter in parameters:
                parameter.grad = torch.randn_like(parameter)
            info.optim_cls(parameters, **one.kwargs).step()

        yield run


def programs(device: str) -> Iterator[Callable[[], Iterable[Call]]]:
    """What makes the calls of each OpInfo, module and optimizer."""
    import torch
    from torch.testing._internal import common_methods_invocations as infos
    from torch.testing._internal.common_modules import module_db
    from torch.testing._internal.common_optimizers import optim_db

    lists = [getattr(infos, name) for name in dir(infos) if name.endswith("op_db")]
    for op in chain.from_iterable(lists):
        for name in _DTYPES:
            if getattr(torch, name) in op.supported_dtypes(device):
                yield partial(_of_op, op, name, device)
    yield from (partial(_of_module, info, device) for info in module_db)
    yield from (partial(_of_optimizer, info, device) for info in optim_db)


def profiled(calls: Callable[[], Iterable[Call]]) -> list[dict[str, Any]]:
    """The events of some calls; one that raises ends there."""
    from torch._C._profiler import _ExperimentalConfig
    from torch.profiler import profile

    overloads = _ExperimentalConfig(capture_overload_names=True)
    with profile(experimental_config=overloads) as found, suppress(*_RAISED):
        for call in calls():
            with suppress(*_RAISED):
                call()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        found.export_chrome_trace(file.name)
        events: list[dict[str, Any]] = json.loads(Path(file.name).read_text())["traceEvents"]
    return events


def launches(events: Iterable[dict[str, Any]]) -> Iterator[Launch]:
    """The kernels among events, each with the operators around the call that launched it."""
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        by_kind.setdefault(event.get("cat", ""), []).append(event)
    calls = {
        event["args"].get("correlation"): event
        for kind in ("cuda_runtime", "cuda_driver")
        for event in by_kind.get(kind, ())
    }
    for kernel in by_kind.get("kernel", ()):
        if call := calls.get(kernel["args"].get("correlation")):
            around = [one for one in by_kind.get("cpu_op", ()) if _holds(one, call)]
            around.sort(key=lambda one: (one["ts"], -one["dur"]))
            names = (one["name"] for one in around if "::" in one["name"])
            yield tuple(one for one in names if "autograd::" not in one), kernel["name"]


def _holds(op: dict[str, Any], call: dict[str, Any]) -> bool:
    return bool(op["tid"] == call["tid"] and op["ts"] <= call["ts"] < op["ts"] + op["dur"])


def _record(file: Path, part: str) -> None:
    first, step = map(int, part.split("/"))
    found: dict[Launch, None] = {}
    for calls in islice(programs("cuda"), first, None, step):
        found |= dict.fromkeys(launches(profiled(calls)))
    lines = (f"{' '.join(operators)}\t{kernel}" for operators, kernel in sorted(found) if operators)
    file.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
    print(f"{len(found)} launches that differ in operators or kernel, in {file}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.launched")
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("file", type=Path, nargs="?", default=RECORDED)
    parser.add_argument("--tree")
    parser.add_argument("--part", default="0/1", help="record each N-th program, from the I-th")
    given = parser.parse_args()
    if given.what == "compare":
        _compare(given.file, given.tree)
    else:
        _record(given.file, given.part)


if __name__ == "__main__":
    main()
