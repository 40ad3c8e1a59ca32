"""A version of the source by name: a commit, a tag or a branch, a folder, or ``wheel``.

A commit is read from git's objects: the work tree stays as it is, and only files to index are read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from indexes.model.errors import SourceError
from indexes.model.vocabulary import SourceInfo
from indexes.source.git import Repository
from indexes.source.source import Source
from indexes.source.torch_install import installed_torch
from indexes.source.walk import SourceFile, folders, listed, singles

WHEEL = "wheel"
_BESIDE = ("version.txt", "tools/autograd", "test/forward_backward_compatibility")
"""What is read of a commit besides the indexed folders."""
_SUBMODULES = "submodules such as flash-attention, which no commit holds: compare a folder instead"


class CommitSource(Source):
    """One commit of a repository. Opening it only resolves its name."""

    fixed = True

    def __init__(self, repository: Repository, commit: str) -> None:
        super().__init__(repository.work_tree, "checkout")
        self.commit = self.revision = commit
        self._repository = repository

    @property
    def key(self) -> str:
        """The same for every clone that has this commit."""
        return f"commit-{self.commit[:20]}"

    @cached_property
    def _listing(self) -> dict[str, tuple[int, bytes]]:
        wanted = (*folders(self.layout), *singles(self.layout), *_BESIDE)
        found = self._repository.files_of(self.commit, wanted)
        return {path: (size, blob) for path, size, blob in found}

    @cached_property
    def _folders(self) -> frozenset[str]:
        parents = {str(parent) for path in self._listing for parent in Path(path).parents}
        return frozenset(parents)

    @cached_property
    def info(self) -> SourceInfo:
        """The commit, its version and what it lacks."""
        lacks = (_SUBMODULES,)
        return SourceInfo(self.kind, self.top, self._version(), self.commit, False, lacks)

    def files(self, beside: list[str] | None = None) -> Iterator[SourceFile]:
        """The files to index, each with its blob."""
        return listed(((p, *rest) for p, rest in self._listing.items()), self.layout)

    def read(self, path: str) -> bytes:
        """The bytes of one file of the commit. Raises SourceError."""
        if path not in self._listing:
            raise SourceError(f"cannot read {path}: not in {self.commit[:12]}")
        try:
            return self._repository.blob(self._listing[path][1])
        except OSError as error:
            raise SourceError(
                f"cannot read {path} of {self.commit[:12]}: {error}; {self._fetch}"
            ) from error

    @property
    def _fetch(self) -> str:
        paths = " ".join(folders(self.layout))
        commit = self.commit[:12]
        return f"to fetch it: git -C {self.root} diff --shortstat {commit} -- {paths}"

    def listed(self, folder: str) -> list[str]:
        start = f"{folder}/" if folder else ""
        inside = (path[len(start) :] for path in self._listing if path.startswith(start))
        return sorted({path.partition("/")[0] for path in inside})

    def holds(self, path: str) -> bool:
        return path in self._listing or path in self._folders


def open_version(name: str, around: Source | None) -> Source:
    """The source that ``name`` means: ``wheel``, a revision of the repository of ``around``, or a
    folder. A name that begins with ``.``, ``/`` or ``~`` is a folder.

    Raises SourceError with one line that says what to do.
    """
    if name == WHEEL:
        return _wheel()
    folder = Path(os.path.expanduser(name))
    if name.startswith((".", "/", "~")):
        return Source.find(str(folder))
    # A repository that only lies around the tree is not asked: its commits are others.
    repository = Repository.at(around.root) if around else None
    if repository and (commit := repository.commit_of(name)):
        return _commit(repository, commit, name)
    if name and os.path.isdir(folder):
        return Source.find(str(folder))
    raise SourceError(_unknown(name, repository))


def _wheel() -> Source:
    torch = installed_torch()
    if torch is None:
        raise SourceError("no torch is installed here: pip install torch")
    return Source.find(str(torch.root))


def _commit(repository: Repository, commit: str, name: str) -> CommitSource:
    source = CommitSource(repository, commit)
    if source.locate("native_functions.yaml") is None:
        raise SourceError(
            f"{name} ({commit[:12]}) holds no PyTorch source: it has no native_functions.yaml"
        )
    return source


def _unknown(name: str, repository: Repository | None) -> str:
    if repository is None:
        return f"no folder {name}, and no repository to look for a commit, tag or branch in"
    repository.check_readable()
    known = f"no commit, tag, branch or folder {name}"
    if repository.cuts:
        fetch = f"git -C {repository.work_tree} fetch --depth 1 origin"
        return f"{known} in this shallow clone; to get it: {fetch} tag {name}, or {fetch} COMMIT"
    return f"{known}; to look for it upstream: git -C {repository.work_tree} fetch --tags origin"
