"""How much of torchgen's output is explained: for every operator and generated file, a piece, a
reason for its absence, or neither.

``python benchmarks/generated.py [TREE]``
"""

from __future__ import annotations

import sys
import time
from collections import Counter

from indexes.model.errors import TorchnavError
from indexes.queries.index import Index
from indexes.source.source import Source
from navigator.live.generated.query import generated


def main(tree: str | None) -> None:
    """Prints the counts."""
    index = Index.open(Source.find(tree))
    counts: Counter[str] = Counter()
    silent: Counter[str] = Counter()
    slowest = 0.0
    for one in index.operators():
        if not one.location.path.endswith("native_functions.yaml"):
            continue  # of a TORCH_LIBRARY block: torchgen does not know it
        start = time.perf_counter()
        try:
            answer = generated(index.source, one.full_name.removeprefix("aten::"))
        except TorchnavError as error:
            counts["operators with an error"] += 1
            print(error)
            continue
        slowest = max(slowest, time.perf_counter() - start)
        counts["operators"] += 1
        counts["pieces"] += len(answer.pieces)
        counts["files with a piece"] += len({piece.family for piece in answer.pieces})
        for absence in answer.absences:
            said = bool(absence.reason)
            counts["files with a reason" if said else "files without a word"] += len(
                absence.families
            )
            silent.update(() if said else absence.families)
    for name, count in counts.items():
        print(f"{count:>9,} {name}")
    print(f"without a word: {dict(silent.most_common(12))}")
    print(f"slowest after the first: {slowest:.2f} s")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
