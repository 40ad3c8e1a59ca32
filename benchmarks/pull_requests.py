"""Quality of ``contribute`` before a change, compared with the pull request that made it.

    git clone --shared /path/to/pytorch /path/to/scratch
    python -m benchmarks.pull_requests /path/to/scratch [--each 12] [--seed 1] [--since 2020-01-01]

The clone is changed: give it one of its own. With ``--keep DIR`` the index of each parent is kept
there, 36 MB each, so that a second run asks only. For each commit drawn the tree of its parent is
indexed and asked as a person would ask who knows what is to be done, but not where; of the answer,
the files are compared with those of the commit. Printed are, for each class, the sources and the
test files that the answer names, how many files it names, and every miss.

Which class a commit is of and what is asked: ``benchmarks.questions``.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.commits import Hits, Parents, commits, compared
from benchmarks.questions import CLASSES, Case, questions
from indexes.model.errors import NotFound, UsageError
from indexes.queries.changes.planning import Changes
from indexes.queries.contribution.plan import Contribution, Contributions
from indexes.queries.index import Index


@dataclass(frozen=True, slots=True)
class Outcome:
    """A question with its answer."""

    case: Case
    sources: Hits
    tests: Hits
    likely: Hits
    """Both again, held against the files that the answer says will change."""
    note: str = ""


# --------------------------------------------------------------------------------- answers


def outcomes(root: Path, cases: Sequence[Case], keep: Path) -> Iterator[Outcome]:
    """The answers, each from the index of the commit's parent."""
    parents = Parents(root, keep)
    for case in cases:
        with parents.of(case.commit) as index:
            files, likely, tests, note = planned(index, case)
        changed = [path for path in case.commit.sources if (root / path).exists()]
        sources = [path for path in changed if not _is_given(case, path)]
        there = [path for path in case.commit.tests if (root / path).exists()]
        said = [path for path in likely if not _is_given(case, path)]
        right = compared(said, [*sources, *there])
        found = (compared(files, sources), compared(tests, there), right)
        yield Outcome(case, *found, note)


def _is_given(case: Case, path: str) -> bool:
    """Whether the question itself names a file."""
    return any(one.startswith(f"{path}:") for one in case.subjects)


def planned(index: Index, case: Case) -> tuple[set[str], set[str], set[str], str]:
    """The files that the answer names, those of them that it says will change, those that it names
    as tests or at all, and a note. What is there already is asked for by its name alone too."""
    parts = [_asked(index, subject, case.wanted) for subject in case.subjects]
    files, likely, tests = (set[str]().union(*some) for some in list(zip(*parts, strict=True))[:3])
    return files, likely, tests, "; ".join(dict.fromkeys(part[3] for part in parts if part[3]))


def _asked(index: Index, name: str, wanted: str) -> tuple[set[str], set[str], set[str], str]:
    """The same of one name."""
    note = ""
    read, tests, edited = set[str](), set[str](), set[str]()
    if wanted:
        try:
            plan = Changes(index, histories=0).of_op(name, wanted)
            read = {step.location.path for step in plan.steps}
            read |= {step.location.path for step in plan.related}
            tests = {*read, *(test.path for test in plan.tests)}
            edited = set(plan.files)
            if plan.there is None:
                return read, edited, tests, ""
            note = f"it is there: {plan.there}"
        except (NotFound, UsageError) as error:
            note = f"--for {wanted}: {error}"
    try:
        answer = Contributions(index).of(name, histories=0)
    except NotFound as error:
        return read, edited, tests, f"{note} {error}"
    files = {*read, *answer.files}
    return files, edited or set(answer.will_change), {*tests, *_tests(answer)}, note


def _tests(answer: Contribution) -> Iterator[str]:
    yield from answer.files
    for _, found in answer.tests:
        yield from (run.path for run in (*found.files, *found.named))
        yield from (one.location.path for one in found.opinfos)


def report(found: Sequence[Outcome]) -> Iterator[str]:
    """A line for each class."""
    groups = defaultdict(list)
    for one in found:
        groups[one.case.kind].append(one)
    heads = f"{'sources':>12} {'tests':>12} {'planned':>8} {'right':>6} {'will change right':>18}"
    yield f"{'class':12} {'PRs':>4} {heads}"
    for kind in (kind for kind in CLASSES if kind in groups):
        some = groups[kind]
        planned_files = [one.sources.planned for one in some]
        named = sum(len(one.sources.named) for one in some)
        share = named / max(1, sum(planned_files))
        sources, tests = _sum([one.sources for one in some]), _sum([one.tests for one in some])
        middle = statistics.median(planned_files)
        likely = _precision([one.likely for one in some])
        counts = f"{sources:>12} {tests:>12} {middle:8.0f} {share:6.0%} {likely:>18}"
        yield f"{kind:12} {len(some):4} {counts}"


def _precision(hits: Sequence[Hits]) -> str:
    right, said = sum(len(one.named) for one in hits), sum(one.planned for one in hits)
    return f"{right}/{said} {right / said:.0%}" if said else "none"


def _sum(hits: Sequence[Hits]) -> str:
    named = sum(len(one.named) for one in hits)
    total = named + sum(len(one.missed) for one in hits)
    return f"{named}/{total} {named / total:.0%}" if total else "none"


def told(one: Outcome) -> Iterator[str]:
    """A commit with the files that were missed."""
    case = one.case
    yield f"{case.commit.name[:10]} {case.kind}: {case.commit.title[:80]}"
    yield f"    contribute {case.asked}: {one.sources.planned} files {one.note}"
    for what, hits in (("source", one.sources), ("test", one.tests)):
        for path in hits.missed:
            yield f"    missed {what} {path}"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tree", type=Path, help="a clone of PyTorch that may be changed")
    parser.add_argument("--each", type=int, default=12, help="commits of a class")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--since", default="2020-01-01")
    parser.add_argument("--keep", type=Path, help="a folder for the indexes of the parents")
    parser.add_argument("--class", dest="classes", action="append", choices=CLASSES, metavar="NAME")
    parser.add_argument("--list", action="store_true", help="the questions alone")
    options = parser.parse_args()
    root = options.tree.resolve()
    drawn = commits(root, options.since)
    cases = questions(root, drawn, options.each, options.seed, options.classes or CLASSES)
    if options.list:
        for case in cases:
            print(case.kind, case.asked, case.commit.title, sep=" | ")
        return 0
    with tempfile.TemporaryDirectory(prefix="pull-requests") as aside:
        found = []
        for one in outcomes(root, cases, options.keep or Path(aside)):
            found.append(one)
            print("\n".join(told(one)), flush=True)
    print("\n".join(report(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
