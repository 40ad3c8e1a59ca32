"""Whether programs that others wrote run under the recorders as they run alone.

    python -m benchmarks.outside_programs --clones FOLDER [--packages FOLDER] [--tree TREE]
        [--only NAME,...]

FOLDER of ``--clones`` holds clones of pytorch/examples, karpathy/nanoGPT and karpathy/minGPT, named
``examples``, ``nanoGPT`` and ``minGPT``; that of ``--packages`` what ``pip install --target`` put
there (torchvision, timm, transformers, accelerate, torch_geometric ...), for programs that need it.
A program whose clone or package is missing is left out, and says so. None of them is changed, and
nothing of them is kept: each run has a copy of the folder, with random data.

Each program runs alone, under torch.profiler, and under both recorders. It must write the same
(times of day and of steps apart), end with the same exit code and run each operator as often as
torch.profiler counts it. Then the recording is read: ids that name no row, operators of a backward
pass without their forward operator, operators that are resolved, and those with a line of the user.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy

from benchmarks.outside_data import DataMaker, digits, pictures, tokens, words
from benchmarks.outside_scripts import SCRIPTS
from indexes.queries.index import Index
from indexes.source.source import Source
from navigator.trace.link import Linker
from navigator.trace.readers import read_trace
from navigator.trace.rows import trace_rows

ROOT = Path(__file__).parents[1]
_LIMIT_S = 900
_CUT = 300
"""Characters of a difference that are shown."""
_NOISE = re.compile(
    r"\d[\d.:,]*(?: ?ms\b| ?s\b|it/s|s/it)|ms/batch +[\d.]+|\d\d:\d\d:\d\d|\d{4}-\d\d-\d\d|pid \d+"
    r"|mfu -?[\d.]+%|[\d.?]+(?:it/s|s/it)|/tmp/\S+"
)


@dataclass(frozen=True)
class Program:
    """One program: where it lies, how it is run, and what it needs."""

    name: str
    clone: str
    """Of which clone; empty for a script of ours on packages of others."""
    folder: str
    """In it: where the program runs."""
    command: str
    data: DataMaker | None = None
    needs: tuple[str, ...] = ()
    """Packages."""


def _example(
    folder: str, arguments: str, data: DataMaker | None = None, *needs: str, name: str = ""
) -> Program:
    return Program(name or folder, "examples", folder, arguments, data, needs)


def _package(script: str, *needs: str) -> Program:
    return Program(script, "", ".", f"{script}.py", None, needs)


_DIGITS = digits(96, 64)
_NANO = (
    "train.py --device=cpu --compile=False --dtype=float32 --dataset=random --max_iters=4 "
    "--eval_interval=2 --eval_iters=2 --batch_size=2 --block_size=32 --n_layer=2 --n_head=2 "
    "--n_embd=32 --gradient_accumulation_steps=2 --dropout=0.1"
)
_WORDS = "main.py --data words --epochs 1 --emsize 16 --nhid 16 --nlayers 2 --batch_size 4"
PROGRAMS = (
    _example(
        "mnist", "main.py --epochs 1 --batch-size 32 --log-interval 1", _DIGITS, "torchvision"
    ),
    _example("mnist_rnn", "main.py --epochs 1 --batch-size 32", _DIGITS, "torchvision"),
    _example("vae", "main.py --epochs 1 --batch-size 32", _DIGITS, "torchvision"),
    _example("siamese_network", "main.py --epochs 1 --dry-run", _DIGITS, "torchvision"),
    _example(
        "mnist_forward_forward",
        "main.py --epochs 2 --train_size 32 --test_size 16",
        digits(64, 32, "data"),
        "torchvision",
    ),
    _example(
        "dcgan",
        "main.py --dataset fake --dry-run --manualSeed 1 --batchSize 4 --ngf 8 --ndf 8 --workers 0",
        None,
        "torchvision",
    ),
    _example(
        "super_resolution",
        "main.py --upscale_factor 3 --batchSize 2 --nEpochs 1 --testBatchSize 2 --threads 0",
        pictures,
        "torchvision",
        "six",
    ),
    _example("word_language_model", _WORDS + " --model LSTM", words, name="language_model_lstm"),
    _example(
        "word_language_model",
        _WORDS + " --model Transformer --nhead 2",
        words,
        name="language_model_transformer",
    ),
    _example("fx", "invert.py", name="fx_invert"),
    Program("nanoGPT", "nanoGPT", ".", _NANO, tokens),
    Program(
        "minGPT",
        "minGPT",
        ".",
        "projects/adder/adder.py --data.ndigit=1 --trainer.max_iters=5 --trainer.num_workers=0",
    ),
    _package("gpt2_generates", "transformers"),
    _package("mamba_trains", "transformers"),
    _package("bert_trains_bf16", "transformers", "accelerate"),
    _package("vision_transformer", "timm"),
    _package("mobilenet_autocast", "torchvision"),
    _package("graph_network", "torch_geometric"),
    _package("lightning_fits", "pytorch_lightning"),
    _package("t5_beams", "transformers"),
)


@dataclass
class Run:
    """What one run of a program showed."""

    code: int
    output: str
    errors: str
    operators: Counter[str] = field(default_factory=Counter)


@dataclass
class Read:
    """What its recording says."""

    rows: int
    lost_ids: int
    no_forward: int
    backward: int
    resolved: int
    lines: int


class Ground:
    """Runs programs, each time in a fresh copy of their folder."""

    def __init__(self, clones: Path, packages: Path | None, scratch: Path) -> None:
        self.clones, self.packages, self.scratch = clones, packages, scratch

    def missing(self, program: Program) -> str:
        """What it needs and is not here; empty where it can run."""
        if program.clone and not (self.clones / program.clone).is_dir():
            return f"no clone {program.clone}"
        roots = [str(self.packages)] if self.packages else []
        sys.path[:0] = roots
        lacks = [one for one in program.needs if importlib.util.find_spec(one) is None]
        del sys.path[: len(roots)]
        return f"no package {', '.join(lacks)}" if lacks else ""

    def run(self, program: Program, before: Sequence[str]) -> Run:
        """Run ``python *before command``. What the process counts it leaves in ``counts.json``."""
        folder = self._copy(program)
        counts = self.scratch / "counts.json"
        counts.unlink(missing_ok=True)
        done = subprocess.run(
            [sys.executable, *before, *program.command.split()],
            cwd=folder,
            env=self._environment(folder, program),
            check=False,
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            stdin=subprocess.DEVNULL,
        )
        told = json.loads(counts.read_text()) if counts.exists() else {}
        return Run(done.returncode, _plain(done.stdout), _plain(done.stderr), Counter(told))

    def _copy(self, program: Program) -> Path:
        shutil.rmtree(self.scratch / "program", ignore_errors=True)
        whole = self.scratch / "program"
        if program.clone:
            shutil.copytree(self.clones / program.clone, whole, ignore=_not_git)
        else:
            whole.mkdir()
            (whole / program.command).write_text(SCRIPTS[program.name])
        folder = whole / program.folder
        random.seed(0)
        numpy.random.seed(0)
        if program.data:
            program.data(folder)
        return folder

    def _environment(self, folder: Path, program: Program) -> dict[str, str]:
        paths = [str(ROOT), str(folder)] + [str(self.packages)] * bool(self.packages)
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",
            "MPLBACKEND": "agg",
            "HF_HUB_OFFLINE": "1",
        }


def _not_git(_folder: str, names: list[str]) -> set[str]:
    return {".git"} & set(names)


def _plain(text: str) -> str:
    """Without what differs from run to run: times, and our own words."""
    lines = (
        line
        for line in text.splitlines()
        if not line.startswith(("torchnav: ", "building the compiled"))
    )
    return _NOISE.sub("#", "\n".join(lines))


# ------------------------------------------------------------------------------ operators


def profiled(out: Path, command: Sequence[str]) -> None:
    """Run a program under torch.profiler and write how often each operator ran."""
    import atexit
    import runpy

    from torch._C._profiler import _ExperimentalConfig
    from torch.profiler import ProfilerActivity, profile

    config = _ExperimentalConfig(profile_all_threads=True, capture_overload_names=True)
    profiler = profile(activities=[ProfilerActivity.CPU], experimental_config=config)

    def write() -> None:
        profiler.__exit__(None, None, None)
        events = profiler.profiler.kineto_results.experimental_event_tree()
        out.write_text(json.dumps(Counter(_operators(events))))

    sys.argv[:] = command
    sys.path[0] = os.path.dirname(os.path.abspath(command[0]))
    profiler.__enter__()
    atexit.register(write)
    runpy.run_path(command[0], run_name="__main__")


def _operators(events: Iterable[Any]) -> Iterator[str]:
    from torch._C._profiler import RecordScope, _EventType

    waiting = list(events)
    while waiting:
        event = waiting.pop()
        waiting += event.children
        if event.tag == _EventType.TorchOp and event.extra_fields.scope == RecordScope.FUNCTION:
            name: str = event.name
            if "::" in name and not name.startswith("autograd::engine"):
                yield name


def recorded(path: Path) -> Counter[str]:
    """How often each operator ran by a recording."""
    trace = read_trace(path)
    return Counter(op.name for op in trace.ops() if op.kind == "op" and op.duration_us)  # that ran


def read(path: Path, index: Index) -> Read:
    """Whether what a recording says is whole."""
    trace = read_trace(path)
    rows = list(trace_rows(trace, Linker(trace, index)))
    ids = {row["id"] for row in rows if row["kind"] in ("op", "node", "call", "region")}
    named = [
        value
        for row in rows
        for key, value in row.items()
        if value is not None and (key == "parent" or (key.endswith("_id") and key != "kernel_id"))
    ]
    ops = [row for row in rows if row["kind"] == "op"]
    backward = [row for row in ops if row["phase"] == "backward"]
    return Read(
        len(rows),
        sum(value not in ids for value in named),
        sum(row["forward_id"] is None for row in backward),
        len(backward),
        sum(row["status"] == "exact" for row in ops),
        sum(row["user"] is not None for row in ops),
    )


# --------------------------------------------------------------------------------- report


def report(program: Program, ground: Ground, index: Index) -> Iterator[str]:
    """One line for each recorder, and one for each difference."""
    if missing := ground.missing(program):
        yield f"{program.name:28} left out: {missing}"
        return
    alone, again = ground.run(program, []), ground.run(program, [])
    counted = ground.run(
        program,
        ["-m", "benchmarks.outside_programs", "--profile", str(ground.scratch / "counts.json")],
    )
    if alone.code:
        yield f"{program.name:28} does not run here: {alone.errors[-_CUT:]}"
        return
    if not counted.operators:
        yield f"{program.name:28} does not run under torch.profiler: {counted.errors[-_CUT:]}"
        return
    if alone.output != again.output:
        yield f"{program.name:28} differs from run to run: its output is not compared"
    for recorder in ("compiled", "no-compiled"):
        path = ground.scratch / f"{program.name}-{recorder}.json"
        path.unlink(missing_ok=True)
        ours = ground.run(program, ["-m", "navigator", "trace", f"--{recorder}", "-o", str(path)])
        ours.operators = recorded(path)
        yield _line(program, recorder, ours, read(path, index))
        yield from (f"    {one}" for one in _differences(alone, again, counted.operators, ours))


def _line(program: Program, recorder: str, run: Run, read: Read) -> str:
    count = run.operators.total()
    return (
        f"{program.name:28} {recorder:12} {count:8,} operators; {read.rows:8,} rows, "
        f"{read.lost_ids} lost ids; {read.no_forward} of {read.backward:,} without forward; "
        f"resolved {read.resolved / max(count, 1):.1%}, with line {read.lines / max(count, 1):.1%}"
    )


def _differences(alone: Run, again: Run, counted: Counter[str], ours: Run) -> Iterator[str]:
    if alone.code != ours.code:
        yield f"EXIT {alone.code} alone, {ours.code} recorded"
    for what, before, after in (
        ("OUTPUT", alone.output, ours.output),
        ("ERRORS", alone.errors, ours.errors),
    ):
        if before != after and alone.output == again.output:
            yield f"{what} differs: {_first_difference(before, after)}"
    more, fewer = ours.operators - counted, counted - ours.operators
    if more or fewer:
        yield f"OPERATORS more: {dict(more.most_common(5))}; fewer: {dict(fewer.most_common(5))}"


def _first_difference(before: str, after: str) -> str:
    pairs = zip([*before.splitlines(), ""], [*after.splitlines(), ""], strict=False)
    one = next(((a, b) for a, b in pairs if a != b), (before[-_CUT:], after[-_CUT:]))
    return f"{one[0][:_CUT]!r} alone, {one[1][:_CUT]!r} recorded"


def main() -> int:
    """The command line."""
    if sys.argv[1:2] == ["--profile"]:
        profiled(Path(sys.argv[2]), sys.argv[3:])
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--tree", help="a checkout with the kernels; the wheel has none")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path, help="a folder for the recordings")
    options = parser.parse_args()
    index = Index.open(Source.find(options.tree))
    wanted = options.only.split(",") if options.only else [one.name for one in PROGRAMS]
    with tempfile.TemporaryDirectory(prefix="torchnav-outside") as scratch:
        packages = options.packages and options.packages.resolve()
        ground = Ground(options.clones.resolve(), packages, options.keep or Path(scratch))
        for program in PROGRAMS:
            if program.name in wanted:
                for line in report(program, ground, index):
                    print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
