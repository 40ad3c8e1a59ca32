"""git's history of a place in the tree: authors of lines, and pull requests that changed it.

A shallow clone attributes old lines to the commit at the cut. Such answers are marked, with the
command that deepens the history.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from difflib import SequenceMatcher
from pathlib import Path

from indexes.model.regex import regex
from indexes.source.clones import read_clone_record
from indexes.source.files import read_text
from indexes.source.git import GitResult, Repository
from indexes.source.source import Source

IGNORED_REVISIONS = ".git-blame-ignore-revs"
"""Mass reformattings, which PyTorch's own blame skips."""
TIMEOUT = 30.0
"""Seconds for one question; ``git log -L`` over 60,000 commits can take long."""


@dataclass(frozen=True, slots=True)
class Change:
    """A commit that changed a place."""

    commit: str
    """The full hash."""
    author: str
    date: str
    """``2024-05-31``, when it was authored."""
    subject: str
    pull_request: int | None
    """Its GitHub number, from the message."""
    at_cut: bool = False
    """No older commit is present: others may have written what it brings in."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The last changes of a place, newest first."""

    changes: tuple[Change, ...]
    followed: str
    """The git command: ``git log -L 10,20:path``."""
    note: str = ""
    """What is missing, and the command that adds it."""


@dataclass(frozen=True, slots=True)
class BlamedLine:
    """A line of a file with the commit that wrote it."""

    line: int
    change: Change | None
    """None for an uncommitted line."""


@dataclass(frozen=True, slots=True)
class Blame:
    """The authors of a range of lines."""

    lines: tuple[BlamedLine, ...]
    note: str = ""


class History:
    """The history of one tree, as far as present."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._git = Repository.at(source.root) if source.layout == "checkout" else None

    @property
    def missing(self) -> str:
        """What the history lacks, with the command that adds it; empty if whole."""
        if self._git is None:
            where = "the torch wheel has" if self._source.kind == "wheel" else "no .git here:"
            return f"{where} no history: torchnav clone --history"
        cuts = self._git.cuts
        if not cuts:
            return ""
        return f"history is cut off ({cuts} commits at the cut): {self.deepening()}"

    def deepening(self) -> str:
        """The command that fetches the rest of a shallow history."""
        clone = read_clone_record(self._source.root)
        if clone:
            return f"torchnav clone {clone.ref} --history"
        return f"git -C {_quoted(self._source.root)} fetch --unshallow"

    def changes(self, path: str, line: int = 0, end_line: int = 0, limit: int = 5) -> Changes:
        """The last commits that changed lines of a file, or the file for ``line`` 0."""
        if self._git is None:
            return Changes((), "", self.missing)
        if line:
            line, end_line = self._committed_lines(path, line, max(line, end_line))
        where = [f"-L{line},{end_line}:{path}", "-s"] if line else ["--follow"]
        tail = () if line else ("--", path)
        asked = " ".join(["git log", *where[:1], *tail])
        found = self._git.run("log", f"-n{limit}", _FORMAT, *_PLAIN, *where, *tail, timeout=TIMEOUT)
        if found.status:
            failed = self._failed(found, f"log -L{line},{end_line}:{path}" if line else asked[4:])
            if not (line and _lacks_contents(found)):
                return Changes((), asked, failed)
            whole = self.changes(path, limit=limit)
            return Changes(whole.changes, whole.followed, f"of the whole file: {failed}")
        changes = tuple(_change(one) for one in found.text.split("\0")[1:])
        return Changes(changes, asked, self._note(any(c.at_cut for c in changes)))

    def bringing(self, word: str, path: str, limit: int = 2) -> Changes:
        """The first commits that changed a word's number of occurrences in a file, oldest first,
        without one at a cut of the history."""
        if self._git is None:
            return Changes((), "", self.missing)
        asked = ("log", f"-S{word}", _FORMAT, *_PLAIN, "--", path)
        found = self._git.run(*asked, timeout=TIMEOUT)
        shown = f"git log -S{word} -- {path}"
        if found.status:
            return Changes((), shown, self._failed(found, shown[4:]))
        changes = [_change(one) for one in reversed(found.text.split("\0")[1:])]
        known = tuple(one for one in changes if not one.at_cut)
        return Changes(known[:limit], shown, self._note(len(known) < len(changes)))

    def files(self, change: Change) -> tuple[tuple[str, int | None, int | None], ...]:
        """The files of a commit with numbers of added and removed lines; None for binary files."""
        if self._git is None:
            return ()
        asked = ("show", "--numstat", "--format=", *_PLAIN, "--no-renames", change.commit)
        found = self._git.run(*asked, timeout=TIMEOUT)
        rows = (line.split("\t") for line in found.text.splitlines() if line.count("\t") == 2)
        return tuple((path, _count(added), _count(removed)) for added, removed, path in rows)

    def paths(self, changes: Sequence[Change]) -> dict[str, tuple[str, ...]]:
        """The files of each of several commits, by hash."""
        if self._git is None or not changes:
            return {}
        asked = ("show", "--name-only", "--format=%x00%H", *_PLAIN, "--no-renames")
        found = self._git.run(*asked, *(one.commit for one in changes), timeout=TIMEOUT)
        rows = (one.strip().splitlines() for one in found.text.split("\0")[1:])
        return {commit: tuple(path for path in files if path) for commit, *files in rows}

    def patches(self, path: str, limit: int) -> tuple[tuple[Change, str], ...]:
        """The last commits that changed a file, newest first, with diffs without context. One at a
        cut of the history is left out."""
        if self._git is None:
            return ()
        asked = ("log", f"-n{limit}", f"{_FORMAT}%x02", "-p", "-U0", *_PLAIN, "--", path)
        found = self._git.run(*asked, timeout=TIMEOUT)
        rows = (one.partition("\2") for one in found.text.split("\0")[1:])
        told = ((_change(head), diff) for head, _, diff in rows)
        return tuple((change, diff) for change, diff in told if not change.at_cut)

    def _note(self, reaches_cut: bool) -> str:
        if not reaches_cut:
            return ""
        return self.missing or "its first commit brings in whole files: older changes are not here"

    def _committed_lines(self, path: str, line: int, end_line: int) -> tuple[int, int]:
        """The position of lines in HEAD, which ``git log -L`` uses; 0 if all are new."""
        assert self._git is not None
        committed = self._git.run("cat-file", "blob", f"HEAD:{path}", timeout=TIMEOUT)
        now = self._source.read(path).decode("utf-8", "replace")
        if committed.status or committed.text == now:
            return line, end_line
        old, new = committed.text.splitlines(), now.splitlines()
        same = [
            block.a + at - block.b
            for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
            for at in range(max(block.b, line - 1), min(block.b + block.size, end_line))
        ]
        return (min(same) + 1, max(same) + 1) if same else (0, 0)

    def blame(self, path: str, line: int = 1, end_line: int = 0) -> Blame:
        """The commits that wrote lines of a file as it is now; to the end without ``end_line``.
        Skips the commits that the tree asks to ignore."""
        if self._git is None:
            return Blame((), self.missing)
        ignored = self._source.root / IGNORED_REVISIONS
        options = ["--ignore-revs-file", str(ignored)] if self._knows(ignored) else []
        found = self._git.run(
            *("blame", "--porcelain", "--no-textconv", *options),
            *(f"-L{line},{end_line or ''}", "--", path),
            timeout=TIMEOUT,
        )
        if found.status:
            return Blame((), self._failed(found, f"blame {path}"))
        lines = tuple(_blamed(found.text))
        return Blame(lines, self._note(any(one.change and one.change.at_cut for one in lines)))

    def _knows(self, ignored: Path) -> bool:
        """Whether git accepts the list: it refuses one with anything but hashes."""
        try:
            lines = read_text(ignored).splitlines()
        except OSError:
            return False
        words = [line.partition("#")[0].strip() for line in lines]
        return all(re.fullmatch(r"[0-9a-f]{40}", word) for word in words if word)

    def _failed(self, found: GitResult, asked: str) -> str:
        """Why git had no answer, in one line. Run by hand, git fetches what it needs."""
        if _lacks_contents(found):
            git = f"git -C {_quoted(self._source.root)}"
            return (
                f"the old contents of its files are not in this clone: {git} {asked} fetches those"
                f" that it needs, {git} fetch --refetch --no-filter origin HEAD all of them"
            ) + (f"; {self.missing}" if self.missing else "")
        return f"git has no answer: {found.reason}"


def _lacks_contents(found: GitResult) -> bool:
    """Whether a partial clone lacks the old contents that git needed."""
    return bool(re.search("promisor remote|missing blob|unable to read", found.error))


_PLAIN = ("--no-textconv", "--no-ext-diff", "--no-show-signature", "--no-color")
_FORMAT = "--format=%x00%H%x01%P%x01%an%x01%as%x01%s%x01%b"
_NUMBER = regex(r"\(#(\d+)\)\s*$")
_RESOLVED = regex(r"^Pull Request resolved: \S*?/pull/(\d+)", re.MULTILINE)


def pull_request(subject: str, body: str = "") -> int | None:
    """The pull request in a commit message: ``... (#12345)``, or the merge bot's ``Pull Request
    resolved:``."""
    found = _NUMBER.search(subject) or _RESOLVED.search(body)
    return int(found[1]) if found else None


def _count(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _change(text: str) -> Change:
    commit, parents, author, date, subject, body = (text.split("\1", 5) + [""] * 6)[:6]
    return Change(commit, author, date, subject, pull_request(subject, body), not parents)


def _blamed(porcelain: str) -> Iterator[BlamedLine]:
    """The lines of ``git blame --porcelain``, which describes each commit once."""
    known: dict[str, dict[str, str]] = {}
    commit, number = "", 0
    for text in porcelain.split("\n"):
        head = _BLAME_HEAD.match(text)
        if text.startswith("\t"):
            yield BlamedLine(number, _blame_change(commit, known[commit]))
        elif head:
            commit, number = head[1], int(head[2])
            known.setdefault(commit, {})
        elif commit:
            key, _, value = text.partition(" ")
            known[commit].setdefault(key, value)


_BLAME_HEAD = regex(r"([0-9a-f]{40,64}) \d+ (\d+)")


def _blame_change(commit: str, facts: dict[str, str]) -> Change | None:
    if not commit.strip("0"):
        return None
    subject = facts.get("summary", "")
    return Change(
        commit,
        facts.get("author", ""),
        _day(facts.get("author-time", "")),
        subject,
        pull_request(subject),
        "boundary" in facts,
    )


def _day(seconds: str) -> str:
    if not seconds.isdecimal():
        return ""
    return datetime.fromtimestamp(int(seconds), timezone.utc).strftime("%Y-%m-%d")


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
