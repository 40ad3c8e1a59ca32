"""What ``contribute --new-op`` says, held against pull requests that added an operator.

    git clone --shared /path/to/pytorch /path/to/scratch
    python -m benchmarks.new_operators /path/to/scratch [--count 25] [--seed 1] [--since 2020-01-01]

The clone is changed: give it one of its own. With ``--keep DIR`` the indexes are kept there. Drawn
are commits that add an operator whose name the tree did not have, and that their titles name:
others add one on the way to something else. The tree of the parent is indexed and asked for the
schema that the commit added. Printed are the sources that the plan names surely, those that it
names at all, the part of the sure ones that the commit touched, its test files, how many drafts
torchgen takes, and every miss. Files that the commit made count in the last line alone: no tree of
a parent has them.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.commits import TESTS, Commit, Hits, Parents, commits, compared, diff, git, recall
from indexes.queries.contribution.neighbours import base_of
from indexes.queries.contribution.new_operator import NewOperator
from navigator.live.schema_check import plan_operator

_YAML = "aten/src/ATen/native/native_functions.yaml"
_MOST_FILES = 30
_ENTRY = re.compile(r"- func: *((\w+).*)")


@dataclass(frozen=True, slots=True)
class Case:
    """A commit as a question."""

    commit: Commit
    schema: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """A question with its answer."""

    case: Case
    plan: NewOperator
    surely: Hits
    """Sources."""
    named: Hits
    """The same, of all that is named, surely or perhaps."""
    tests: Hits
    made: int
    """Files that the commit made."""
    untouched: tuple[str, ...]
    """Sources that were named surely, and that it did not touch."""

    @property
    def taken(self) -> bool | None:
        """Whether torchgen takes the draft; None where it was not asked."""
        said = next((one for one in self.plan.checks if one.what == "torchgen"), None)
        return None if said is None or "not asked" in said.text else said.good


def cases(root: Path, found: Sequence[Commit], count: int, seed: int) -> list[Case]:
    """Commits that added an operator, drawn by seed, the oldest first."""
    order = [one for one in found if _YAML in one.paths]
    random.Random(seed).shuffle(order)
    drawn: list[Case] = []
    for commit in order:
        if len(drawn) < count and (schema := added_schema(root, commit)):
            drawn.append(Case(commit, schema))
    return sorted(drawn, key=lambda case: found.index(case.commit), reverse=True)


def added_schema(root: Path, commit: Commit) -> str:
    """The schema of the operator that a commit added, the functional one where it has one, and not
    its helper; empty where the tree had its name, or the title does not name it."""
    lines = [line for one in diff(root, commit) if one.path == _YAML for line in one.added]
    before = git(root, "show", f"{commit.name}~1:{_YAML}")
    known = {base_of(name) for name in re.findall(r"(?m)^- func: *(\w+)", before)}
    added = [match for line in lines if (match := _ENTRY.match(line))]
    fresh = [one for one in added if base_of(one[2]) not in known and _titled(one[2], commit.title)]
    fresh.sort(key=lambda one: ("!" in one[1], one[2].startswith("_")))
    return next((one[1].strip() for one in fresh), "")


def _titled(name: str, title: str) -> bool:
    """Whether a title names an operator, with its namespace or without it."""
    words = set(re.findall(r"[a-z0-9]+(?:_[a-z0-9]+)*", title.lower().replace(".", " ")))
    base = base_of(name).lower().lstrip("_")
    return base in words or base.partition("_")[2] in words


def outcomes(root: Path, asked: Sequence[Case], keep: Path) -> Iterator[Outcome]:
    """The answers, each from the index of the commit's parent."""
    parents = Parents(root, keep)
    for case in asked:
        with parents.of(case.commit) as index:
            yield _outcome(root, case, plan_operator(index, case.schema))


def _outcome(root: Path, case: Case, plan: NewOperator) -> Outcome:
    there = [path for path in case.commit.paths if (root / path).exists()]
    sources = [path for path in there if path in case.commit.sources]
    tests = [path for path in there if path in case.commit.tests]
    named = [one.location.path for one in plan.additions]
    surely = [one.location.path for one in plan.additions if one.certainty == "surely"]
    surely = [path for path in surely if not path.startswith(TESTS)]
    tested = [one.path for one in plan.tests]
    return Outcome(
        case,
        plan,
        compared(surely, sources),
        compared([path for path in named if not path.startswith(TESTS)], sources),
        compared([*named, *tested], tests),
        len(case.commit.paths) - len(there),
        tuple(sorted({*surely} - {*sources})),
    )


def told(one: Outcome) -> Iterator[str]:
    """One commit with what was missed."""
    yield f"{one.case.commit.name[:10]} {one.case.commit.title[:80]}"
    yield f"    --new-op '{one.case.schema}': {one.surely.planned} of {one.named.planned} surely"
    for what, hits in (("source", one.named), ("test", one.tests)):
        for path in hits.missed:
            yield f"    missed {what} {path}"
    for path in sorted(set(one.surely.missed) - set(one.named.missed)):
        yield f"    perhaps {path}"
    for path in one.untouched:
        yield f"    untouched {path}"
    if one.taken is False:
        yield f"    torchgen: {one.plan.checks[1].text}"


def report(found: Sequence[Outcome]) -> Iterator[str]:
    """What there is to hold against the bars."""
    surely = [one.surely for one in found]
    yield f"{len(found)} commits that added an operator"
    yield f"sources named surely: {recall(surely)}; at all: {recall([o.named for o in found])}"
    right, planned = sum(len(one.named) for one in surely), sum(one.planned for one in surely)
    yield f"of what is named surely touched: {right}/{planned} {right / max(1, planned):.0%}"
    yield f"test files: {recall([one.tests for one in found])}"
    asked = [one.taken for one in found if one.taken is not None]
    yield f"drafts that torchgen takes: {sum(asked)} of {len(asked)} asked"
    yield f"files that the commits made: {sum(one.made for one in found)}"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tree", type=Path, help="a clone of PyTorch that may be changed")
    parser.add_argument("--count", type=int, default=25, help="commits")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--since", default="2020-01-01")
    parser.add_argument("--keep", type=Path, help="a folder for the indexes of the parents")
    options = parser.parse_args()
    root = options.tree.resolve()
    asked = cases(root, commits(root, options.since, "", _MOST_FILES), options.count, options.seed)
    with tempfile.TemporaryDirectory(prefix="new-operators") as aside:
        found = []
        for one in outcomes(root, asked, options.keep or Path(aside)):
            found.append(one)
            print("\n".join(told(one)), flush=True)
    print("\n".join(report(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
