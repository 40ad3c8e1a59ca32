"""A cold index of everything, beside Universal Ctags over the C++ files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
            Figure("cold index, CPU", 4.0, "cpu"),
            Figure("cold index, wall", 2.5, "wall"),
            Figure("cold index, largest process", 96, "peak", " MiB", 1.0),
        ),
        bench.torchnav("index", "--force"),
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
        (Figure("audit of all operators", 3.0),),
        bench.torchnav("audit"),
        "cold index",
        bench.torchnav("index", "--force"),
        1,
    )


def ctags(bench: Bench) -> Callable[[], Cost]:
    """Universal Ctags over the C++ files."""
    return bench.command(_CTAGS)


def _same_files(bench: Bench) -> Path:
    """A list of the C++ and Python files that an index reads, for ctags."""
    read = [f.path for f in Source.find(str(bench.tree)).files() if f.kind in _READ]
    listed = bench.cache / "files"
    listed.write_text("".join(f"{path}\n" for path in read), encoding="utf-8")
    return listed
