"""``torchnav clone``: fetches the parts of PyTorch's repository that torchnav reads, at one commit.

The clone is shallow and sparse. Folders are fetched one by one, so that an interrupted clone can be
resumed; ``Source.find`` recognises a finished clone by the record written at the end.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from indexes.model.errors import NotFound, SourceError, UsageError
from indexes.source.clones import CloneRecord, read_clone_record
from indexes.source.files import CLONE_RECORD
from indexes.source.git import Clone
from indexes.source.source import cache_folder
from indexes.source.torch_install import installed_torch

PYTORCH = "https://github.com/pytorch/pytorch"

# Top-level files (version.txt, CODEOWNERS) are always included.
FOLDERS = ("aten", "c10", "torch", "torchgen", "tools/autograd", "tools/pyi", "test", ".github")

ProgressCallback = Callable[[str, int, int], None]
"""Called with the stage, the amount done and the total."""

_REF = re.compile(r"[A-Za-z0-9][\w./+-]*\Z")
_COMMIT = re.compile(r"[0-9a-f]{40}\Z")
_RELEASE = re.compile(r"\d+\.\d+(\.\d+)?\Z")
_PROGRESS = re.compile(r"(?:remote: )?([A-Z][\w ]+):\s+\d+% \((\d+)/(\d+)\)")
_SETTINGS = {
    "advice.detachedHead": "false",
    "core.autocrlf": "false",
    # Give up on a connection that has been dead for half a minute.
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "30",
}


@dataclass(frozen=True, slots=True)
class Request:
    """What to clone: one of ``refs``, tried in order."""

    url: str
    refs: tuple[str, ...]
    history: bool = False
    """Fetch all commits, for authors and changes: several hundred megabytes for PyTorch."""

    def folder(self, cache: Path) -> Path:
        """The folder of its clone; the same for equal requests, so that they resume."""
        name = re.sub(r"[^\w.-]+", "-", self.refs[0])[:40]
        key = hashlib.blake2b(f"{self.url}\n{self.refs[0]}".encode(), digest_size=4).hexdigest()
        return cache / "clones" / f"{name}-{key}"


def plan(ref: str | None = None, url: str = PYTORCH, history: bool = False) -> Request:
    """The request for ``ref``, or for the source of the installed torch.

    Raises UsageError for an invalid ref name, SourceError if there is no ref and no installed
    torch.
    """
    if url.startswith("-"):
        raise UsageError(f"not a repository's address: {url}")
    if ref is None:
        return Request(url, _installed_refs(), history)
    if not _REF.match(ref) or ".." in ref or ref.endswith((".lock", "/")):
        raise UsageError(f"not a tag, branch or commit: {ref!r}")
    if re.fullmatch(r"[0-9a-f]{7,39}", ref):
        raise UsageError(f"{ref} looks like an abbreviated commit hash: give all 40 characters")
    refs: tuple[str, ...] = (ref,)
    if found := _RELEASE.match(ref):
        refs = (f"v{ref}" if found[1] else f"v{ref}.0", ref)
    return Request(url, refs, history)


def _installed_refs() -> tuple[str, ...]:
    torch = installed_torch()
    if torch is None:
        raise SourceError("torch is not installed: name what to clone, e.g. `main`")
    refs = tuple(ref for ref in (torch.commit, torch.tag) if ref)
    if not refs:
        raise SourceError(
            f"the installed torch {torch.version} records no commit and is not a release:"
            " name what to clone, e.g. `main`"
        )
    return refs


def clone(
    request: Request, cache: Path | None = None, progress: ProgressCallback | None = None
) -> CloneRecord:
    """Fetches ``request`` into the cache, or resumes an earlier attempt.

    Raises NotFound if the repository has no such ref, SourceError with one line if git is missing,
    the repository can't be reached or the cache can't be written.
    """
    if not shutil.which("git"):
        raise SourceError("torchnav clone needs git, which is not installed")
    folder = request.folder(cache or cache_folder())
    done = read_clone_record(folder)
    if done and _COMMIT.match(request.refs[0]) and not request.history:
        return done
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            return _Cloner(request, folder, progress or (lambda *_: None)).run()
    except OSError as error:
        reason = error.strerror or error
        raise SourceError(f"cannot write the clone in {folder}: {reason}") from error


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Locks a clone that is being made against other processes."""
    try:
        import fcntl
    except ImportError:  # Windows: only git's own locks
        yield
        return
    with open(folder.with_name(f".{folder.name}.lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SourceError(f"another torchnav is cloning into {folder}") from None
        for stale in ("index.lock", "shallow.lock", "config.lock"):  # left by a killed git
            (folder / ".git" / stale).unlink(missing_ok=True)
        yield


class _Cloner:
    """Runs git commands in the clone's folder."""

    def __init__(self, request: Request, folder: Path, progress: ProgressCallback) -> None:
        self.request = request
        self.folder = folder
        self.record = folder / ".git" / CLONE_RECORD
        self.progress = progress
        self.repository = self._open()

    def _open(self) -> Clone:
        repository = Clone(self.folder, _SETTINGS)
        repository.run("init", "--quiet")
        origin = {"url": self.request.url, "promisor": "true", "partialclonefilter": "blob:none"}
        for key, value in origin.items():
            repository.run("config", f"remote.origin.{key}", value)
        return repository

    def run(self) -> CloneRecord:
        ref = self._fetch()
        commit = self.repository.run("rev-parse", "FETCH_HEAD^{commit}").text.strip()
        before = read_clone_record(self.folder)
        if before is None or before.commit != commit:
            # A complete tree may contain edits, which git refuses to overwrite.
            self._check_out(commit, force=before is None)
        if self.request.history:
            self._deepen(commit)
        return self._finish(commit, ref)

    def _fetch(self) -> str:
        """Fetches the first ref that the repository has; returns that ref."""
        for ref in self.request.refs:
            depth = [] if self._has_history() else ["--depth=1"]
            command = ["fetch", "--progress", "--no-tags", "--filter=blob:none", *depth]
            failure = self._git(f"fetching {ref[:12]}", *command, "origin", ref)
            if not failure:
                return ref
            if not re.search("couldn't find remote ref|not our ref|unadvertised object", failure):
                raise self._unreachable(failure)
        names = " or ".join(self.request.refs)
        raise NotFound(f"{self.request.url} has no tag, branch or commit {names}")

    def _has_history(self) -> bool:
        objects = self.folder / ".git"
        return (objects / "FETCH_HEAD").exists() and not (objects / "shallow").exists()

    def _check_out(self, commit: str, force: bool) -> None:
        """Checks out ``commit`` folder by folder, so that an error loses one folder only."""
        forced = ["--force"] if force else []
        if force:
            self._git_or_fail("preparing", "sparse-checkout", "set", "--cone", FOLDERS[0])
        self._git_or_fail(FOLDERS[0], "checkout", *forced, "--progress", "--detach", commit)
        self.record.unlink(missing_ok=True)
        for folder in FOLDERS[1:]:
            self._git_or_fail(folder, "sparse-checkout", "add", folder)

    def _deepen(self, commit: str) -> None:
        if not self._has_history():
            command = ("fetch", "--progress", "--no-tags", "--unshallow", "origin", commit)
            self._git_or_fail("history", *command)

    def _finish(self, commit: str, ref: str) -> CloneRecord:
        record = CloneRecord(self.folder, commit, ref, time.time())
        values = {k: v for k, v in asdict(record).items() if k != "root"}
        part = self.record.with_suffix(".part")
        part.write_text(json.dumps({**values, "url": self.request.url}), encoding="utf-8")
        os.replace(part, self.record)
        found = read_clone_record(self.folder)
        if found is None:
            raise SourceError(f"{self.request.url} at {ref} is not PyTorch's source")
        return found

    def _git_or_fail(self, stage: str, *command: str) -> None:
        if failure := self._git(stage, *command):
            raise self._unreachable(failure)

    def _git(self, stage: str, *command: str) -> str:
        """Runs git and reports its progress; returns its error message, if any."""
        self.progress(stage, 0, 0)
        process = self.repository.start(*command)
        output: deque[str] = deque(maxlen=20)
        for line in io.TextIOWrapper(process.stderr, errors="replace"):
            text = line.strip()
            if found := _PROGRESS.match(text):
                self.progress(f"{stage}: {found[1].lower()}", int(found[2]), int(found[3]))
            elif text:
                output.append(text)
        status = process.proc.wait() if process.proc else 1
        return "\n".join(output) or f"git {command[0]} failed" if status else ""

    def _unreachable(self, output: str) -> SourceError:
        fatal = [line for line in output.splitlines() if line.startswith(("fatal:", "error:"))]
        reason = (fatal or output.splitlines())[0].partition(": ")[2] or output
        return SourceError(f"cloning {self.request.url} stopped: {reason}; rerun to resume")
