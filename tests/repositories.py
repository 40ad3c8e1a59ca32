"""Git repositories made in a test from the small tree."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.tree_marks import TREE

_PERSON = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "A Tester"), ("EMAIL", "tester@example.org"))
}


def git(root: Path, *arguments: str) -> str:
    """Runs git in a repository; returns what it prints."""
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, **_PERSON}
    return subprocess.run(
        ["git", "-C", str(root), *arguments],
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def commit(root: Path, message: str) -> str:
    """Commits everything; returns the commit."""
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)
    return git(root, "rev-parse", "HEAD")


def begin(root: Path, message: str = "The first commit") -> str:
    """Makes a folder a repository with one commit of all that is in it; returns the commit."""
    git(root, "init", "-q", "-b", "main")
    return commit(root, message)


def repository(root: Path) -> Path:
    """The small tree as a repository with one commit, tagged ``v1``."""
    shutil.copytree(TREE, root)
    begin(root)
    git(root, "tag", "v1")
    return root
