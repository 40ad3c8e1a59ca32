"""URLs of files on GitHub, at the tree's commit."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from indexes.model.files import Root, in_extension, placed
from indexes.model.vocabulary import SourceInfo
from indexes.source.files import IN_WHEEL, moved
from indexes.source.git import Repository


def permalink(info: SourceInfo, path: str, line: int = 0, end_line: int = 0) -> str | None:
    """The URL of ``path`` at the tree's commit on GitHub; None if the commit is unknown.

    Lines of edited files may differ: see ``info.dirty``.
    """
    lines = f"#L{line}" if line else ""
    if line and end_line > line:
        lines += f"-L{end_line}"
    if in_extension(path):
        return _permalink_beside(info, path, lines)
    if info.commit is None or os.path.isabs(path):  # a file of the user's own
        return None
    name = "pytorch/pytorch"
    if info.kind == "wheel":
        path = moved(path, tuple((wheel, checkout) for checkout, wheel in IN_WHEEL))
    else:
        name = _github_name(info.root) or name
    return f"https://github.com/{name}/blob/{info.commit}/{path}{lines}"


@lru_cache(16)
def _github_name(root: str) -> str | None:
    repository = Repository.at(root)
    return repository.github_name if repository else None


def _permalink_beside(info: SourceInfo, path: str, lines: str) -> str | None:
    """The same for a file of an extension, whose repository may begin above it."""
    full = file_of(info, path)
    for folder in full.parents:
        if repository := Repository.at(folder):
            commit, name = repository.commit, repository.github_name
            inner = full.relative_to(folder).as_posix()
            known = commit and name
            return f"https://github.com/{name}/blob/{commit}/{inner}{lines}" if known else None
    return None


def file_of(info: SourceInfo, path: str) -> Path:
    """The file on disk for a path in the tree or an extension."""
    return Path(*placed(path, info.root, (Root(*one) for one in info.roots)))
