"""A cold index of everything, beside Universal Ctags over the C++ files."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.harness import Bench, Comparison, Figure

NEEDS = ("ctags",)
_CTAGS = (
    "ctags", "-R", "--languages=C++", "--langmap=C++:+.cu.cuh.mm", "--kinds-C++=f",
    "--exclude=third_party", "-f", "-", "aten", "c10", "torch/csrc",
)  # fmt: skip


def figures(bench: Bench) -> Iterator[Comparison]:
    """CPU, wall and memory of building the index, and what finding its links again costs."""
    yield Comparison(
        (
            Figure("cold index, CPU", 4.0, "cpu"),
            Figure("cold index, wall", 2.5, "wall"),
            Figure("cold index, largest process", 96, "peak", " MiB", 1.0),
        ),
        bench.torchnav("index", "--force"), "ctags", bench.command(_CTAGS), bench.runs,
    )  # fmt: skip
    yield Comparison(
        (Figure("audit of all operators", 3.0),),
        bench.torchnav("audit"), "cold index", bench.torchnav("index", "--force"), 1,
    )  # fmt: skip
