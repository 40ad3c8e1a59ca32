"""Quality of ``contribute`` before a change, compared with the pull request that made it.

    git clone --shared /path/to/pytorch /path/to/scratch
    python -m benchmarks.pull_requests /path/to/scratch [--each 12] [--seed 1] [--since 2020-01-01]

The clone is changed: give it one of its own. With ``--keep DIR`` the index of each parent is kept
there, 36 MB each, so that a second run asks only. For each commit drawn the tree of its parent is
indexed and asked as a person would ask who knows what is to be done, but not where; of the answer,
the files are compared with those of the commit. Printed are, for each class, the sources and the
test files that the answer names, the sources that it does not fold and how many these are, and
every miss.

Which class a commit is of and what is asked: ``benchmarks.questions``.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.commits import Hits, Parents, commits, compared, recall
from benchmarks.questions import CLASSES, Case, questions
from indexes.model.errors import NotFound, UsageError
from indexes.queries.changes.model import Plan
from indexes.queries.changes.planning import Changes
from indexes.queries.contribution.plan import Contribution, Contributions
from indexes.queries.contribution.steps import Step
from indexes.queries.index import Index


class Named(NamedTuple):
    """The files of an answer."""

    files: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()
    """Those that it does not fold, as what such changes seldom edit."""
    likely: frozenset[str] = frozenset()
    """Those that it says will change."""
    tests: frozenset[str] = frozenset()
    """Those that it names as tests or at all."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A question with its answer."""

    case: Case
    sources: Hits
    shown: Hits
    """The same, of what the answer does not fold."""
    tests: Hits
    likely: Hits
    """Sources and tests, held against the files that the answer says will change."""
    note: str = ""


# --------------------------------------------------------------------------------- answers


def outcomes(root: Path, cases: Sequence[Case], keep: Path) -> Iterator[Outcome]:
    """The answers, each from the index of the commit's parent."""
    parents = Parents(root, keep)
    for case in cases:
        with parents.of(case.commit) as index:
            named = planned(index, case)
        changed = [path for path in case.commit.sources if (root / path).exists()]
        sources = [path for path in changed if not _is_given(case, path)]
        there = [path for path in case.commit.tests if (root / path).exists()]
        said = [path for path in named.likely if not _is_given(case, path)]
        yield Outcome(
            case,
            compared(named.files, sources),
            compared(named.shown, sources),
            compared(named.tests, there),
            compared(said, [*sources, *there]),
            named.note,
        )


def _is_given(case: Case, path: str) -> bool:
    """Whether the question itself names a file."""
    return any(f"{one}:".startswith(f"{path}:") for one in case.subjects)


def planned(index: Index, case: Case) -> Named:
    """The files that the answers name. What is there already is asked for by its name alone too."""
    parts = [_asked(index, subject, case.wanted) for subject in case.subjects]
    return Named(
        frozenset().union(*(one.files for one in parts)),
        frozenset().union(*(one.shown for one in parts)),
        frozenset().union(*(one.likely for one in parts)),
        frozenset().union(*(one.tests for one in parts)),
        "; ".join(dict.fromkeys(one.note for one in parts if one.note)),
    )


def _asked(index: Index, name: str, wanted: str) -> Named:
    """The same of one name."""
    of_plan = Named()
    if wanted:
        try:
            plan = Changes(index, histories=0).of_op(name, wanted)
        except (NotFound, UsageError) as error:
            of_plan = Named(note=f"--for {wanted}: {error}")
        else:
            of_plan = _of_plan(plan)
            if plan.there is None:
                return of_plan
    try:
        answer = Contributions(index).of(name, histories=0)
    except NotFound as error:
        return of_plan._replace(note=f"{of_plan.note} {error}")
    files, shown = {*answer.files}, _shown(answer.steps)
    return Named(
        of_plan.files | files,
        of_plan.shown | shown,
        of_plan.likely or frozenset(answer.will_change),
        of_plan.tests | {*_tests(answer)},
        of_plan.note,
    )


def _of_plan(plan: Plan) -> Named:
    steps = {step.location.path for step in plan.steps}
    files = frozenset(steps | {step.location.path for step in plan.related})
    tests = files | {test.path for test in plan.tests}
    note = f"it is there: {plan.there}" if plan.there else ""
    return Named(files, _shown(plan.related) | steps, frozenset(plan.files), tests, note)


def _shown(steps: Iterable[Step]) -> frozenset[str]:
    return frozenset(step.location.path for step in steps if step.change != "seldom")


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
    heads = f"{'sources':>12} {'tests':>12} {'shown':>12} {'files':>6} {'right':>6}"
    heads += f" {'will change right':>18}"
    yield f"{'class':12} {'PRs':>4} {heads}"
    for kind in (kind for kind in CLASSES if kind in groups):
        some = groups[kind]
        shown_files = [one.shown.planned for one in some]
        named = sum(len(one.shown.named) for one in some)
        share = named / max(1, sum(shown_files))
        sources, tests = recall([one.sources for one in some]), recall([one.tests for one in some])
        shown, middle = recall([one.shown for one in some]), statistics.median(shown_files)
        likely = _precision([one.likely for one in some])
        counts = f"{sources:>12} {tests:>12} {shown:>12} {middle:6.0f} {share:6.0%} {likely:>18}"
        yield f"{kind:12} {len(some):4} {counts}"


def _precision(hits: Sequence[Hits]) -> str:
    right, said = sum(len(one.named) for one in hits), sum(one.planned for one in hits)
    return f"{right}/{said} {right / said:.0%}" if said else "none"


def told(one: Outcome) -> Iterator[str]:
    """A commit with the files that were missed."""
    case = one.case
    yield f"{case.commit.name[:10]} {case.kind}: {case.commit.title[:80]}"
    count = f"{one.sources.planned} files, {one.shown.planned} shown"
    yield f"    contribute {case.asked}: {count} {one.note}"
    for path in sorted({*one.shown.missed} - {*one.sources.missed}):
        yield f"    folded source {path}"
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
    cases, left_out = questions(root, drawn, options.each, options.seed, options.classes or CLASSES)
    if options.list:
        for case in cases:
            print(case.kind, case.asked, case.commit.name[:10], case.commit.title, sep=" | ")
    said = ", ".join(f"{kind} {count}" for kind, count in left_out.items() if count)
    print(f"left out, as their messages say no subject: {said or 'none'}", flush=True)
    if options.list:
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
