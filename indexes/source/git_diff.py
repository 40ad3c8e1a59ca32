"""Which files differ between two states of a work tree. Nothing is written to the repository.

git would compare contents through the filters that attributes name, which are programs. So it is
asked which files differ in size or time from its index, and those are hashed here.
"""

from __future__ import annotations

import os
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from indexes.model.errors import NotFound, SourceError
from indexes.source.files import Folder, content_hash, read_file
from indexes.source.git import Repository

WORKING = "the working tree"
STAGED = "the staged changes"
MANY_FILES = 5000
"""With more, git's index does not belong to the tree."""
_SUBMODULE = "160000"
_RAW = ("--raw", "-z", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--ignore-submodules")
_UNREADABLE = "it can't be read"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A changed file. A path is empty on the side without the file."""

    old_path: str
    new_path: str
    old: bytes | None
    """None if absent, or missing from this clone."""
    new: bytes | None
    unreadable: str = ""

    @property
    def path(self) -> str:
        """Its present path, or its former one."""
        return self.new_path or self.old_path


@dataclass(frozen=True, slots=True)
class TreeChange:
    """All changed files."""

    base: str
    target: str
    files: tuple[FileChange, ...]


@dataclass(frozen=True, slots=True)
class _State:
    """A file in a commit, in git's index or in the work tree."""

    path: str
    mode: str = ""
    """In git's spelling; empty for an absent file."""
    blob: str = ""
    """git's hash of the content; empty for none or an unreadable one."""


_Aside = dict[str, str]
"""Variables that make git use another index and object folder."""
_Difference = tuple[_State, _State]
"""Before and after; the paths differ for a renamed file."""


def changes(
    root: Path, since: str | None = None, until: str | None = None, staged: bool = False
) -> TreeChange:
    """The files that differ between ``since`` (HEAD) and ``until``: a commit, the staged state, or
    the working tree with untracked files. ``A..B`` in ``since`` names both.

    Raises SourceError without git or ``.git``, NotFound for an unknown revision.
    """
    repository = Repository.at(root)
    if repository is None:
        raise SourceError(
            f"{root} has no .git: what changed is unknown; torchnav impact FILE:LINE or SYMBOL"
            " says what one place reaches"
        )
    if since and ".." in since:
        since, _, until = since.replace("...", "..").partition("..")
    base = _commit(repository, since or "HEAD")
    if until:
        found = _differences(repository, "diff-tree", "-r", "-M", base, _commit(repository, until))
        return TreeChange(since or "HEAD", until, _files(repository, found))
    if staged:
        found = _differences(repository, "diff-index", "--cached", "-M", base)
        return TreeChange(since or "HEAD", STAGED, _files(repository, found))
    return TreeChange(since or "HEAD", WORKING, _WorkTree(repository).changes(base))


def is_edited(
    repository: Repository,
    folders: Sequence[str],
    hash_of: Callable[[str], bytes],
    counts: Callable[[str], bool] = lambda _: True,
) -> bool | None:
    """Whether tracked files in ``folders`` differ from HEAD, those that ``counts``. None if
    unknown: there is no git, or it refuses another user's repository. ``hash_of`` gives the content
    hash of a file, which may be cached."""
    top = repository.work_tree
    paths = ["--", *(path for path in folders if os.path.exists(f"{top}/{path}"))]
    try:
        staged = _differences(repository, "diff-index", "--cached", "--no-renames", "HEAD", *paths)
        now = {one.path: one for one in _WorkTree(repository).edited(paths, counts, hash_of)}
    except SourceError:
        return None
    changed = [now.pop(new.path, new) != old for old, new in staged if counts(new.path)]
    return any(changed) or bool(now)


def _commit(repository: Repository, revision: str) -> str:
    found = repository.commit_of(revision)
    if found:
        return found
    repository.check_readable()
    hint = ""
    if repository.cuts:
        hint = "; the history of this clone is cut off: git fetch --deepen 100, or --unshallow"
    raise NotFound(f"no commit {revision!r} in this repository{hint}")


class _WorkTree:
    """The files of a work tree, compared with git's index."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._folder = Folder(repository.work_tree)
        self._algorithm = "sha1" if len(repository.commit or "") <= 40 else "sha256"

    def changes(self, base: str) -> tuple[FileChange, ...]:
        """What differs from a commit, including untracked files."""
        edited = list(self.edited())
        with tempfile.TemporaryDirectory(prefix="torchnav-") as folder:
            aside = self._aside(Path(folder), edited[:MANY_FILES]) if edited else None
            found = _differences(
                self._repository, "diff-index", "--cached", "-M", base, aside=aside
            )
        if max(len(found), len(edited)) > MANY_FILES:
            raise SourceError(
                f"git says that {len(found):,} files differ: its index is not that of this tree;"
                " name two commits (A..B), or restore the index with git reset"
            )
        now = {state.path: self._content(state) for state in edited}
        return (*_files(self._repository, found, now), *self._untracked())

    def edited(
        self,
        paths: Sequence[str] = (),
        counts: Callable[[str], bool] = lambda _: True,
        hash_of: Callable[[str], bytes] = lambda _: b"",
    ) -> Iterator[_State]:
        """The tracked files that differ from the index, as they are now."""
        for noted, now in _differences(self._repository, "diff-files", *paths):
            if not counts(now.path):
                continue
            if now.mode and hash_of(now.path).hex() == noted.blob:
                now = _State(now.path, now.mode, noted.blob)
            else:
                now = self._state(noted, now.mode)
            if now != noted:
                yield now

    def _state(self, noted: _State, mode: str) -> _State:
        content = self._content(_State(noted.path, mode))
        if content is None:  # gone, or of a name that no content has
            return _State(noted.path, mode, self._name(os.fsencode(noted.path)) if mode else "")
        # git may have converted the ends of the lines.
        names = [self._name(content), self._name(content.replace(b"\r\n", b"\n"))]
        return _State(noted.path, mode, noted.blob if noted.blob in names else names[0])

    def _name(self, content: bytes) -> str:
        return content_hash(content, self._algorithm).hex()

    def _content(self, state: _State) -> bytes | None:
        """The content of a file or link; None if unreadable."""
        try:
            if state.mode.startswith("12"):
                return os.fsencode(os.readlink(f"{self._repository.work_tree}/{state.path}"))
            return self._folder.read(state.path) if state.mode else None
        except (OSError, SourceError):
            return None

    def _aside(self, folder: Path, edited: Sequence[_State]) -> _Aside:
        """Writes an index and objects of the work tree, for finding renames; returns their
        variables."""
        index, feed = folder / "index", folder / "feed"
        index.write_bytes(read_file(f"{self._repository.path}/index"))
        none = "0" * len(self._name(b""))
        entries = (f"{one.mode or 0} {one.blob or none}\t{one.path}\0" for one in edited)
        feed.write_bytes(os.fsencode("".join(entries)))
        for state in edited:
            if content := self._content(state):
                object_file = folder / state.blob[:2] / state.blob[2:]
                object_file.parent.mkdir(exist_ok=True)
                object_file.write_bytes(zlib.compress(b"blob %d\0%b" % (len(content), content), 1))
        aside = {
            "GIT_INDEX_FILE": str(index),
            "GIT_OBJECT_DIRECTORY": str(folder),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": f"{self._repository.common}/objects",
        }
        _ask(self._repository, "update-index", "-z", "--index-info", feed=feed, aside=aside)
        return aside

    def _untracked(self) -> Iterator[FileChange]:
        listing = _ask(self._repository, "ls-files", "--others", "--exclude-standard", "-z")
        for path in listing.split("\0")[:-1][:MANY_FILES]:
            if not os.path.islink(f"{self._repository.work_tree}/{path}"):
                content = self._content(_State(path, "100644"))
                unreadable = _UNREADABLE if content is None else ""
                yield FileChange("", path, None, content, unreadable)


def _ask(
    repository: Repository, *arguments: str, feed: Path | None = None, aside: _Aside | None = None
) -> str:
    found = repository.run(*arguments, feed=feed, variables=aside)
    if found.status:
        raise SourceError(f"git {arguments[0]} failed: {found.reason}")
    return found.output.decode("utf-8", "surrogateescape")


def _differences(
    repository: Repository, command: str, *arguments: str, aside: _Aside | None = None
) -> list[_Difference]:
    parts = iter(_ask(repository, command, *_RAW, *arguments, aside=aside).split("\0"))
    found: list[_Difference] = []
    for head in parts:
        if not head.startswith(":"):
            continue
        old_mode, new_mode, old, new, status = head[1:].split(" ")
        path = next(parts)
        renamed = next(parts) if status[0] in "RC" else path
        if _SUBMODULE not in (old_mode, new_mode):
            found.append((_state(path, old_mode, old), _state(renamed, new_mode, new)))
    return found


def _state(path: str, mode: str, blob: str) -> _State:
    return _State(path, mode.strip("0") and mode, blob.strip("0") and blob)


def _files(
    repository: Repository,
    found: Sequence[_Difference],
    now: Mapping[str, bytes | None] = MappingProxyType({}),
) -> tuple[FileChange, ...]:
    """The files with their contents; ``now``: those only in the work tree."""
    files = (_file(repository, *difference, now) for difference in found)
    return tuple(file for file in files if file.old != file.new or file.unreadable == _UNREADABLE)


def _file(
    repository: Repository, old: _State, new: _State, now: Mapping[str, bytes | None]
) -> FileChange:
    unreadable = ""
    before = after = None
    try:
        before = repository.blob(bytes.fromhex(old.blob)) if old.blob else None
        if new.path not in now:
            after = repository.blob(bytes.fromhex(new.blob)) if new.blob else None
    except OSError as error:
        unreadable = str(error)
    if new.mode and new.path in now:
        after = now[new.path]
        unreadable = unreadable or ("" if after is not None else _UNREADABLE)
    return FileChange(old.mode and old.path, new.mode and new.path, before, after, unreadable)
