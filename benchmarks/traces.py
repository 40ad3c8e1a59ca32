"""Opening large traces, compared with the fastest JSON parser on the same bytes."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness import Bench, Comparison, Figure
from benchmarks.synthesis import write_trace

NEEDS = ()
_PARSE = "import sys, orjson; orjson.loads(open(sys.argv[1], 'rb').read())"
_OPEN = """\
import os, sys
from pathlib import Path
from navigator.trace.readers import read_trace
read_trace(Path(sys.argv[1]), None, (lambda trace: os._exit(0)) if sys.argv[2:] else None)
os._exit(0)
"""


def figures(bench: Bench) -> Iterator[Comparison]:
    """First rows and all rows of three sizes."""
    with tempfile.TemporaryDirectory(prefix="torchnav-benchmark") as folder:
        file = Path(folder, "trace.json")
        for name, events, size in (
            ("130,000 events", 130_000, 0),
            ("1,000,000 events", 10**6, 0),
            ("1 GB", 0, 10**9),
        ):
            write_trace(file, events, size)
            yield from _opened(bench, name, file, events)


def _opened(bench: Bench, name: str, file: Path, events: int) -> Iterator[Comparison]:
    """In separate processes, started cold."""
    parse = bench.command((sys.executable, "-c", _PARSE, str(file)))
    runs = 1 if name == "1 GB" else bench.runs  # the parser needs 9 GB for it
    first = bench.command((sys.executable, "-c", _OPEN, str(file), "first"))
    yield Comparison((Figure(f"trace, {name}: first rows", 3.0),), first, "orjson", parse, runs)
    whole = bench.command((sys.executable, "-c", _OPEN, str(file)))
    wanted = (
        Figure(f"trace, {name}: all rows", None),
        Figure("  the same, CPU", None, "cpu"),
        Figure("  memory", None, "peak"),
        Figure("  memory, MiB", 1024 if events == 10**6 else None, "peak", " MiB", 1.0),
    )
    yield Comparison(wanted, whole, "orjson", parse, runs)
