"""The branch of a work tree: its base, its commits, and changed files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from indexes.model.errors import NotFound, SourceError
from indexes.model.regex import regex
from indexes.queries.pull_request.model import ChangedFile, Commit, Title
from indexes.source.git import Repository
from indexes.source.git_diff import FileChange

_UPSTREAM = tuple(
    f"{remote}/{name}" for remote in ("upstream", "origin") for name in ("main", "master")
)
_LOCAL = ("main", "master")
_BOTS = regex(
    r"(Pull Request resolved:|Differential Revision:|Reviewed By:|Pulled By:|Approved by:"
    r"|Test Plan: Imported|Imported from OSS|Co-authored-by:|Signed-off-by:|fbshipit-source-id:"
    r"|ghstack-source-id:|ghstack-comment-id:|Summary:\s*$)"
)
_TAGS = regex(r"\s*\[([\w ./+-]{1,30})\]")
_NUMBER = regex(r"\s*\(#\d+\)\s*$")
_NOT_A_MODULE = frozenset(
    "wip reland re-land resubmit draft rfc easy fix bc-breaking codemod pytorch".split()
)
_LOOKED_AT = 10
"""Commits of the files' history that are examined for a title prefix."""
_SHARE = 0.4
"""The share of them that must have the prefix."""


@dataclass(frozen=True, slots=True)
class Base:
    """The commit that a branch is compared with."""

    commit: str
    words: str
    missing: str = ""
    """What the history lacks for a better answer."""


class Branch:
    """The commits on top of upstream's main in a work tree."""

    def __init__(self, root: Path) -> None:
        """Raises SourceError without git."""
        repository = Repository.at(root)
        if repository is None:
            raise SourceError(f"{root} has no .git: torchnav pr needs a checkout with its changes")
        self._git = repository

    @property
    def name(self) -> str:
        """Empty on a detached head."""
        return self._git.run("symbolic-ref", "--quiet", "--short", "HEAD").text.strip()

    def base(self, wanted: str | None = None) -> Base:
        """The commit at which the branch left upstream's main, or ``wanted``.

        Raises NotFound for an unknown revision.
        """
        head = self._git.commit
        if head is None:
            raise SourceError("this repository has no commit yet")
        self._git.check_readable()
        if wanted is not None:
            commit = self._git.commit_of(wanted)
            if commit is None:
                raise NotFound(f"no commit {wanted!r} in this repository{self._cut}")
            return Base(commit, wanted)
        for name in (*_UPSTREAM, *_LOCAL):
            if commit := self._git.commit_of(name):
                found = self._git.run("merge-base", commit, head).text.strip()
                if found:
                    return Base(found, f"where it left {name}" if found != head else "HEAD")
                cut = f"where the branch left {name} is unknown{self._cut}: name it with --base REV"
                return Base(head, "HEAD", cut)
        return Base(head, "HEAD", "no branch main or master here: --base REV says the base")

    @property
    def _cut(self) -> str:
        return ", since the history is cut off (git fetch --unshallow)" if self._git.cuts else ""

    def commits(self, base: Base) -> tuple[Commit, ...]:
        """The commits since the base, oldest first."""
        form = "--format=%x00%H%x01%s%x01%b"
        found = self._git.run(
            "log", "--reverse", "--no-merges", "-n200", form, f"{base.commit}..HEAD"
        )
        return tuple(_commit(one) for one in found.text.split("\0")[1:])

    # ------------------------------------------------------------------------- title

    def title(self, commits: Sequence[Commit], paths: Sequence[str], base: Base) -> Title:
        """The first commit's subject, with the usual prefix of the files' history; empty without
        commits."""
        text = _NUMBER.sub("", commits[0].subject) if commits else ""
        if _TAGS.match(text):
            return Title("", text, "the subject of the commit")
        prefix, why = self._prefix(paths, base)
        which = f"first of {len(commits)} commits" if len(commits) > 1 else "commit"
        words = f"the subject of the {which}" if text else "no commit says it"
        return Title(prefix, text, f"{words}; {why}")

    def _prefix(self, paths: Sequence[str], base: Base) -> tuple[str, str]:
        """The prefix of most recent commits of these files, with the count."""
        known = [path for path in paths if not path.startswith("test/")] or list(paths)
        command = (
            "log",
            f"-n{_LOOKED_AT}",
            "--no-merges",
            "--format=%s",
            base.commit,
            "--",
            *known[:50],
        )
        subjects = self._git.run(*command, timeout=20).text.splitlines()
        if len(subjects) < 3:
            return "", f"commits of these files in the history here: {len(subjects)}{self._cut}"
        tags = [tag for one in map(_tag, subjects) if (tag := one)]
        counts = Counter(tag.lower() for tag in tags)
        for tag, count in counts.most_common(1):
            if count >= _SHARE * len(subjects):
                spelled = Counter(one for one in tags if one.lower() == tag).most_common(1)[0][0]
                return (
                    f"[{spelled}]",
                    f"{count} of the last {len(subjects)} commits of these files have [{spelled}]",
                )
        return "", f"the last {len(subjects)} commits of these files share no prefix"


def _tag(subject: str) -> str:
    """The first tag of a subject that names a module."""
    while found := _TAGS.match(subject):
        if found[1].lower() not in _NOT_A_MODULE:
            return found[1]
        subject = subject[found.end() :]
    return ""


def _commit(text: str) -> Commit:
    commit, subject, body, *_ = [*text.split("\1", 2), "", ""]
    lines = [line.rstrip() for line in body.strip().splitlines() if not _BOTS.match(line.strip())]
    return Commit(commit, subject, tuple(_without_blanks(lines)))


def _without_blanks(lines: Sequence[str]) -> Iterator[str]:
    """Lines without leading, trailing and repeated blank ones."""
    before = ""
    for number, line in enumerate(lines):
        if line or (before and any(lines[number:])):
            yield line
        before = line


def changed_file(file: FileChange) -> ChangedFile:
    """A file with counts of lines."""
    what: Literal["added", "changed", "removed"] = "changed"
    if not (file.old_path and file.new_path):
        what = "removed" if file.old_path else "added"
    old, new = (Counter((text or b"").splitlines()) for text in (file.old, file.new))
    binary = b"\0" in (file.new or file.old or b"")[:8000]
    added, removed = (new - old).total(), (old - new).total()
    return ChangedFile(file.path, what, 0 if binary else added, 0 if binary else removed)
