"""Costs of further versions after the first, of sharing an index, and of larger trees.

python -m benchmarks /path/to/pytorch --only scale
python -m benchmarks.scale TREE...      # a table row for each tree, alone and after the last
"""

from __future__ import annotations

import contextlib
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.harness import Bench, Comparison, Cost, Figure, copied

NEEDS = ()
_SHARES = (1, 10, 30)
"""Percentage of files that differ from the first version."""


def figures(bench: Bench) -> Iterator[Comparison]:
    """Another version after the first, compared with the first; export and import of an index."""
    bench.torchnav("index")()
    cold = bench.torchnav("index", "--force")
    with copied(bench) as tree:
        chosen = _shuffled(tree)
        done = 0
        for share in _SHARES:
            upto = len(chosen) * share // 100
            _edit(chosen[done:upto])
            done = upto
            name = f"another version, {share} % of the files differ"
            yield Comparison(
                (Figure(f"{name}, CPU", None, "cpu"), Figure(f"{name}, wall", None)),
                _after(bench, tree),
                "cold index",
                cold,
                bench.runs,
            )
    yield from _shared(bench, cold)


def _shared(bench: Bench, cold: Callable[[], Cost]) -> Iterator[Comparison]:
    file = bench.cache / "shared.index"
    yield Comparison(
        (Figure("index --export, CPU", None, "cpu"),),
        bench.torchnav("index", "--export", str(file)),
        "cold index",
        cold,
        bench.runs,
    )
    size = Figure("exported file", 40, unit=" MB", scale=1e-6)
    yield Comparison((size,), lambda: Cost(wall=file.stat().st_size), runs=1)

    def imported() -> Cost:
        with tempfile.TemporaryDirectory(prefix="torchnav-benchmark") as cache:
            return bench.torchnav("index", "--cache", cache, "--import", str(file))()

    name = "index --import, the same contents"
    yield Comparison(
        (Figure(f"{name}, CPU", None, "cpu"), Figure(f"{name}, wall", None)),
        imported,
        "cold index",
        cold,
        bench.runs,
    )


def _shuffled(tree: Path) -> list[Path]:
    wanted = (".cpp", ".cu", ".h", ".py")
    files = sorted(p for p in tree.rglob("*") if p.suffix in wanted)
    random.Random(1).shuffle(files)
    return files


def _edit(files: list[Path]) -> None:
    """A content in which every line has moved."""
    for file in files:
        mark = b"# edited\n" if file.suffix == ".py" else b"// edited\n"
        file.write_bytes(mark + file.read_bytes())


def _after(bench: Bench, tree: Path) -> Callable[[], Cost]:
    """Indexing ``tree`` when the only index is that of the benchmark's tree."""

    def once() -> Cost:
        with _only_first(bench) as cache:
            return bench.torchnav("index", "--cache", str(cache), tree=tree)()

    return once


@contextlib.contextmanager
def _only_first(bench: Bench) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="torchnav-benchmark") as folder:
        indexes = Path(folder, "indexes")
        indexes.mkdir()
        for index in (bench.cache / "indexes").glob("*.db"):
            shutil.copy(index, indexes)
        yield Path(folder)


# ------------------------------------------------------------------------------ growth


def _row(tree: Path, previous: Path | None) -> str:
    from indexes.build.builder import index_path
    from indexes.queries.index import Index
    from indexes.source.source import Source

    source = Source.find(str(tree))
    size = sum(file.size for file in source.files()) / 1e6
    with tempfile.TemporaryDirectory(prefix="torchnav-benchmark") as cache:
        bench = Bench(tree, Path(cache), 1)
        cold = bench.torchnav("index", "--force")()
        asked = min(bench.torchnav("op", "mul.Tensor", "--json")().wall for _ in range(5))
        with contextlib.closing(Index.open(source, Path(cache))) as index:
            operators, files = len(index.operators()), index.report.files
        stored = index_path(source, Path(cache)).stat().st_size / 1e6
    after = _after_previous(tree, previous) if previous else ""
    return (
        f"| {source.info.version} | {files:,} | {size:.0f} | {operators:,} | {cold.cpu:.1f}"
        f" | {cold.peak:.0f} | {stored:.1f} | {asked * 1e3:.0f} | {after} |"
    )


def _after_previous(tree: Path, previous: Path) -> str:
    from indexes.source.source import Source
    from indexes.source.walk import SourceFile

    def contents(root: Path) -> set[tuple[str, bytes]]:
        files: Iterator[SourceFile] = Source.find(str(root)).files()
        return {(file.path, (root / file.path).read_bytes()) for file in files}

    ours = contents(tree)
    differ = len(ours - contents(previous)) / len(ours)
    with tempfile.TemporaryDirectory(prefix="torchnav-benchmark") as cache:
        bench = Bench(previous, Path(cache), 1)
        bench.torchnav("index")()
        cost = bench.torchnav("index", tree=tree)()
    return f"{cost.cpu:.1f} ({differ:.0%} differ)"


def main() -> int:
    """Prints a Markdown table of growth over the given trees."""
    print(
        "| version | files | source, MB | overloads | cold, CPU s | peak, MiB | index, MB"
        " | `op`, ms | after the row above, CPU s |"
    )
    print("|---" * 9 + "|")
    previous: Path | None = None
    for name in sys.argv[1:]:
        tree = Path(name).resolve()
        print(_row(tree, previous), flush=True)
        previous = tree
    return 0


if __name__ == "__main__":
    sys.exit(main())
