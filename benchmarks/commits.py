"""Reads commits of a history, checks out their parents, and compares lists of files.

A pull request to PyTorch lands as one commit, so a commit stands for one.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from indexes.queries.index import Index
from indexes.source.source import Source

SOURCES = ("aten/src/", "c10/", "docs/", "functorch/", "tools/", "torch/", "torchgen/")
TESTS = (
    "test/",
    "aten/src/ATen/test/",
    "functorch/test/",
    "torch/testing/_internal/",
    "torch/testing/_core.py",
)
"""OpInfos and common tests are in ``torch.testing``."""
MOST_FILES = 15
"""Larger commits are no single change."""
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@ ?(.*)")


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The change of one file in a commit."""

    path: str
    status: str
    """Git's status: ``A``, ``M`` or ``D``."""
    removed: tuple[str, ...]
    added: tuple[str, ...]
    hunks: tuple[tuple[int, str], ...]
    """The first old line, and the heading of the function according to git."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that changes sources."""

    name: str
    date: str
    title: str
    paths: tuple[str, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """Its files other than tests."""
        return tuple(p for p in self.paths if p.startswith(SOURCES) and not p.startswith(TESTS))

    @property
    def tests(self) -> tuple[str, ...]:
        """Its tests and their helpers."""
        return tuple(path for path in self.paths if path.startswith(TESTS))


def git(root: Path, *arguments: str) -> str:
    """The output of git. Raises CalledProcessError on failure."""
    command = ["git", "-c", "advice.detachedHead=false", *arguments]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")


def commits(root: Path, since: str, until: str = "", most: int = MOST_FILES) -> list[Commit]:
    """Commits that are a single change of sources, newest first.

    Days begin at midnight: a day alone would mean the time of now on it, and each run draws from
    other commits.
    """
    days = {"since": since, "until": until}
    range_ = [f"--{word}={day}T00:00:00Z" for word, day in days.items() if day]
    log = git(
        root,
        "log",
        "--all",
        "--no-merges",
        *range_,
        "--no-renames",
        "--name-only",
        "--format=%x00%H%x01%as%x01%s",
    )
    found = []
    for block in log.split("\0")[1:]:
        head, *paths = [line for line in block.split("\n") if line]
        name, date, title = head.split("\x01")
        one = Commit(name, date, title, tuple(paths))
        if one.sources and len(paths) <= most and not _is_undone(title):
            found.append(one)
    return found


def _is_undone(title: str) -> bool:
    return re.search(r"(?i)\b(revert|back ?out|reland|codemod)", title) is not None


def diff(root: Path, commit: Commit) -> list[FileDiff]:
    """The changes of a commit by file; headings by git's rules for Python and C++."""
    text = git(root, "show", "--format=", "--no-renames", "--unified=0", commit.name)
    return [_file_diff(part) for part in re.split(r"(?m)^diff --git ", text)[1:]]


def _file_diff(part: str) -> FileDiff:
    head, _, body = part.partition("\n@@ ")
    lines = f"@@ {body}".splitlines()
    path = re.sub(r"^.* b/", "", head.splitlines()[0])
    status = "A" if "\nnew file" in head else "D" if "\ndeleted file" in head else "M"
    hunks = [match for line in lines if (match := _HUNK.match(line))]
    return FileDiff(
        path,
        status,
        tuple(line[1:] for line in lines if line.startswith("-")),
        tuple(line[1:] for line in lines if line.startswith("+")),
        tuple((int(match[1]), match[2]) for match in hunks),
    )


def go_to_parent(scratch: Path, commit: str) -> None:
    """Checks out the parent of a commit. ``scratch`` is a clone for this purpose."""
    git(scratch, "checkout", "-q", "-f", f"{commit}~1")
    git(scratch, "clean", "-qfd")


class Parents:
    """The indexes of commits' parents, each started as a copy of the last one."""

    def __init__(self, scratch: Path, keep: Path) -> None:
        """``scratch`` is a clone for this purpose; indexes are stored in ``keep``."""
        self._scratch, self._keep = scratch, keep
        self._last: Path | None = None

    @contextmanager
    def of(self, commit: Commit) -> Iterator[Index]:
        """The index of a parent, which is checked out."""
        go_to_parent(self._scratch, commit.name)
        cache = self._keep / commit.name
        if self._last and not cache.exists():
            shutil.copytree(self._last, cache)
        index = Index.open(Source.find(str(self._scratch)), cache)
        self._last = cache
        try:
            yield index
        finally:
            index.close()


@dataclass(frozen=True, slots=True)
class Hits:
    """A list of planned files compared with the changed ones."""

    named: tuple[str, ...]
    missed: tuple[str, ...]
    planned: int


def compared(planned: Iterable[str], touched: Iterable[str]) -> Hits:
    """The changed files that are among the planned ones."""
    names = set(planned)
    wanted = tuple(touched)
    return Hits(
        tuple(path for path in wanted if path in names),
        tuple(path for path in wanted if path not in names),
        len(names),
    )


def recall(hits: Sequence[Hits]) -> str:
    """How many of the changed files were planned."""
    named = sum(len(one.named) for one in hits)
    total = named + sum(len(one.missed) for one in hits)
    return f"{named}/{total} {named / total:.0%}" if total else "none"
