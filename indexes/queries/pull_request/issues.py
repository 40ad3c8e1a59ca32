"""Issues named in a change's commits, and in added and removed lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.pull_request.model import Commit, Issue
from indexes.source.git_diff import FileChange

_URL = r"pytorch/(?:pytorch/)?issues/(\d{1,7})\b"
_NAMED = regex(rf"{_URL}|\b(?:TODO|FIXME|[Ii]ssues?|[Bb]ug|gh|GH)\b[ :(]*\s*#(\d{{1,7}})\b")
_FIXES = regex(
    rf"\b(?:[Ff]ix(?:e[sd])?|[Cc]lose[sd]?|[Rr]esolve[sd]?):?\s+(?:#(\d{{1,7}})\b|\S*{_URL})"
)


def is_fix(line: str) -> bool:
    """Whether a line only says which issue is fixed."""
    return bool(_FIXES.fullmatch(line.strip().rstrip(".")))


def issues_of(commits: Iterable[Commit], files: Iterable[FileChange]) -> tuple[Issue, ...]:
    """Each issue once, most certain first: fixed by commits, removed from lines, named in new
    lines."""
    named = [Issue(number, "named in a commit", None) for one in commits for number in _fixed(one)]
    changed = list(files)
    gone = [one for file in changed for one in _of_lines(file)]
    found: dict[int, Issue] = {}
    for one in (*named, *sorted(gone, key=lambda one: one.way != "no longer named")):
        found.setdefault(one.number, one)
    return tuple(found.values())


def _fixed(commit: Commit) -> Iterator[int]:
    for line in (commit.subject, *commit.body):
        for found in _FIXES.finditer(line):
            yield int(found[1] or found[2])


def _of_lines(file: FileChange) -> Iterator[Issue]:
    old, new = _named(file.old), _named(file.new)
    for number in old.keys() - new.keys():
        yield Issue(number, "no longer named", Location(file.old_path, old[number]))
    for number in new.keys() - old.keys():
        yield Issue(number, "named", Location(file.new_path, new[number]))


def _named(text: bytes | None) -> dict[int, int]:
    """The issues in a text, each with its first line."""
    found: dict[int, int] = {}
    for line, words in enumerate((text or b"").decode("utf-8", "replace").splitlines(), 1):
        if "#" in words or "issues/" in words:
            for one in _NAMED.finditer(words):
                found.setdefault(int(one[1] or one[2]), line)
    return found
