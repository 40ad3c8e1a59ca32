"""What recordings of programs of many kinds hold: ids, backward passes, collectives, memory, cost.

    python -m benchmarks.live [--tree TREE] [--only ids,collectives,memory,cost,kernels,traces]
        [--programs NAME,...] [--keep FOLDER] [--traces FOLDER]

``ids`` and ``collectives`` run the programs of ``live_programs`` under both recorders, those with
two ranks over gloo. ``memory`` records allocations and compares them with torch.profiler's.
``cost`` takes user and system time of whole processes in turns, the start of Python and torch taken
off by runs without a step. ``kernels`` asks for the lines and operators of Inductor's kernels,
``traces`` how many ``aten`` rows of others' traces are resolved, as they are and without shapes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import run as timed
from benchmarks.live_programs import ONE_PROCESS, TWO_RANKS, text
from indexes.queries.index import Index
from indexes.source.source import Source
from navigator.trace.figures.blocks import ledgers
from navigator.trace.figures.collectives import NO_CAUSE
from navigator.trace.link import Linker
from navigator.trace.readers import read_trace
from navigator.trace.rows import trace_rows
from navigator.trace.table import OP
from navigator.trace.trace import BadTrace, Trace
from navigator.trace.views.collectives import collectives_view
from navigator.trace.views.view import Links

ROOT = Path(__file__).parents[1]
RECORDERS = ("compiled", "no-compiled")
_LIMIT_S = 900
_ROUNDS = 3
_ANEW = {"TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
_PROFILED = """\
import json, runpy, sys, torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile
chosen = dict(profile_memory=True, record_shapes=sys.argv[2] == "no-compiled")
with profile(activities=[ProfilerActivity.CPU], **chosen) as profiler:
    runpy.run_path(sys.argv[1], run_name="__main__")
profiler.export_chrome_trace("own.json")
events = json.load(open("own.json"))["traceEvents"]
totals = [one["args"]["Total Allocated"] for one in events if one["name"] == "[memory]"]
print("PEAK", max(totals))
"""


class Ground:
    """Runs the programs in a folder, and reads what was recorded."""

    def __init__(self, folder: Path, index: Index) -> None:
        self.folder, self.index = folder, index

    def plain(
        self,
        name: str,
        *before: str,
        environment: dict[str, str] | None = None,
        after: Sequence[str] = (),
    ) -> str:
        """What a program prints. Raises CalledProcessError."""
        (self.folder / "program.py").write_text(text(name))
        done = subprocess.run(
            [sys.executable, *before, "program.py", *after],
            cwd=self.folder,
            env=_environment() | (environment or {}),
            check=True,
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
        )
        return done.stdout

    def recorded(
        self, name: str, recorder: str, *options: str, environment: dict[str, str] | None = None
    ) -> list[Trace]:
        """The traces of a program: one of each rank."""
        self.clear()
        trace = ("-m", "navigator", "trace", f"--{recorder}", *options, "-o", "trace.json")
        if name in TWO_RANKS:
            self._ranks(name, trace)
        else:
            self.plain(name, *trace, environment=environment)
        return [read_trace(path) for path in sorted(self.folder.glob("trace*.json"))]

    def clear(self) -> None:
        """Traces of before must not be taken for those of now."""
        for path in self.folder.glob("trace*.json"):
            path.unlink()

    def _ranks(self, name: str, before: Sequence[str]) -> None:
        (self.folder / "program.py").write_text(text(name))
        meet = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": _free_port()}
        command = [sys.executable, *before, "program.py"]
        ranks = [
            subprocess.Popen(
                command,
                cwd=self.folder,
                env=_environment() | meet | {"RANK": str(rank)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for rank in range(2)
        ]
        for one in ranks:
            if one.wait(_LIMIT_S):
                raise subprocess.CalledProcessError(one.returncode, command)


def _environment() -> dict[str, str]:
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


# ------------------------------------------------------------------------ ids, backward


def ids(ground: Ground, programs: Sequence[str]) -> Iterator[str]:
    """Ids that name no row; operators of a backward pass without their forward operator."""
    for name in programs:
        for recorder in RECORDERS:
            traces = ground.recorded(name, recorder)
            rows: list[list[Any]] = [
                list(trace_rows(one, Linker(one, ground.index))) for one in traces
            ]
            lost = sum(lost_ids(some) for some in rows)
            ops = [row for some in rows for row in some if row["kind"] == "op"]
            backward = [row for row in ops if row["phase"] == "backward"]
            without = [row for row in backward if row["forward_id"] is None]
            why = Counter(str(row["forward_note"]) for row in without)
            yield (
                f"{name:16} {recorder:12} {len(ops):6} operators, {lost} lost ids; {len(without)} "
                f"of {len(backward)} without forward; {_part(ops)}  {dict(why) or ''}"
            )


def lost_ids(rows: Sequence[Any]) -> int:
    """How many ids of rows name no row."""
    known = {row["id"] for row in rows if row["kind"] not in ("device_kernel", "allocation")}
    named = [
        one
        for row in rows
        for key, value in row.items()
        if key == "parent" or key.endswith(("_id", "_ids"))
        for one in (value if isinstance(value, list) else [value])
        if one is not None
    ]
    return sum(one not in known for one in named)


def _part(ops: Sequence[Any]) -> str:
    states = Counter(row["status"] for row in ops)
    lines = sum(row["user"] is not None for row in ops)
    return f"{dict(states)}, {lines} with a line"


# -------------------------------------------------------------------------- collectives


def collectives(ground: Ground) -> Iterator[str]:
    """Those of two ranks that have their source in the tree and what asked for them."""
    for name in TWO_RANKS:
        for recorder in RECORDERS:
            traces = ground.recorded(name, recorder)
            views = [collectives_view(one, _linker(one, ground.index)) for one in traces]
            rows = [row for view in views for row in view.rows]
            placed = sum(row["source"] is not None for row in rows)
            caused = sum(row["cause"] != NO_CAUSE for row in rows)
            causes = Counter(str(row["cause"]) for row in rows)
            yield (
                f"{name:16} {recorder:12} {len(rows)} collectives, {placed} with source, {caused} "
                f"with cause: {dict(causes.most_common(6))}"
            )


def _linker(trace: Trace, index: Index) -> Links:
    return lambda: Linker(trace, index)


# ------------------------------------------------------------------------------- memory


def memory(ground: Ground, programs: Sequence[str]) -> Iterator[str]:
    """Allocations less frees against the last running total, the peak against torch.profiler's;
    both compile anew. A profiler that sees shapes, as ours without a compiler does, keeps what
    ``torch.func`` wraps: it is measured beside one that does too."""
    for name in programs:
        for recorder in RECORDERS:
            peak = _peak(ground, name, recorder)
            (trace,) = ground.recorded(name, recorder, "--memory", environment=_ANEW)
            ledger = next((one for one in ledgers(trace) if one.device == "cpu"), None)
            if ledger is None:
                yield f"{name:16} {recorder:12} no allocations"
                continue
            sizes = trace.table.allocations.size
            sums = sum(sizes[number] for number in ledger.moments)
            first = sizes[ledger.moments[0]]
            last, before = ledger.totals[-1], ledger.totals[0] - first
            yield (
                f"{name:16} {recorder:12} {len(ledger.moments)} events: sum {sums:,}, last total "
                f"{last:,}, before the first {before:,}; peak {max(ledger.totals):,}, the "
                f"profiler's {peak if peak is None else format(peak, ',')}"
            )


def _peak(ground: Ground, name: str, recorder: str) -> int | None:
    (ground.folder / "profiled.py").write_text(_PROFILED)
    try:
        told = ground.plain(name, "profiled.py", environment=_ANEW, after=(recorder,))
    except subprocess.CalledProcessError:  # the program has a profiler of its own
        return None
    return int(told.rpartition("PEAK ")[2])


# --------------------------------------------------------------------------------- cost

_TINY = """\
import sys, torch
torch.set_num_threads(1)
torch.manual_seed(0)
width, steps = int(sys.argv[1]), int(sys.argv[2])
net = torch.nn.Sequential(
    torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(width, width), torch.randint(0, 4, (width,))
for _ in range(steps):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
"""


def cost(ground: Ground) -> Iterator[str]:
    """User and system time of whole runs to untraced, and bytes an operator."""
    (ground.folder / "tiny.py").write_text(_TINY)
    for what, width, steps in (("tiny", 8, 3000), ("milliseconds", 1600, 60), ("three", 1600, 3)):
        for recorder in RECORDERS:
            yield _ratio(ground, what, recorder, width, steps)


def _ratio(ground: Ground, what: str, recorder: str, width: int, steps: int) -> str:
    """Both less a run without steps; the untraced program runs eight times as many where it is
    short beside its start."""
    trace = ("-m", "navigator", "trace", f"--{recorder}", "-o", "trace.json")
    longer = 8 if width < 100 else 1
    ratios, whole = [], []
    for _ in range(_ROUNDS):
        alone = _cpu(ground, (), width, steps * longer)
        start = _cpu(ground, (), width, 0)
        ours, own = _cpu(ground, trace, width, steps), _cpu(ground, trace, width, 0)
        ratios.append((ours - own) / ((alone - start) / longer))
        whole.append(ours / (start + (alone - start) / longer))
    ground.clear()
    timed(
        [sys.executable, *trace, "tiny.py", str(width), str(steps)], ground.folder, _environment()
    )
    path = ground.folder / "trace.json"
    ops = sum(kind == OP for kind in read_trace(path).table.kind)
    return (
        f"{what:14} {recorder:12} {statistics.median(ratios):.2f}x {_shown(ratios)}, starts "
        f"included {statistics.median(whole):.2f}x; {path.stat().st_size / ops:.0f} bytes an "
        f"operator of {ops:,}"
    )


def _shown(ratios: Sequence[float]) -> str:
    return "[" + ", ".join(f"{one:.2f}" for one in ratios) + "]"


def _cpu(ground: Ground, before: Sequence[str], width: int, steps: int) -> float:
    ground.clear()
    command = [sys.executable, *before, "tiny.py", str(width), str(steps)]
    return timed(command, ground.folder, _environment()).cpu


# ------------------------------------------------------------------------------ kernels


def kernels(ground: Ground) -> Iterator[str]:
    """Kernels that Inductor generated with a line of the user, and their operators with source."""
    for recorder in RECORDERS:
        (trace,) = ground.recorded("compiled", recorder)
        rows: list[Any] = list(trace_rows(trace, Linker(trace, ground.index)))
        made = [row for row in rows if (row.get("compiled") or {}).get("role") == "kernel"]
        lines = sum(bool(row["compiled"]["lines"] or row["user"]) for row in made)
        by_id = {row["id"]: row for row in rows if row["kind"] == "op"}
        nodes = [by_id[one] for row in made for one in row["compiled"]["operator_ids"]]
        named = sum("::" in row["name"] for row in nodes)
        placed = sum(row["schema"] is not None and row["kernel"] is not None for row in nodes)
        yield (
            f"compiled         {recorder:12} {lines} of {len(made)} kernels with a line; of "
            f"{len(nodes)} nodes {named} name their operator, {placed} its source"
        )


# ------------------------------------------------------------------------------- traces

_INPUTS = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")


def traces(ground: Ground, folder: Path) -> Iterator[str]:
    """Rows of ``aten`` in traces of others that are resolved, or have what candidates share."""
    for path in sorted(folder.rglob("*.json.gz")):
        try:
            yield f"{path.name[:48]:48} {_statuses(path, ground.index)}"
            yield f"{'  without shapes':48} {_statuses(_shapeless(path, ground), ground.index)}"
        except (BadTrace, ValueError, TypeError, KeyError) as error:
            yield f"{path.name[:48]:48} not read: {error}"


def _shapeless(path: Path, ground: Ground) -> Path:
    """A copy without what profilers record of inputs."""
    whole = json.loads(gzip.decompress(path.read_bytes()))
    for event in whole["traceEvents"] if isinstance(whole, dict) else whole:
        for name in _INPUTS:
            event.get("args", {}).pop(name, None)
    target = ground.folder / "shapeless.json"
    target.write_text(json.dumps(whole))
    return target


def _statuses(path: Path, index: Index) -> str:
    trace = read_trace(path)
    rows: Iterator[Any] = trace_rows(trace, Linker(trace, index))
    aten = [row for row in rows if row["kind"] == "op" and row["name"].startswith("aten::")]
    states = Counter(row["status"] for row in aten)
    known = states["exact"] + states["candidates"]
    lost = Counter(row["name"] for row in aten if row["status"] == "unknown")
    entries = sum(row["schema"] is not None or bool(row["candidates"]) for row in aten)
    whole = max(len(aten), 1)
    return (
        f"{len(aten):7,} aten rows, {entries / whole:7.2%} with their entry, {known / whole:7.2%} "
        f"with their function ({states['candidates']:,} by candidates) "
        f"{dict(lost.most_common(4)) or ''}"
    )


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tree", help="a checkout with the kernels; the wheel has none")
    parser.add_argument("--only", default="ids,collectives,memory,cost,kernels,traces")
    parser.add_argument("--programs", help="for ids and memory; else all")
    parser.add_argument("--traces", type=Path, default=ROOT / "tests" / "data" / "traces")
    parser.add_argument("--keep", type=Path, help="the folder that programs run in")
    options = parser.parse_args()
    index = Index.open(Source.find(options.tree))
    chosen = options.programs.split(",") if options.programs else None
    with tempfile.TemporaryDirectory(prefix="torchnav-live") as scratch:
        ground = Ground((options.keep or Path(scratch)).resolve(), index)
        parts = {
            "ids": lambda: ids(ground, chosen or [*ONE_PROCESS, *TWO_RANKS]),
            "collectives": lambda: collectives(ground),
            "memory": lambda: memory(ground, chosen or [*ONE_PROCESS]),
            "cost": lambda: cost(ground),
            "kernels": lambda: kernels(ground),
            "traces": lambda: traces(ground, options.traces),
        }
        for part in options.only.split(","):
            for line in parts[part]():
                print(f"{part}: {line}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
