"""What a tree's ``.git`` says about it: the commit, and whether files differ from it.

The commit is read from git's own files, since starting git costs more than a whole
query; git is only run for what cannot be read that way. Nothing here writes to the
repository, not even the index that ``git status`` would refresh, and nothing makes a
partial clone fetch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from indexes.model.regex import MULTILINE, regex

if TYPE_CHECKING:
    from pathlib import Path
    from subprocess import Popen

_HEX = frozenset("0123456789abcdef")
_HASH_LENGTHS = (40, 64)
"""Of SHA-1 and of SHA-256."""
_GITHUB = regex(r"(?:https?://|ssh://git@|git@)github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?\Z")
_URL = regex(r"^\s*url\s*=\s*(.+?)\s*$", MULTILINE)


@dataclass(frozen=True, slots=True)
class GitFolder:
    """The git folder of a work tree."""

    work_tree: str
    path: str
    """Holds HEAD and the index."""
    common: str
    """Holds refs, config and objects; another folder than ``path`` in a linked work tree."""


def git_folder(root: Path | str) -> GitFolder | None:
    """The git folder of the work tree whose top is ``root``; None where there is none."""
    top = str(root)
    path = f"{top}/.git"
    if os.path.isfile(path):  # a linked work tree or a submodule
        pointer = _text(path).partition("gitdir:")[2].strip()
        if not pointer:
            return None
        path = os.path.join(top, pointer)
    if not os.path.isdir(path):
        return None
    common = _text(f"{path}/commondir").strip()
    return GitFolder(top, path, os.path.realpath(os.path.join(path, common)) if common else path)


def commit(folder: GitFolder) -> str | None:
    """The full hash of HEAD, or None before the first commit or if it can't be read."""
    head = _text(f"{folder.path}/HEAD").strip()
    if _hash(head):
        return head
    ref = head.removeprefix("ref: ")
    if ref == head or ".." in ref:
        return None
    if os.path.isdir(f"{folder.common}/reftable"):
        return _hash(_git(folder.work_tree, "rev-parse", "HEAD").output)
    return _hash(_text(os.path.join(folder.common, ref))) or _packed(folder.common, ref)


Asked = Callable[[], "GitResult"]
"""A run of git that was begun: waits for what it gives."""


def ask_dirty(folder: GitFolder, folders: Sequence[str]) -> Asked:
    """Begins what takes most time of ``dirty``."""
    options = ("--raw", "-z", "--no-renames", "--no-abbrev")
    present = _present(folder, folders)
    return _begin(folder.work_tree, "diff-index", *options, "HEAD", "--", *present)


def _present(folder: GitFolder, folders: Sequence[str]) -> list[str]:
    return [path for path in folders if os.path.exists(f"{folder.work_tree}/{path}")]


def dirty(
    folder: GitFolder,
    folders: Sequence[str],
    hash_of: Callable[[str], bytes],
    counts: Callable[[str], bool] = lambda _: True,
    asked: Asked | None = None,
) -> bool | None:
    """Whether tracked files in ``folders`` differ from HEAD, those whose path ``counts``. None
    when git can't say: there is none, or it refuses a repository that another user owns.
    ``asked`` is what ``ask_dirty`` gave for the same folders.

    ``diff-index`` is quick, but takes a changed time for a change. There is none where the
    content has the name (``hash_of``) that it has in HEAD; ``git status`` decides about others.
    """
    present = _present(folder, folders)
    quick = (asked or ask_dirty(folder, folders))()
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


def watched(root: str) -> list[str]:
    """The files under ``.git`` that the commit, ``dirty`` and ``is_shallow`` depend on, beside
    the work tree; ``.git`` itself where it is no folder."""
    folder = git_folder(root)
    pointer = [] if os.path.isdir(f"{root}/.git") else [f"{root}/.git"]
    if folder is None:
        return pointer
    ref = _text(f"{folder.path}/HEAD").strip().removeprefix("ref: ")
    names = ["packed-refs", "shallow", "config", "reftable/tables.list"]
    if ref.startswith("refs/") and ".." not in ref:
        names.append(ref)
    own = [f"{folder.path}/{name}" for name in ("HEAD", "index", "commondir")]
    return [*pointer, *own, *(f"{folder.common}/{name}" for name in names)]


def is_shallow(folder: GitFolder) -> bool:
    """Whether the history is cut off, so that authors and changes are not known."""
    return os.path.exists(f"{folder.common}/shallow")


def github_name(folder: GitFolder) -> str | None:
    """``owner/name`` of ``origin`` where that is on GitHub."""
    config = _text(f"{folder.common}/config")
    section = config.partition('[remote "origin"]')[2].partition("\n[")[0]
    found = _URL.search(section)
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


def _git(root: str, *arguments: str, timeout: float | None = None) -> GitResult:
    return _begin(root, *arguments, timeout=timeout)()


def _begin(root: str, *arguments: str, timeout: float | None = None) -> Asked:
    import subprocess

    try:
        process = subprocess.Popen(
            git_command(root, *arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=git_environment(),
            text=True,
            errors="replace",
        )
    except OSError:
        return lambda: GitResult(127, "", "git is not installed")
    return lambda: _end(process, timeout)


def _end(process: Popen[str], timeout: float | None) -> GitResult:
    from subprocess import TimeoutExpired

    with process:
        try:
            output, error = process.communicate(timeout=timeout)
        except TimeoutExpired:
            return GitResult(_TOO_LONG, "", f"git took longer than {timeout:g} s")
        finally:
            process.kill()  # nothing to one that has ended
    return GitResult(process.returncode, output, error)


def _packed(common: str, ref: str) -> str | None:
    for line in _text(f"{common}/packed-refs").splitlines():
        value, _, name = line.partition(" ")
        if name == ref:
            return _hash(value)
    return None


def _hash(text: str) -> str | None:
    text = text.strip()
    return text if len(text) in _HASH_LENGTHS and _HEX.issuperset(text) else None


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (OSError, ValueError):  # ValueError: a name in it that can be none of a file
        return ""
