"""The installed torch, found and described without importing it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexes.model.regex import regex
from indexes.source.files import read_text

if TYPE_CHECKING:
    from pathlib import Path

_VERSION = regex(r"(?m)^__version__\s*=\s*['\"]([^'\"]+)['\"]")
_COMMIT = regex(r"(?m)^git_version\s*=\s*['\"]([0-9a-f]{40})['\"]")
_RELEASE = regex(r"\d+\.\d+\.\d+(?:-?rc\d+)?")


@dataclass(frozen=True, slots=True)
class TorchInstall:
    """A torch package on this interpreter's path."""

    root: Path
    """The folder that holds the ``torch`` package."""
    version: str
    """As ``torch.__version__``: ``2.7.0+cpu``."""
    commit: str | None
    """The commit of PyTorch that it was built from."""

    @property
    def tag(self) -> str | None:
        """The release tag of its version, ``v2.7.0``; None for a nightly or a local build."""
        public = self.version.partition("+")[0]
        return f"v{public}" if _RELEASE.fullmatch(public) else None


def installed_torch() -> TorchInstall | None:
    """The torch that ``import torch`` would find, or None."""
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
    from importlib.util import find_spec
    from pathlib import Path

    try:
        spec = find_spec("torch")
    except (ImportError, ValueError):
        spec = None
    if spec is not None and spec.origin:
        yield Path(spec.origin).parent.parent
    yield from (Path(entry or os.getcwd()) for entry in sys.path)
