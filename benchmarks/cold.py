"""A cold index of everything, compared with Universal Ctags on the C++ files."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.harness import Bench, Comparison, Cost, Figure
from indexes.build.builder import Builder
from indexes.build.scan import read_file
from indexes.model.errors import Progress
from indexes.source.source import Source

NEEDS = ("ctags",)
_READ = ("cpp", "python", "test")
_KINDS = {"C++": ("cpp",), "Python, tests and pages": ("python", "test", "page")}
_CTAGS = (
    "ctags",
    "-R",
    "--languages=C++",
    "--langmap=C++:+.cu.cuh.mm",
    "--kinds-C++=f",
    "--exclude=third_party",
    "-f",
    "-",
    "aten",
    "c10",
    "torch/csrc",
)


_ALL = ("ctags", "--languages=C++,Python", "--langmap=C++:+.cu.cuh.mm", "--kinds-C++=f", "-f", "-")


def figures(bench: Bench) -> Iterator[Comparison]:
    """CPU, wall time and memory of an index build, its parts, and the cost of linking again."""
    yield Comparison(
        (
            Figure("cold index, CPU", 10.0, "cpu"),
            Figure("cold index, wall", None, "wall"),
            Figure("cold index, largest process", 200, "peak", " MiB", 1.0),
            Figure("cold index, on disk", 80, "disk", " MB", 1.0),
        ),
        lambda: _cold(bench),
        "ctags",
        ctags(bench),
        bench.runs,
    )
    for part, seconds in parts(bench).items():
        figure = Figure(f"  of it {part}", None, "cpu", " s", 1.0)
        yield Comparison((figure,), partial(Cost, cpu=seconds), runs=1)
    yield Comparison(
        (Figure("cold index, CPU, C++ and Python files", None, "cpu"),),
        bench.torchnav("index", "--force"),
        "ctags, C++ and Python",
        bench.command((*_ALL, "-L", str(_same_files(bench)))),
        bench.runs,
    )
    yield Comparison(
        (Figure("audit of all operators", None),),
        bench.torchnav("audit", ends_with=(0, 1)),  # 1 where a promise is not kept
        "cold index",
        bench.torchnav("index", "--force"),
        1,
    )


def parts(bench: Bench) -> dict[str, float]:
    """CPU seconds of the parts of one build. Reading, normally spread over processes, is measured
    in one, without passing results on."""
    gc.disable()  # as a build does
    source = Source.find(str(bench.tree))
    taken = {
        f"reading {kind}": _reading(bench.tree, source, kinds) for kind, kinds in _KINDS.items()
    }
    stage, since = "reading", time.process_time()

    def tell(progress: Progress) -> None:
        nonlocal stage, since
        if progress.stage != stage:
            _add(taken, stage, time.process_time() - since)
            stage, since = progress.stage, time.process_time()

    with tempfile.TemporaryDirectory() as cache:
        Builder(source, cache, tell).run(force=True)
    _add(taken, stage, time.process_time() - since)
    return taken


def _add(taken: dict[str, float], stage: str, seconds: float) -> None:
    name = "keeping what was read" if stage == "reading" else stage
    taken[name] = taken.get(name, 0.0) + seconds


def _reading(tree: Path, source: Source, kinds: Collection[str]) -> float:
    files = [file for file in source.files() if file.kind in kinds]
    started = time.process_time()
    for file in files:
        read_file((str(tree), source.roots), file)
    return time.process_time() - started


def _cold(bench: Bench) -> Cost:
    cost = bench.torchnav("index", "--force")()
    return replace(cost, disk=max(file.stat().st_size for file in bench.cache.rglob("*.db")) / 1e6)


def ctags(bench: Bench) -> Callable[[], Cost]:
    """Universal Ctags over the C++ files."""
    return bench.command(_CTAGS)


def _same_files(bench: Bench) -> Path:
    """A list of the C++ and Python files that an index reads, for ctags."""
    read = [f.path for f in Source.find(str(bench.tree)).files() if f.kind in _READ]
    listed = bench.cache / "files"
    listed.write_text("".join(f"{path}\n" for path in read), encoding="utf-8")
    return listed
