"""Quality of ``affected`` on real commits, and on edits of one backend's kernels.

    python -m benchmarks.affected_commits history /path/to/scratch/clone [--commits 40] [--seed 1]
    python -m benchmarks.affected_commits edits /path/to/pytorch [--edits 30] [--seed 1]

``history`` checks out the parent of each sampled commit, applies its sources without its tests, and
checks whether the title's operators are among the first five, and whether its tests are found. It
changes the clone, so give it one of its own. ``edits`` takes kernels of one backend and counts the
operators reported for an edit, by whether they have a kernel for its keys.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.commits import git, go_to_parent
from indexes.model.impact import Affected
from indexes.model.vocabulary import Definition
from indexes.queries.impact.affected import affected
from indexes.queries.impact.answers import Impacts
from indexes.queries.impact.graph import Node
from indexes.queries.impact.walk import Start
from indexes.queries.index import Index
from indexes.source.source import Source

_SOURCES = ("aten/src/ATen/", "torch/", "tools/autograd/", "docs/source/")
_ENGLISH = frozenset(
    "add all and any as at bool build by can case clone copy data dim divide enable eq expand"
    " fill fix flip for from ge in index is item log lt max min mode move names ne no not one or"
    " remove repeat"
    " return set size sort split stack sum t take test to type unsafe view where zero zeros".split()
)
"""Names of operators that titles use as ordinary words."""
_OTHER = ("/jit/", "quantiz", "distributed", "/onnx/", "/_internal/", "/fx/", "caffe2")
"""Parts of paths of files without operators, pages or classes of the library."""
_FIRST = 5
_MOST_FILES = 15
"""Commits with more files are no single change."""


class Commit(NamedTuple):
    """A commit of a history with its files."""

    name: str
    title: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]


def commits(root: Path, count: int, seed: int, since: str) -> list[Commit]:
    """Sampled commits that change sources and tests, oldest first."""
    log = git(
        root,
        "log",
        "--no-merges",
        "--remotes",
        f"--since={since}",
        "--name-only",
        "--format=%x00%H%x01%s",
    )
    found = []
    for block in log.split("\0")[1:]:
        head, *paths = [line for line in block.split("\n") if line]
        name, _, title = head.partition("\x01")
        tests = tuple(p for p in paths if p.startswith("test/") and p.endswith(".py"))
        sources = tuple(p for p in paths if p.startswith(_SOURCES) and not p.startswith("test/"))
        other = any(part in path for path in sources for part in _OTHER)
        if (
            sources
            and tests
            and not other
            and len(paths) <= _MOST_FILES
            and "revert" not in title.lower()
        ):
            found.append(Commit(name, title, sources, tests))
    drawn = random.Random(seed).sample(range(len(found)), min(count, len(found)))
    return [found[at] for at in sorted(drawn, reverse=True)]


def _operators_named(title: str, index: Index) -> set[str]:
    """The operators named in a title."""
    words = set(re.findall(r"[a-z_][a-z0-9_]{2,}", title)) - _ENGLISH
    return {word.strip("_") for word in words if index.facts.overloads(word)}


def _first_names(found: Affected) -> list[str]:
    names = (one.name.partition(".")[0].strip("_") for one in found.impact.operators)
    return list(dict.fromkeys(names))[:_FIRST]


def history(root: Path, drawn: Sequence[Commit]) -> Iterator[str]:
    """A line for each commit, and the sums."""
    named = first = tests = tests_named = 0
    for one in drawn:
        go_to_parent(root, one.name)
        kept = [p for p in one.sources if _has(root, one.name, p)]
        gone = [p for p in one.sources if p not in kept and (root / p).exists()]
        if kept:
            git(root, "checkout", one.name, "--", *kept)
        for path in gone:
            (root / path).unlink()
        index = Index.open(Source.find(str(root)))
        begun = time.perf_counter()
        found = affected(index, "HEAD")
        took = time.perf_counter() - begun
        wanted = _operators_named(one.title, index)
        got = _first_names(found)
        files = {test.path for test in found.impact.tests}
        changed = [p for p in one.tests if (root / p).exists()]
        missed = [p for p in changed if p not in files]
        index.close()
        hit = any(f"_{name}".endswith(f"_{word}") for word in wanted for name in got)
        named, first = named + bool(wanted), first + hit
        tests, tests_named = tests + len(changed), tests_named + len(changed) - len(missed)
        yield f"{one.name[:9]} {took:5.1f} s {len(found.impact.operators):4} {one.title[:70]}"
        if wanted and not hit:
            yield f"    title {sorted(wanted)}, first {got}"
        if missed:
            yield f"    of {len(files)} test files not {missed}; sources {one.sources[:4]}"
    yield f"operators of titles among the first five: {first} of {named}"
    yield f"changed test files named: {tests_named} of {tests}"


def _has(root: Path, commit: str, path: str) -> bool:
    return bool(git(root, "ls-tree", "--name-only", commit, "--", path).strip())


# --------------------------------------------------------------------------------- edits

_BACKENDS = ("Sparse", "MPS", "Quantized", "Nested", "CUDA", "Mkldnn", "XPU")


def edits(root: Path, count: int, seed: int) -> Iterator[str]:
    """Kernels of one backend, and the operators reported for an edit: counts of those with a kernel
    for one of its keys, a composite one, or neither."""
    index = Index.open(Source.find(str(root)))
    registered: dict[str, set[str]] = {}
    keys: dict[Definition, set[str]] = {}
    for row in index.kernel_rows():
        registered.setdefault(row.op, set()).add(row.key)
        for definition in row.definitions:
            keys.setdefault(definition, set()).add(row.key)
    wanted = [one for one, served in keys.items() if all(k.startswith(_BACKENDS) for k in served)]
    sums, numbers = Counter[str](), []
    for one in random.Random(seed).sample(wanted, min(count, len(wanted))):
        known = index.facts.known(one)
        if known is None:
            continue
        found = Impacts(index).of([Start(Node.of(known), "it changes")], tests=False)
        kinds = Counter(_kind(registered.get(o.name, set()), keys[one]) for o in found.operators)
        numbers.append(len(found.operators))
        sums += kinds
        folded = sum(each.count for each in found.folded)
        yield f"{len(found.operators):4} + {folded:4} folded  {dict(kinds)}  {one.qualified}"
    yield f"operators named: median {statistics.median(numbers)}, most {max(numbers)}; {dict(sums)}"


def _kind(registered: set[str], edited: set[str]) -> str:
    if registered & edited:
        return "own"
    return "composite" if any(k.startswith("Composite") for k in registered) else "other"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("history", "edits"))
    parser.add_argument("tree", type=Path)
    parser.add_argument("--commits", type=int, default=40)
    parser.add_argument("--edits", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--since", default="2020-06-01")
    options = parser.parse_args()
    root = options.tree.resolve()
    if options.what == "history":
        lines = history(root, commits(root, options.commits, options.seed, options.since))
    else:
        lines = edits(root, options.edits, options.seed)
    for line in lines:
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
