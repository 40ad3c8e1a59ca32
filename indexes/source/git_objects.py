"""Reading commits: which files one holds, and their contents by git's name for them.

Nothing is checked out and nothing is written: a commit is read beside whatever the user
has in the work tree.
"""

from __future__ import annotations

import subprocess
import threading
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path

from indexes.model.errors import SourceError
from indexes.source.git_folder import git_command, git_environment


def commit_of(root: Path, revision: str) -> str | None:
    """The full hash of what a tag, a branch or a part of a hash names; None when nothing is."""
    if not revision or revision.startswith("-") or "\0" in revision:
        return None
    wanted = f"{revision}^{{commit}}"
    found = _run(root, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
    return None if found is None else found.decode("ascii", "replace").strip() or None


def files_of(root: Path, commit: str, paths: Sequence[str]) -> Iterator[tuple[str, int, bytes]]:
    """Path, size and blob of every regular file of a commit under ``paths``.

    Raises SourceError when git can't list them. The size of a blob that this clone does
    not hold is 0.
    """
    command = ("ls-tree", "-r", "-z", "--full-tree")
    listing = _run(root, *command, "--long", commit, "--", *paths)
    if listing is None:  # a clone without some blobs does not know their sizes
        listing = _run(root, *command, commit, "--", *paths)
    if listing is None:
        raise SourceError(f"git cannot list the files of {commit[:12]} in {root}")
    for entry in listing.split(b"\0"):
        facts, _, path = entry.partition(b"\t")
        mode, _, blob, *size = facts.split() or (b"", b"", b"")
        if mode.startswith(b"100"):  # neither a link nor a submodule
            number = int(size[0]) if size and size[0].isdigit() else 0
            yield path.decode("utf-8", "replace"), number, bytes.fromhex(blob.decode())


def _run(root: Path, *arguments: str) -> bytes | None:
    try:
        done = subprocess.run(
            git_command(str(root), *arguments),
            capture_output=True,
            env=git_environment(),
            check=False,
        )
    except OSError:  # no git
        return None
    return done.stdout if done.returncode == 0 else None


class Blobs:
    """Contents by blob, read through one git process that is started when first asked."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._git: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = threading.Lock()

    def read(self, blob: bytes) -> bytes:
        """The content of a blob. Raises OSError when this clone does not hold it."""
        with self._one_at_a_time:
            return self._ask(blob)

    def _ask(self, blob: bytes) -> bytes:
        git = self._git or self._start()
        assert git.stdin
        assert git.stdout
        git.stdin.write(blob.hex().encode() + b"\n")
        git.stdin.flush()
        header = git.stdout.readline().split()
        if len(header) != 3 or header[1] != b"blob":
            raise FileNotFoundError("its content is not in this clone")
        content = git.stdout.read(int(header[2]))
        git.stdout.read(1)  # the line ends
        return content

    def _start(self) -> subprocess.Popen[bytes]:
        self._git = subprocess.Popen(
            git_command(self._root, "cat-file", "--batch"),
            env=git_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        weakref.finalize(self, _end, self._git)
        return self._git


def _end(git: subprocess.Popen[bytes]) -> None:
    for pipe in (git.stdin, git.stdout):
        if pipe:
            pipe.close()
    git.wait()
