"""Which files differ between two states of a work tree, with both contents. Nothing is written."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from indexes.model.errors import NotFound, SourceError
from indexes.source import git_folder as gitdir
from indexes.source.git_objects import Blobs, commit_of

WORKING = "the working tree"
STAGED = "the staged changes"
MANY_FILES = 5000
"""More than these differ only where git's index does not belong to the tree."""
_NONE = "0" * 40


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that differs. A path is empty on the side where the file is not."""

    old_path: str
    new_path: str
    old: bytes | None
    """None when it is not there, or when this clone does not hold it."""
    new: bytes | None
    unreadable: str = ""

    @property
    def path(self) -> str:
        """Where it is now, or was."""
        return self.new_path or self.old_path


@dataclass(frozen=True, slots=True)
class TreeChange:
    """All files that differ."""

    base: str
    target: str
    files: tuple[FileChange, ...]


def changes(
    root: Path, since: str | None = None, until: str | None = None, staged: bool = False
) -> TreeChange:
    """The files that differ from ``since`` (HEAD), up to ``until``: a commit, the staged state,
    or the working tree with its untracked files. ``A..B`` in ``since`` names both.

    Raises SourceError without git or ``.git``, NotFound for a revision that is not here.
    """
    folder = gitdir.git_folder(root)
    if folder is None:
        raise SourceError(
            f"{root} has no .git: what changed can't be told; torchnav impact FILE:LINE or SYMBOL"
            " says what one place reaches"
        )
    if since and ".." in since:
        since, _, until = since.replace("...", "..").partition("..")
    base = _commit(root, folder, since or "HEAD")
    end = _commit(root, folder, until) if until else None
    wanted = [base, end] if end else ["--cached", base] if staged else [base]
    raw = _git(
        root,
        "diff",
        "--raw",
        "-z",
        "-M",
        "--abbrev=40",
        "--no-ext-diff",
        "--ignore-submodules",
        *wanted,
        "--",
    )
    listed = _listed(raw)
    if len(listed) > MANY_FILES and not end:
        raise SourceError(
            f"git says that {len(listed):,} files differ: its index is not that of this tree; name"
            " two commits (A..B), or restore the index with git reset"
        )
    blobs = Blobs(str(root))
    files = [_file(root, blobs, *one) for one in listed]
    if not end and not staged:
        files += _untracked(root)
    target = until if end and until else STAGED if staged else WORKING
    return TreeChange(since or "HEAD", target, tuple(f for f in files if f.old != f.new))


def _commit(root: Path, folder: gitdir.GitFolder, revision: str) -> str:
    found = commit_of(root, revision)
    if found:
        return found
    hint = ""
    if gitdir.is_shallow(folder):
        hint = "; the history of this clone is cut off: git fetch --deepen 100, or --unshallow"
    raise NotFound(f"no commit {revision!r} in this repository{hint}")


def _git(root: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(
            gitdir.git_command(str(root), *arguments),
            capture_output=True,
            env=gitdir.git_environment(),
            check=False,
        )
    except OSError as error:
        raise SourceError(f"git can't be run: {error.strerror}") from error
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise SourceError(f"git diff failed: {words[0] if words else done.returncode}")
    return done.stdout


_Listed = tuple[str, str, str, str, str]
"""Old blob, new blob, status, old path, new path."""


def _listed(raw: bytes) -> list[_Listed]:
    parts = iter(raw.decode("utf-8", "surrogateescape").split("\0"))
    found: list[_Listed] = []
    for head in parts:
        if not head.startswith(":"):
            continue
        old_mode, new_mode, old, new, status = head[1:].split(" ")
        path = next(parts)
        renamed = next(parts) if status[0] in "RC" else path
        if "160000" in (old_mode, new_mode):  # a submodule
            continue
        before = "" if status[0] in "AC" else path
        found.append((old, new, status[0], before, "" if status[0] == "D" else renamed))
    return found


def _file(
    root: Path, blobs: Blobs, old: str, new: str, status: str, old_path: str, new_path: str
) -> FileChange:
    unreadable = ""
    before = after = None
    try:
        if old_path and old != _NONE:
            before = blobs.read(bytes.fromhex(old))
        if new_path and new != _NONE:
            after = blobs.read(bytes.fromhex(new))
    except OSError as error:
        unreadable = str(error)
    if new_path and new == _NONE:
        after = _read(root, new_path)
    return FileChange(old_path, new_path, before, after, unreadable)


def _read(root: Path, path: str) -> bytes | None:
    place = root / path
    try:
        return None if place.is_symlink() else place.read_bytes()
    except OSError:
        return None


def _untracked(root: Path) -> list[FileChange]:
    raw = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    paths = [p for p in raw.decode("utf-8", "surrogateescape").split("\0") if p]
    return [FileChange("", path, None, _read(root, path)) for path in paths[:MANY_FILES]]
