"""Access to git: reads a repository without running anything that it names.

The commit is read from git's own files, since most answers need nothing else. Where git is started,
it is started here, by GitPython, for read-only commands. A checkout's configuration and the
environment can name programs (filters, hooks, a pager, an editor, a file monitor): none of them
runs. Nothing is fetched or written, not even the index that ``git status`` would refresh. Only
``Clone`` may fetch and write.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from indexes.model.errors import FILE_BYTES, SourceError
from indexes.model.regex import MULTILINE, regex
from indexes.source.files import open_file, read_text

if TYPE_CHECKING:
    from pathlib import Path

    from git.cmd import Git

_LOG = logging.getLogger("torchnav.git")
_HEX = frozenset("0123456789abcdef")
_HASH_LENGTHS = (40, 64)
"""For SHA-1 and SHA-256."""
_GITHUB = regex(r"(?:https?://|ssh://git@|git@)github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?\Z")
_URL = regex(r"^\s*url\s*=\s*(.+?)\s*$", MULTILINE)
_NO_GIT = 127
_TIMEOUT = 60.0
"""Seconds."""
_CONFIG_TIMEOUT = 10.0
"""Seconds to list a configuration, which takes milliseconds."""

_OPTIONS = ("--no-pager", "--no-optional-locks", "--literal-pathspecs")
_SETTINGS = {
    "core.attributesFile": "/dev/null",
    "core.editor": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "core.untrackedCache": "false",
    "diff.external": "",
    "gc.auto": "0",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
}
_OFFLINE = {"core.askPass": "", "core.sshCommand": "false", "credential.helper": ""}
_ENVIRONMENT = {"GIT_ATTR_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
# Git before 2.44 knows no GIT_NO_LAZY_FETCH, but a protocol that is not allowed fetches nothing.
_READING = {**_ENVIRONMENT, "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
# All other variables of git would have it answer for another repository or run what they name.
_KEPT = {
    "GIT_CEILING_DIRECTORIES",
    "GIT_CONFIG_GLOBAL",  # says which folders of other users are safe
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
}
_KEPT_ONLINE = ("GIT_ASKPASS", "GIT_PROXY", "GIT_SSH", "GIT_SSL")
_FILES = ("core.excludesfile", "diff.orderfile", "mailmap.file")
"""Configuration keys of files that git reads, except ``blame.ignoreRevsFile``: git times out
then."""
_OF_THE_TREE = (".gitattributes", ".gitignore", ".mailmap")
_FILTER = regex(r"filter\..*\.(?:clean|smudge|process|required)\Z")


@dataclass(frozen=True, slots=True)
class GitResult:
    """A git command's result. ``status``: 127 if git cannot be started, negative after a
    timeout."""

    status: int
    output: bytes
    error: str = ""

    @property
    def text(self) -> str:
        return self.output.decode("utf-8", "replace")

    @property
    def reason(self) -> str:
        """Why there is no answer, in one line."""
        said = self.error.strip().splitlines() or ["git failed"]
        fatal = next((one for one in said if one.startswith("fatal: ")), said[-1])
        advice = f": {said[-1].strip()}" if said[-1].startswith("\t") else ""
        return fatal.removeprefix("fatal: ") + advice


@dataclass(frozen=True)
class Repository:
    """The repository of a work tree, read-only."""

    work_tree: str
    path: str
    """The git folder, with HEAD and the index."""
    common: str
    """The folder of refs, config and objects; differs from ``path`` in a linked work tree."""
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def at(cls, root: Path | str) -> Repository | None:
        """The repository of the work tree at ``root``; None if there is none."""
        top = str(root)
        path = f"{top}/.git"
        if os.path.isfile(path):  # a linked work tree or a submodule
            pointer = _text(path).partition("gitdir:")[2].strip()
            if not pointer:
                return None
            path = os.path.join(top, pointer)
        if not os.path.isdir(path):
            return None
        named = _text(f"{path}/commondir").strip()
        common = os.path.realpath(os.path.join(path, named)) if named else path
        # git would wait for a FIFO, and read a device to its end.
        read = [f"{path}/HEAD", f"{path}/index", f"{common}/config", f"{common}/info/exclude"]
        read += [f"{top}/{name}" for name in _OF_THE_TREE]
        if any(os.path.exists(one) and not os.path.isfile(one) for one in read):
            return None
        return cls(top, path, common)

    # ---------------------------------------------------------------- read from its files

    @property
    def commit(self) -> str | None:
        """The full hash of HEAD; None before the first commit or if unreadable."""
        head = _text(f"{self.path}/HEAD").strip()
        if _hash(head):
            return head
        ref = head.removeprefix("ref: ")
        if ref == head or ".." in ref:
            return None
        if os.path.isdir(f"{self.common}/reftable"):
            return _hash(self.run("rev-parse", "HEAD").text)
        return _hash(_text(os.path.join(self.common, ref))) or self._packed(ref)

    def _packed(self, ref: str) -> str | None:
        for line in _text(f"{self.common}/packed-refs").splitlines():
            value, _, name = line.partition(" ")
            if name == ref:
                return _hash(value)
        return None

    @property
    def cuts(self) -> int:
        """The number of commits with missing parents; 0 for a whole history."""
        return len(_text(f"{self.common}/shallow").split())

    @property
    def github_name(self) -> str | None:
        """``owner/name`` of ``origin`` if on GitHub."""
        config = _text(f"{self.common}/config")
        section = config.partition('[remote "origin"]')[2].partition("\n[")[0]
        found = _URL.search(section)
        name = _GITHUB.match(found[1]) if found else None
        return name[1] if name else None

    # ------------------------------------------------------------------------- asked of git

    def run(
        self,
        *arguments: str,
        timeout: float = _TIMEOUT,
        feed: Path | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> GitResult:
        """Runs a read-only git command.

        Parameters:
            timeout: In seconds.
            feed: A file for git's input.
            variables: Added to git's environment.
        """
        if self._configured.status:  # its filters are not known
            return self._configured
        environment = {**_READING, **(variables or {})}
        return _run([*self._command, *arguments], environment, timeout, feed)

    @cached_property
    def _command(self) -> list[str]:
        """The start of each command, with every filter disabled. Raises SourceError if that
        fails."""
        settings = {**_SETTINGS, **_OFFLINE}
        return _command(self.work_tree, _harmless(self.work_tree, settings, self._configured))

    @cached_property
    def _configured(self) -> GitResult:
        return _configured(self.work_tree)

    def check_readable(self) -> None:
        """Raises SourceError if git refuses to read the repository, as it does another user's."""
        asked = self.run("rev-parse", "--git-dir")
        if asked.status:
            raise SourceError(f"git cannot read {self.work_tree}: {asked.reason}")

    def commit_of(self, revision: str) -> str | None:
        """The full hash of a tag, branch or partial hash; None if unknown."""
        if not revision or revision.startswith("-") or "\0" in revision:
            return None
        wanted = f"{revision}^{{commit}}"
        found = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
        return _hash(found.text) if found.status == 0 else None

    def files_of(self, commit: str, paths: Sequence[str]) -> Iterator[tuple[str, int, bytes]]:
        """Path, size and blob of every regular file of a commit under ``paths``.

        Raises SourceError if git cannot list them. The size of a blob missing from this clone is 0.
        """
        command = ("ls-tree", "-r", "-z", "--full-tree")
        listing = self.run(*command, "--long", commit, "--", *paths)
        if listing.status:  # a clone without some blobs does not know their sizes
            listing = self.run(*command, commit, "--", *paths)
        if listing.status:
            raise SourceError(f"git cannot list the files of {commit[:12]} in {self.work_tree}")
        for entry in listing.output.split(b"\0"):
            facts, _, path = entry.partition(b"\t")
            mode, _, blob, *size = facts.split() or (b"", b"", b"")
            if mode.startswith(b"100"):  # neither a link nor a submodule
                number = int(size[0]) if size and size[0].isdigit() else 0
                yield path.decode("utf-8", "replace"), number, bytes.fromhex(blob.decode())

    def blob(self, name: bytes) -> bytes:
        """The content of a blob. Raises OSError if this clone lacks it."""
        with self._one_at_a_time:
            content = self._read_blob(name)
        if content is None:
            self.__dict__.pop("_blobs", None)  # it may have ended; the next one begins anew
            raise FileNotFoundError("its content is not in this clone")
        return content

    def _read_blob(self, name: bytes) -> bytes | None:
        try:
            self._blobs.stdin.write(name.hex().encode() + b"\n")
            self._blobs.stdin.flush()
            header = self._blobs.stdout.readline().split()
        except OSError:
            return None
        if len(header) != 3 or header[1] != b"blob" or int(header[2]) > FILE_BYTES:
            return None
        content: bytes = self._blobs.stdout.read(int(header[2]))
        self._blobs.stdout.read(1)  # the line ends
        return content

    @cached_property
    def _blobs(self) -> Git.AutoInterrupt:
        """One process for contents; it ends with this object."""
        return _start([*self._command, "cat-file", "--batch"], _READING)


class Clone:
    """A repository that torchnav makes: it may fetch, with the user's credentials."""

    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        self._folder = str(folder)
        self._settings = {**_SETTINGS, **settings}
        self._online = {**_ENVIRONMENT, "GIT_ALLOW_PROTOCOL": "https:http:ssh:git:file"}

    @cached_property
    def _command(self) -> list[str]:
        """The start of each command: nothing is checked out through a filter, including the user's.
        Raises SourceError if one cannot be disabled."""
        settings = _harmless(self._folder, self._settings, _configured(self._folder))
        return _command(self._folder, settings)

    def run(self, *arguments: str) -> GitResult:
        """Runs a git command."""
        return _run([*self._command, *arguments], self._online, kept=_KEPT_ONLINE)

    def start(self, *arguments: str) -> Git.AutoInterrupt:
        """Starts a git command that reports progress on ``stderr``."""
        return _start([*self._command, *arguments], self._online, kept=_KEPT_ONLINE)


def git_version() -> str | None:
    """The version of the git that is installed, or None."""
    found = _run(["git", "--version"], {})
    return None if found.status else found.text.strip().removeprefix("git version ")


def watched(root: str) -> list[str]:
    """The files under ``.git`` that the commit, edits and depth of history depend on; ``.git``
    itself if it is not a folder."""
    repository = Repository.at(root)
    pointer = [] if os.path.isdir(f"{root}/.git") else [f"{root}/.git"]
    if repository is None:
        return pointer
    ref = _text(f"{repository.path}/HEAD").strip().removeprefix("ref: ")
    names = ["packed-refs", "shallow", "config", "reftable/tables.list"]
    if ref.startswith("refs/") and ".." not in ref:
        names.append(ref)
    own = [f"{repository.path}/{name}" for name in ("HEAD", "index", "commondir")]
    return [*pointer, *own, *(f"{repository.common}/{name}" for name in names)]


def _configured(folder: str) -> GitResult:
    """The configuration as keys and values, with included files."""
    plain = _command(folder, {**_SETTINGS, **_OFFLINE})
    return _run([*plain, "config", "--null", "--list"], _READING, _CONFIG_TIMEOUT)


def _harmless(folder: str, settings: dict[str, str], configured: GitResult) -> dict[str, str]:
    """Settings that also disable every configured filter, which attributes could name, and files
    that git would wait for. Raises SourceError if a filter cannot be disabled."""
    values = dict(entry.partition("\n")[::2] for entry in configured.text.split("\0"))
    filters = {key for key in values if _FILTER.match(key)}
    if any("=" in key for key in filters):  # git would take it for the end of the name
        raise SourceError(f"git's configuration of {folder} names a filter with =")
    off = {key: "false" if key.endswith(".required") else "" for key in sorted(filters)}
    odd = {key: "/dev/null" for key in _FILES if _is_odd(folder, values.get(key, ""))}
    return {**settings, **off, **odd}


def _is_odd(folder: str, file: str) -> bool:
    path = os.path.join(folder, os.path.expanduser(file))
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _command(folder: str, settings: dict[str, str]) -> list[str]:
    given = (word for key, value in settings.items() for word in ("-c", f"{key}={value}"))
    return ["git", *_OPTIONS, *given, "-C", folder]


def _run(
    command: list[str],
    environment: dict[str, str],
    timeout: float | None = None,
    feed: Path | None = None,
    kept: tuple[str, ...] = (),
) -> GitResult:
    try:
        from git.cmd import Git
        from git.exc import GitCommandNotFound
    except ImportError:  # so it says that there is no git
        return GitResult(_NO_GIT, b"", "git is not installed")
    try:
        with open_file(feed, None) if feed else nullcontext() as given:
            status, output, error = Git().execute(
                [*_without_variables(kept), *command],
                istream=given,
                env=environment,
                kill_after_timeout=timeout,
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
            )
    except (GitCommandNotFound, OSError):
        return GitResult(_NO_GIT, b"", "git is not installed")
    _LOG.debug("git: status %s: %s", status, " ".join(command[-8:]))
    if timeout and status < 0:
        error = f"git took longer than {timeout:g} s"
    return GitResult(status, output, error)


def _start(
    command: list[str], environment: dict[str, str], kept: tuple[str, ...] = ()
) -> Git.AutoInterrupt:
    from subprocess import PIPE

    from git.cmd import Git

    return Git().execute(
        [*_without_variables(kept), *command], istream=PIPE, env=environment, as_process=True
    )


def _without_variables(kept: tuple[str, ...]) -> list[str]:
    """The start of a command without git's variables, which GitPython can set but not remove."""
    unwanted = (
        name
        for name in os.environ
        if name.startswith("GIT_") and name not in _KEPT and not (kept and name.startswith(kept))
    )
    options = [word for name in unwanted for word in ("-u", name)]
    return ["env", *options] if options else []


def _hash(text: str) -> str | None:
    text = text.strip()
    return text if len(text) in _HASH_LENGTHS and _HEX.issuperset(text) else None


def _text(path: str) -> str:
    try:
        return read_text(path)
    except (OSError, ValueError):  # ValueError: a name in it that can be none of a file
        return ""
