"""Counts of what recordings and profiles show; no times.

    python -m benchmarks.recordings /path/to/pytorch

A transformer's and a ResNet's step by both recorders, profiles of real GPU runs, and the
dispatch paths of a program held against its C++ stacks.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import torch

from indexes.model.schema import parse_schema
from indexes.queries.index import Index
from indexes.source.source import Source
from indexes.source.torch_install import installed_torch
from navigator.capture.build import BuildError, Torch, build
from navigator.trace.link import Linker
from navigator.trace.overloads import Overloads
from navigator.trace.readers import read_trace
from tests.navigator.trace.programs import STEP, run
from tests.navigator.trace.shown import RESNET, shown
from tests.navigator.trace.stacks import WATCHED, compare

_PROFILES = Path(__file__).parents[1] / "tests" / "data" / "traces"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tree", help="a PyTorch checkout")
    tree = Index.open(Source.find(parser.parse_args().tree))
    torch = installed_torch()
    assert torch is not None
    wheel = Index.open(Source.find(str(torch.root)))
    with tempfile.TemporaryDirectory(prefix="torchnav-benchmark") as folder:
        native = _library(Path(folder))
        lines = [*_steps(Path(folder), wheel, native), *_profiles(tree)]
        if native:
            lines += _paths(Path(folder), tree, native)
    print("\n".join(lines))
    return 0


def _library(folder: Path) -> str:
    try:
        return build(str(folder), Torch.of(torch))
    except BuildError as error:
        print(error)
        return ""


def _steps(folder: Path, wheel: Index, native: str) -> Iterator[str]:
    for recorder, options in (("profiler", ()), ("compiled", ("--native", native))):
        if recorder == "compiled" and not native:
            continue
        for name, program in (("transformer", STEP), ("ResNet", RESNET)):
            run(folder, program, str(folder / "own.json"), options=options)
            trace = read_trace(folder / "trace.json")
            counts = shown(trace, Linker(trace, wheel), folder / "own.json", "program.py")
            for what, (there, all_) in counts.parts.items():
                yield _line(f"{name}, {recorder}: {what}", there, all_)
            same = f"differs by {dict(counts.differs)}" if counts.differs else "the same"
            yield f"{name}, {recorder}: operators beside an independent profiler: {same}"


def _profiles(tree: Index) -> Iterator[str]:
    overloads = Overloads(parse_schema(op.schema) for op in tree.operators())
    for path in sorted(_PROFILES.glob("*.gz")):
        trace = read_trace(path)
        linker, kernels = Linker(trace, tree), list(trace.kernels())
        answers = [linker.kernel_name(kernel) for kernel in kernels]
        ops = [op for op in trace.ops() if op.kind == "op" and op.inputs]
        fits = [overloads.fitting(op.name.removeprefix("aten::"), op.inputs) for op in ops]
        found, all_ = sum(kernel.op_id is not None for kernel in kernels), len(kernels)
        yield _line(f"{path.name}: launches under an operator", found, all_)
        found = sum(bool(answer.source or answer.library) for answer in answers)
        yield _line(f"{path.name}: launches with source or library", found, all_)
        found = sum(len(one) == 1 for one in fits)
        yield _line(f"{path.name}: unique overload from the inputs", found, len(ops))


def _paths(folder: Path, tree: Index, native: str) -> Iterator[str]:
    run(folder, WATCHED, options=("--native", native))
    trace = read_trace(folder / "trace.json")
    result = compare(trace, Linker(trace, tree), folder / "stacks.json")
    yield _line("dispatch paths as the C++ stacks show them", result.same, result.calls)
    yield f"  different and said to be uncertain: {result.uncertain}"
    yield f"  kernels on the stacks, by key: {dict(result.keys)}"


def _line(what: str, there: int, all_: int) -> str:
    part = f"{there / all_:.2%}" if all_ else "-"
    return f"{what}: {there} of {all_} ({part})"


if __name__ == "__main__":
    sys.exit(main())
