"""What ``contribute`` says before a change, held against the pull request that made it.

    git clone --shared /path/to/pytorch /path/to/scratch
    python -m benchmarks.pull_requests /path/to/scratch [--each 12] [--seed 1] [--since 2020-01-01]

The clone is changed: give it one of its own. With ``--keep DIR`` the index of each parent is kept
there, 36 MB each, so that a second run asks only. For each commit drawn the tree of its parent is
indexed and asked as a person would ask who knows what is to be done, but not where; of the answer,
the files are compared with those of the commit. Printed are, for each class, the sources and the
test files that the answer names, how many files it names, and every miss.

The class of a commit follows from its diff and title, the first that fits:

- It adds entries to native_functions.yaml: a new operator, which is measured elsewhere.
- ``docs``: its title speaks of docs, and its sources are documents or Python.
- ``error check``: its title speaks of errors or checks, and it adds a line that raises one.
- ``derivative``: it changes derivatives.yaml or the functions of formulas.
- ``python``: it changes decompositions, refs, metas, or before there were any torch/functional.py
  and torch/nn/functional.py.
- ``new kernel``: it adds a line of a dispatch table or a registration of a kernel.
- ``kernel fix``: its sources are all below aten/.

The subject is the operator of the parent's native_functions.yaml that the title names, if the diff
has it too, one whose function is changed before others, then the longest; else the one that most
headings of changed functions name. Of docs they are first the classes and functions of Python that
the title names and whose lines are changed.
Left out are sweeps over more than eight sources, and porting from TH, of which later trees have
none.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import statistics
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from benchmarks.commits import Commit, FileDiff, Hits, commits, compared, diff, git, go_to_parent
from indexes.model.errors import NotFound, UsageError
from indexes.queries.changes.planning import Changes
from indexes.queries.contribution.plan import Contributions
from indexes.queries.index import Index
from indexes.source.source import Source

_MOST_SOURCES = 8
"""Above that a commit sweeps over many operators, and no single one is its subject."""
CLASSES = ("kernel fix", "derivative", "new kernel", "python", "docs", "error check")
_YAML = "aten/src/ATen/native/native_functions.yaml"
_FORMULAS = ("tools/autograd/derivatives.yaml", "FunctionsManual", "autograd/templates/Functions.")
_PYTHON = (
    "torch/_decomp/",
    "torch/_meta_registrations.py",
    "torch/_prims/",
    "torch/_refs/",
    "torch/functional.py",
    "torch/nn/functional.py",
)
_CHECKED = ("aten/", "torch/functional.py", "torch/nn/functional.py", "torch/_", "tools/autograd/")
_DOCS = re.compile(r"(?i)\b(docs?|documentation|docstrings?|typos?)\b")
_ERROR = re.compile(r"(?i)\b(checks?|errors?|assert\w*|exceptions?|messages?|raises?|throws?)\b")
_RAISES = re.compile(r"TORCH_CHECK|AT_CHECK|AT_ERROR|_error\(|\braise \w+")
_TH = re.compile(r"\bTHC?\b|(?i:\bport|migrat)")
_DISPATCH = re.compile(r"^\s{4,}([A-Z]\w+(?:, ?[A-Z]\w+)*): \w+")
_REGISTRATION = re.compile(r"\bm\.impl\(|VMAP_SUPPORT|OP_DECOMPOSE")
_ENTRY = re.compile(r"- (?:name|func): \w+")
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_USED = re.compile(r"(?<=[.'\"`: _])[a-z_]\w*(?=\()|(?<=[.'\"`])[a-z_]\w*|(?<=:: )[a-z_]\w*")
"""Called, or marked as a name."""
_HEADED = re.compile(r"(?:\b(?:class|def) |\badd_docstr\w*\((?:[\w.]*\.|[\"'])?)(\w+)")
"""What a heading is of: a class, a function, or the name that a docstring is added to."""
_FUNCTION = re.compile(r"([a-z_]\w*)\(")
_TAIL = re.compile(r"(_(cpu|cuda|kernel|impl|out|backward|template|stub|sparse|quantized|mps))+_?$")


@dataclass(frozen=True, slots=True)
class Case:
    """A commit as a question."""

    commit: Commit
    kind: str
    subject: str
    wanted: str
    """The word after ``--for``; empty where an existing thing is changed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A question with its answer."""

    case: Case
    sources: Hits
    tests: Hits
    likely: Hits
    """The sources again, held against the files that the answer says will change."""
    note: str = ""


# ------------------------------------------------------------------------------- questions


def questions(root: Path, found: Sequence[Commit], each: int, seed: int) -> list[Case]:
    """``each`` commits of every class, drawn by seed, the oldest first."""
    order = list(found)
    random.Random(seed).shuffle(order)
    drawn: dict[str, list[Case]] = {kind: [] for kind in CLASSES}
    for commit in order:
        if all(len(cases) >= each for cases in drawn.values()):
            break
        case = question(root, commit)
        if case and len(drawn[case.kind]) < each:
            drawn[case.kind].append(case)
    cases = [case for some in drawn.values() for case in some]
    return sorted(cases, key=lambda case: found.index(case.commit), reverse=True)


def question(root: Path, commit: Commit) -> Case | None:
    """What somebody would have asked before the commit; None where it is of no class."""
    if _TH.search(commit.title):
        return None
    files = diff(root, commit)
    kind = _class(commit, files)
    subject = _subject(root, commit, kind, files) if kind else ""
    return Case(commit, kind, subject, _wanted(kind, files)) if subject else None


def _class(commit: Commit, files: Sequence[FileDiff]) -> str:
    sources = [one for one in files if one.path in commit.sources]
    yaml = [one for one in files if one.path == _YAML]
    if any(_entries(one.added) > _entries(one.removed) for one in yaml):
        return ""
    added = [line for one in sources for line in one.added]
    paths = commit.sources
    if len(paths) > _MOST_SOURCES:
        return ""
    documents = all(path.startswith("docs/") or path.endswith(".py") for path in paths)
    if documents and _DOCS.search(commit.title):
        return "docs"
    if _ERROR.search(commit.title) and any(map(_RAISES.search, added)):
        return "error check" if all(path.startswith(_CHECKED) for path in paths) else ""
    if any(mark in path for path in paths for mark in _FORMULAS):
        return "derivative"
    if any(path.startswith(_PYTHON) for path in paths):
        return "python"
    dispatched = [line for one in yaml for line in one.added if _DISPATCH.match(line)]
    if dispatched or any(map(_REGISTRATION.search, added)):
        return "new kernel"
    return "kernel fix" if all(path.startswith("aten/") for path in paths) else ""


def _entries(lines: Sequence[str]) -> int:
    return sum(line.startswith("- func:") for line in lines)


def _wanted(kind: str, files: Sequence[FileDiff]) -> str:
    if kind == "docs":
        return "docs"
    if kind == "derivative":
        lines = [line for one in files if "derivatives.yaml" in one.path for line in one.added]
        return "derivative" if any(line.startswith("- name:") for line in lines) else ""
    if kind != "new kernel":
        return ""
    if any("atching" in one.path or "BatchRules" in one.path for one in files):
        return "batch-rule"
    yaml = [one for one in files if one.path == _YAML]
    keys = _keys([line for one in yaml for line in one.added])
    keys.subtract(_keys([line for one in yaml for line in one.removed]))
    last_first = [key for key in reversed(keys) if keys[key] > 0]
    return max(last_first, key=keys.__getitem__, default="")


def _keys(lines: Sequence[str]) -> Counter[str]:
    """The dispatch keys in lines of a dispatch table, in their order."""
    matches = [match for line in lines if (match := _DISPATCH.match(line))]
    return Counter(key.strip() for match in matches for key in match[1].split(","))


def _subject(root: Path, commit: Commit, kind: str, files: Sequence[FileDiff]) -> str:
    names = _operators(root, _blob(root, commit))
    headings = [line for one in files for line in _headings(root, commit, one)]
    if kind == "docs" and (named := _python_names(commit.title, headings)):
        return " ".join(sorted(named))
    lines = [line for one in files for line in (*one.added, *one.removed, *headings)]
    words = {word for line in lines for word in _USED.findall(line)}
    bases = words | {_TAIL.sub("", word) for word in words}
    titled = [word for word in _title_words(commit.title) if word in names and word in bases]
    changed = [word for heading in headings for word in _FUNCTION.findall(heading)]
    said = Counter(base for word in changed if (base := _TAIL.sub("", word)) in names)
    if titled:
        return max(titled, key=lambda word: (word in said, len(word)))
    return said.most_common(1)[0][0] if said else ""


def _headings(root: Path, commit: Commit, file: FileDiff) -> list[str]:
    """What the changed lines of a file belong to: functions, and entries of a YAML file."""
    if file.status != "M" or not file.path.endswith(".yaml"):
        return [heading for _, heading in file.hunks]
    lines = git(root, "show", f"{commit.name}~1:{file.path}").splitlines()
    above = [reversed(lines[:number]) for number, _ in file.hunks]
    found = (next((one for one in some if _ENTRY.match(one)), "") for some in above)
    return list(found)


def _python_names(title: str, headings: Sequence[str]) -> set[str]:
    """The classes and functions of changed lines that a title names."""
    changed = {word for line in headings for word in _HEADED.findall(line)}
    return changed & set(re.findall(r"\w{3,}", title))


def _title_words(title: str) -> list[str]:
    """The words of a title that may be names: its first, of plain letters, is a verb."""
    plain = re.sub(r"^(\[.*?\]\s*)+|\(#\d+\)$|^[A-Za-z]+ ", "", title)
    plain = re.sub(r"(\w+)Backward\d*", lambda node: node[1].lower(), plain)
    return [_TAIL.sub("", word) or word for word in _NAME.findall(plain) if len(word) > 1]


def _blob(root: Path, commit: Commit) -> str:
    return git(root, "rev-parse", f"{commit.name}~1:{_YAML}").strip()


@lru_cache(maxsize=2000)
def _operators(root: Path, blob: str) -> frozenset[str]:
    return frozenset(re.findall(r"(?m)^- func: (\w+)", git(root, "cat-file", "blob", blob)))


# --------------------------------------------------------------------------------- answers


def outcomes(root: Path, cases: Sequence[Case], keep: Path) -> Iterator[Outcome]:
    """The answers, each from the index of the commit's parent, begun as a copy of the last."""
    last: Path | None = None
    for case in cases:
        go_to_parent(root, case.commit)
        cache = keep / case.commit.name
        if last and not cache.exists():
            shutil.copytree(last, cache)
        index = Index.open(Source.find(str(root)), last := cache)
        try:
            files, likely, tests, note = planned(index, case)
        finally:
            index.close()
        there = [path for path in case.commit.paths if (root / path).exists()]
        yield Outcome(
            case,
            compared(files, [path for path in case.commit.sources if path in there]),
            compared(tests, [path for path in case.commit.tests if path in there]),
            compared(likely, [path for path in case.commit.sources if path in there]),
            note,
        )


def planned(index: Index, case: Case) -> tuple[set[str], set[str], set[str], str]:
    """The files that the answer names, those of them that it says will change, those that it names
    as tests or at all, and a note."""
    if case.wanted:
        try:
            plan = Changes(index, histories=0).of_ops(case.subject.split(), case.wanted)
        except (NotFound, UsageError) as error:
            return *_plain(index, case.subject.split()[0]), f"--for {case.wanted}: {error}"
        if plan.there is None:
            files = set(plan.files)
            return files, files, {*files, *(test.path for test in plan.tests)}, ""
    return *_plain(index, case.subject.split()[0]), ""


def _plain(index: Index, subject: str) -> tuple[set[str], set[str], set[str]]:
    answer = Contributions(index).of(subject, histories=0)
    runs = [run.path for _, found in answer.tests for run in (*found.files, *found.named)]
    opinfos = [one.location.path for _, found in answer.tests for one in found.opinfos]
    likely = set(answer.will_change)
    return set(answer.files), likely, {*answer.files, *runs, *opinfos}


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
    """One commit with what was missed."""
    case = one.case
    asked = f"{case.subject} --for {case.wanted}" if case.wanted else case.subject
    yield f"{case.commit.name[:10]} {case.kind}: {case.commit.title[:80]}"
    yield f"    contribute {asked}: {one.sources.planned} files {one.note}"
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
    parser.add_argument("--list", action="store_true", help="the questions alone")
    options = parser.parse_args()
    root = options.tree.resolve()
    cases = questions(root, commits(root, options.since), options.each, options.seed)
    if options.list:
        for case in cases:
            print(case.kind, case.subject, case.wanted, case.commit.title, sep=" | ")
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
