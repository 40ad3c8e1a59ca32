"""The installed torch, of one Python for every command, found without importing it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import which

from indexes.model.errors import UsageError
from indexes.model.regex import regex
from indexes.source.files import current_folder, read_text

_VERSION = regex(r"(?m)^__version__\s*=\s*['\"]([^'\"]+)['\"]")
_COMMIT = regex(r"(?m)^git_version\s*=\s*['\"]([0-9a-f]{40})['\"]")
_RELEASE = regex(r"\d+\.\d+\.\d+(?:-?rc\d+)?")


@dataclass(frozen=True, slots=True)
class TorchInstall:
    """A torch package on the path of a Python."""

    root: Path
    """The folder with the ``torch`` package."""
    version: str
    """As ``torch.__version__``: ``2.7.0+cpu``."""
    commit: str | None
    """The commit of PyTorch that it was built from."""

    @property
    def tag(self) -> str | None:
        """The release tag of its version, ``v2.7.0``; None for a nightly or local build."""
        public = self.version.partition("+")[0]
        return f"v{public}" if _RELEASE.fullmatch(public) else None


OWN = "torchnav's own"


@dataclass(frozen=True, slots=True)
class TargetPython:
    """The Python that programs run with, and whose torch is the installed one."""

    path: str
    reason: str
    """What chose it: ``--python``, ``config.toml``, ``VIRTUAL_ENV``, ``CONDA_PREFIX``, ``PATH``, or
    ``torchnav's own``."""
    torch: TorchInstall | None


def choose_python(name: str, reason: str) -> None:
    """Sets the Python; an empty name leaves it to the environment.

    Raises:
        UsageError: There is no such program.
    """
    _chosen.clear()
    if name:
        _chosen[_program(name)] = reason


def target_python() -> TargetPython:
    """The chosen Python; else the first with torch: of the environment, ``PATH``, torchnav's
    own."""
    for path, reason in _chosen.items():
        return TargetPython(path, reason, _torch_of(path))
    for path, reason in _active():
        if torch := _torch_of(path):
            return TargetPython(path, reason, torch)
    return TargetPython(sys.executable, OWN, _own_torch())


def installed_torch() -> TorchInstall | None:
    """The torch that ``import torch`` would find in the target Python, or None."""
    return target_python().torch


_chosen: dict[str, str] = {}
"""The Python named by the command line or config file, and which of them; or empty."""


def _program(name: str) -> str:
    found = which(os.path.expanduser(name))
    if found is None:
        raise UsageError(f"no Python at {name}")
    return os.path.abspath(found)


def _active() -> Iterator[tuple[str, str]]:
    """The Pythons of the environment, with the variable that names each."""
    folder = "Scripts" if os.name == "nt" else "bin"
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        root = os.environ.get(variable)
        if root and (path := which(os.path.join(root, folder, "python"))):
            yield os.path.abspath(path), variable
    for name in ("python", "python3"):
        if path := which(name):
            yield os.path.abspath(path), "PATH"


def _torch_of(python: str) -> TorchInstall | None:
    """The torch of a Python, which is asked unless it is the running one."""
    own = os.path.dirname(os.path.abspath(sys.executable))
    if python == os.path.abspath(sys.executable) or os.path.dirname(python) == own:
        return _own_torch()
    folder = _torch_folder(python)
    return torch_in(Path(folder)) if folder else None


@cache
def _torch_folder(python: str) -> str:
    """The folder from which a Python would import torch; empty if it has none or cannot run."""
    try:
        done = subprocess.run(
            [python, "-c", _WHERE],
            cwd=os.path.dirname(python),  # not ours, where a source tree may stand for the package
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=True,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return next(reversed(done.stdout.splitlines()), "")  # before it, what sitecustomize prints


_WHERE = """\
import importlib.util, os
spec = importlib.util.find_spec("torch")
found = os.path.dirname(os.path.dirname(spec.origin)) if spec and spec.origin else ""
print("\\n" + found)
"""
_TIMEOUT_S = 20


def _own_torch() -> TorchInstall | None:
    found = (torch_in(root) for root in _candidates())
    return next((torch for torch in found if torch), None)


def torch_in(root: Path) -> TorchInstall | None:
    """The built torch package in the folder ``root``, or None: a source tree has no version.py."""
    try:
        text = read_text(root / "torch" / "version.py")
    except OSError:
        return None
    version, commit = _VERSION.search(text), _COMMIT.search(text)
    return TorchInstall(root, version[1], commit[1] if commit else None) if version else None


def _candidates() -> Iterator[Path]:
    """The import system's answer first; then the path, past a source tree that shadows it."""
    try:
        spec = find_spec("torch")
    except (ImportError, ValueError):
        spec = None
    if spec is not None and spec.origin:
        yield Path(spec.origin).parent.parent
    yield from (Path(entry or current_folder()) for entry in sys.path)
