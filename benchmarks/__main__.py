"""One table of all figures that torchnav promises about its cost.

    python -m benchmarks /path/to/pytorch [--runs 3] [--only warm,screen]

Each figure is a median; runs alternate with those of the baseline. Needs ripgrep and Universal
Ctags; modules whose tools are missing are skipped with a message.
"""

from __future__ import annotations

import argparse
import importlib
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.harness import HEADER, Bench, measured
from indexes.source.files import YAML

MODULES = ("cold", "warm", "keystrokes", "screen", "traces", "ranks", "capture_overhead", "scale")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tree", type=Path, help="a PyTorch checkout")
    parser.add_argument("--runs", type=int, default=3, help="of what takes seconds")
    parser.add_argument("--only", default=",".join(MODULES), help="modules, with commas")
    options = parser.parse_args()
    if not (options.tree / YAML["checkout"]).is_file():
        parser.error(f"{options.tree} is no checkout of PyTorch: it has no {YAML['checkout']}")
    with tempfile.TemporaryDirectory(prefix="torchnav-benchmark") as cache:
        bench = Bench(options.tree.resolve(), Path(cache), options.runs)
        print(HEADER)
        for name in options.only.split(","):
            _measure(name, bench)
    return 0


def _measure(name: str, bench: Bench) -> None:
    module = importlib.import_module(f"benchmarks.{name}")
    if missing := [tool for tool in module.NEEDS if shutil.which(tool) is None]:
        print(f"{name}: left out, {', '.join(missing)} not installed")
        return
    for comparison in module.figures(bench):
        for line in measured(comparison):
            print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
