"""A cold index of everything, beside Universal Ctags over the C++ files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.harness import Bench, Comparison, Cost, Figure
from indexes.source.source import Source

NEEDS = ("ctags",)
_READ = ("cpp", "python", "test")
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
    """CPU, wall and memory of building the index, and what finding its links again costs."""
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
    yield Comparison(
        (Figure("cold index, CPU, C++ and Python files", None, "cpu"),),
        bench.torchnav("index", "--force"),
        "ctags, C++ and Python",
        bench.command((*_ALL, "-L", str(_same_files(bench)))),
        bench.runs,
    )
    yield Comparison(
        (Figure("audit of all operators", None),),
        bench.torchnav("audit"),
        "cold index",
        bench.torchnav("index", "--force"),
        1,
    )


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
