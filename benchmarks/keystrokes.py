"""The search engine for each key of a name, in a process that has an index open."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from benchmarks.harness import Bench, Comparison, Cost, Figure
from indexes.queries.index import Index
from indexes.source.source import Source

NEEDS = ()
_TYPED = ("softmax", "upsbil", "layer_norm", "conv2d", "BinaryOpsKernel", "at::native::add")


def figures(bench: Bench) -> Iterator[Comparison]:
    """Filtering the operators, and finding symbols and files."""
    bench.torchnav("index")()
    index = Index.open(Source.find(str(bench.tree)), bench.cache)
    index.operators()
    for name, search in (("operators", index.filter), ("symbols and paths", index.find)):
        yield Comparison(
            (
                Figure(f"per key: {name}, p50", 50, unit=" ms", scale=1e3),
                Figure(f"per key: {name}, p95", 100, unit=" ms", scale=1e3, percentile=95),
            ),
            _keys(search),
            runs=bench.several,
        )


def _keys(search: Callable[[str], object]) -> Callable[[], list[Cost]]:
    def typed() -> list[Cost]:
        costs = []
        for text in (word[:at] for word in _TYPED for at in range(1, len(word) + 1)):
            started = time.perf_counter()
            search(text)
            costs.append(Cost(wall=time.perf_counter() - started))
        return costs

    return typed
