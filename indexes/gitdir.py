"""What a tree's ``.git`` says about it: the commit, and whether files differ from it.

The commit is read from git's own files, since starting git costs more than a whole
query; git is only run for what cannot be read that way. Nothing here writes to the
repository, not even the index that ``git status`` would refresh, and nothing makes a
partial clone fetch.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from indexes.records import dataclass
from indexes.regex import regex

_COMMIT = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_GITHUB = regex(r"(?:https?://|ssh://git@|git@)github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?\Z")


@dataclass(frozen=True, slots=True)
class GitFolder:
    """The git folder of a work tree."""

    work_tree: Path
    path: Path
    """Holds HEAD and the index."""
    common: Path
    """Holds refs, config and objects; another folder than ``path`` in a linked work tree."""


def git_folder(root: Path) -> GitFolder | None:
    """The git folder of the work tree whose top is ``root``; None where there is none."""
    path = root / ".git"
    if path.is_file():  # a linked work tree or a submodule
        pointer = _text(path).partition("gitdir:")[2].strip()
        if not pointer:
            return None
        path = root / pointer
    if not path.is_dir():
        return None
    common = _text(path / "commondir").strip()
    return GitFolder(root, path, (path / common).resolve() if common else path)


def commit(folder: GitFolder) -> str | None:
    """The full hash of HEAD, or None before the first commit or if it can't be read."""
    head = _text(folder.path / "HEAD").strip()
    if _COMMIT.match(head):
        return head
    ref = head.removeprefix("ref: ")
    if ref == head or ".." in ref:
        return None
    if (folder.common / "reftable").is_dir():
        return _hash(_git(folder.work_tree, "rev-parse", "HEAD").output)
    return _hash(_text(folder.common / ref)) or _packed(folder.common, ref)


def dirty(
    folder: GitFolder, folders: Sequence[str], hash_of: Callable[[str], bytes],
    counts: Callable[[str], bool] = lambda _: True,
) -> bool | None:  # fmt: skip
    """Whether tracked files in ``folders`` differ from HEAD, those whose path ``counts``. None
    when git can't say: there is none, or it refuses a repository that another user owns.

    ``diff-index`` is quick, but takes a changed time for a change. There is none where the
    content has the name (``hash_of``) that it has in HEAD; ``git status`` decides about others.
    """
    present = [path for path in folders if (folder.work_tree / path).exists()]
    options = ("--raw", "-z", "--no-renames", "--no-abbrev")
    quick = _git(folder.work_tree, "diff-index", *options, "HEAD", "--", *present)
    if quick.status == 0:
        told = [one for one in _told(quick.output) if counts(one.path)]
        if any(one.is_sure for one in told):
            return True
        edited = [one.path for one in told if hash_of(one.path).hex() != one.blobs[0]]
        if not edited:
            return False
        present = edited if len(edited) <= _FEW else present
    slow = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=no")
    found = _git(folder.work_tree, "--literal-pathspecs", *slow, "--", *present)
    changed = (entry[3:] for entry in found.output.split("\0")[:-1])
    return any(map(counts, changed)) if found.status == 0 else None


_FEW = 200
"""So many paths fit into a command line anywhere."""


class _Told(NamedTuple):
    """A file of which ``diff-index`` tells."""

    path: str
    status: str
    modes: tuple[str, str]
    blobs: tuple[str, str]
    """In HEAD and now; zeros where git did not look."""

    @property
    def is_sure(self) -> bool:
        """Whether the file is an edited one, whatever it holds."""
        before, now = self.blobs
        looked = bool(now.strip("0"))
        return self.status != "M" or self.modes[0] != self.modes[1] or (looked and before != now)


def _told(output: str) -> Iterator[_Told]:
    words = output.split("\0")
    for what, path in zip(words[::2], words[1::2], strict=False):
        old, new, before, now, status = what.removeprefix(":").split(" ")
        yield _Told(path, status, (old, new), (before, now))


def watched(root: Path) -> list[str]:
    """The files under ``.git`` that the commit, ``dirty`` and ``is_shallow`` depend on, beside
    the work tree; ``.git`` itself where it is no folder."""
    folder = git_folder(root)
    pointer = [] if (root / ".git").is_dir() else [str(root / ".git")]
    if folder is None:
        return pointer
    ref = _text(folder.path / "HEAD").strip().removeprefix("ref: ")
    names = ["packed-refs", "shallow", "config", "reftable/tables.list"]
    if ref.startswith("refs/") and ".." not in ref:
        names.append(ref)
    own = [str(folder.path / name) for name in ("HEAD", "index", "commondir")]
    return [*pointer, *own, *(str(folder.common / name) for name in names)]


def is_shallow(folder: GitFolder) -> bool:
    """Whether the history is cut off, so that authors and changes are not known."""
    return (folder.common / "shallow").exists()


def github_name(folder: GitFolder) -> str | None:
    """``owner/name`` of ``origin`` where that is on GitHub."""
    config = _text(folder.common / "config")
    section = config.partition('[remote "origin"]')[2].partition("\n[")[0]
    found = re.search(r"^\s*url\s*=\s*(.+?)\s*$", section, re.MULTILINE)
    name = _GITHUB.match(found[1]) if found else None
    return name[1] if name else None


@dataclass(frozen=True, slots=True)
class GitResult:
    """What a run of git gave: its exit status (124 when it took too long) and its output."""

    status: int
    output: str
    error: str = ""


_TOO_LONG = 124


def ask(folder: GitFolder, *arguments: str, timeout: float | None = None) -> GitResult:
    """Runs a git command that only reads. ``timeout`` is in seconds."""
    return _git(folder.work_tree, *arguments, timeout=timeout)


def git_environment() -> dict[str, str]:
    """The environment in which git is run: it fetches nothing and asks nothing."""
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
    # Set inside a hook; they would answer for another repository.
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        environment.pop(name, None)
    return environment


def git_command(root: str, *arguments: str) -> list[str]:
    """A git command that writes nothing to the repository of ``root``."""
    # A tree's own configuration must not make git run a program of the tree's choice.
    safe = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]
    return ["git", "--no-optional-locks", *safe, "-C", root, *arguments]


def _git(root: Path, *arguments: str, timeout: float | None = None) -> GitResult:
    import subprocess

    try:
        done = subprocess.run(
            git_command(str(root), *arguments), capture_output=True, env=git_environment(),
            text=True, errors="replace", check=False, timeout=timeout,
        )  # fmt: skip
    except OSError:  # no git
        return GitResult(127, "", "git is not installed")
    except subprocess.TimeoutExpired:
        return GitResult(_TOO_LONG, "", f"git took longer than {timeout:g} s")
    return GitResult(done.returncode, done.stdout, done.stderr)


def _packed(common: Path, ref: str) -> str | None:
    for line in _text(common / "packed-refs").splitlines():
        value, _, name = line.partition(" ")
        if name == ref:
            return _hash(value)
    return None


def _hash(text: str) -> str | None:
    text = text.strip()
    return text if _COMMIT.match(text) else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
