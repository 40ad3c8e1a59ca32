"""Opens files: every file of a tree, a cache, a configuration or a trace is opened here.

Only regular files are opened, without waiting: a FIFO or device is an error and never blocks.
Nothing larger than ``MAX_BYTES`` is read into memory, and a ``Folder`` gives nothing outside it.

At the end: the layouts of a checkout and of an installed wheel.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from indexes.model.errors import FILE_BYTES as MAX_BYTES
from indexes.model.errors import PATH_FOLDERS, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import BinaryIO

    from indexes.model.vocabulary import SourceKind

_FLAGS = os.O_RDONLY
for _name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"):  # not every system has all
    _FLAGS |= getattr(os, _name, 0)


def listed(folder: Path, pattern: str) -> list[Path]:
    """The entries of a folder of torchnav's own that match a pattern; none if it cannot be read."""
    return [folder / name for name in glob(pattern, root_dir=folder)]


def modified(path: Path) -> float:
    """When a file was last written; 0 if it is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def open_file(path: str | os.PathLike[str], limit: int | None = MAX_BYTES) -> BinaryIO:
    """Opens a regular file for reading.

    Parameters:
        limit: Its maximum size in bytes; None for a file that is streamed.

    Raises:
        OSError: It cannot be opened, is not a regular file, or is too large.
    """
    try:
        handle = os.open(path, _FLAGS)
    except ValueError as error:  # a zero, or half a character
        raise OSError(errno.EINVAL, "not a path", str(path)) from error
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if limit is not None and found.st_size > limit:
            raise _too_large(path, limit)
        return os.fdopen(handle, "rb")
    except OSError:
        os.close(handle)
        raise


def read_file(path: str | os.PathLike[str], limit: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file. Raises OSError as ``open_file`` does."""
    with open_file(path, limit) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(size + 1)
        if len(data) > size:  # it grew, or is one of /proc that does not tell its size
            data += file.read(limit + 1 - len(data))
    if len(data) > limit:
        raise _too_large(path, limit)
    return data


def read_files(paths: Iterable[str | os.PathLike[str]]) -> list[bytes]:
    """The bytes of several regular files, in order. Raises OSError as ``open_file`` does."""
    return [read_file(path) for path in paths]


def read_text(path: str | os.PathLike[str], limit: int = MAX_BYTES) -> str:
    """The text of a regular file with any bytes. Raises OSError."""
    return read_file(path, limit).decode("utf-8", "replace")


def _too_large(path: str | os.PathLike[str], limit: int) -> OSError:
    return OSError(errno.EFBIG, f"larger than {limit >> 20} MB", str(path))


def sync_file(path: str | os.PathLike[str]) -> None:
    """Flushes a file of torchnav's own to disk. Raises OSError."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def content_hash(data: bytes, algorithm: str = "sha1") -> bytes:
    """git's hash of a content, so that contents of a commit are known without reading them."""
    blob = hashlib.new(algorithm, b"blob %d\0" % len(data), usedforsecurity=False)
    blob.update(data)
    return blob.digest()


_IN_WHEEL = ("torch", "torchgen", "functorch")
"""The packages of an installed torch."""


class Folder:
    """A source tree; gives files in it and nothing outside."""

    def __init__(self, top: str, kind: SourceKind = "checkout") -> None:
        self._top = os.path.realpath(top)
        self._kind = kind
        self._inside: dict[str, bool] = {"": True}

    def read(self, path: str) -> bytes:
        """The bytes of a file, by its path relative to the tree.

        Raises SourceError for a path out of the tree, by ``..``, from the root or through a link,
        and for a file that cannot be read.
        """
        full = self._full(path)
        try:
            return read_file(full)
        except OSError as error:
            raise SourceError(f"cannot read {path}: {error.strerror or error}") from error

    def names(self, folder: str) -> list[str]:
        """The sorted names in a folder of the tree. Raises SourceError as ``read`` does."""
        full = self._full(folder) if folder else self._top
        try:
            found = sorted(os.listdir(full))
        except OSError as error:
            raise SourceError(f"cannot list {folder}: {error.strerror or error}") from error
        return found if folder or self._kind != "wheel" else [*_IN_WHEEL]

    def _full(self, path: str) -> str:
        folder, _, name = path.rpartition("/")
        parts = path.split("/")
        if path.count("/") > PATH_FOLDERS:
            raise SourceError(f"a path of more than {PATH_FOLDERS} folders: {path}")
        if not name or "\0" in path or "\\" in path or any(p in ("", ".", "..") for p in parts):
            raise SourceError(f"not a path in the source tree: {path!r}")
        if self._kind == "wheel" and parts[0] not in _IN_WHEEL:
            raise SourceError(f"not a part of the installed torch: {path}")
        full = f"{self._top}/{path}"
        if not self._is_inside(folder) or (os.path.islink(full) and not self._leads_inside(full)):
            raise SourceError(f"{path} leads out of the source tree")
        return full

    def _is_inside(self, folder: str) -> bool:
        if folder not in self._inside:
            full, above = f"{self._top}/{folder}", folder.rpartition("/")[0]
            plain = self._is_inside(above) and not os.path.islink(full)
            self._inside[folder] = plain or self._leads_inside(full)
        return self._inside[folder]

    def _leads_inside(self, full: str) -> bool:
        real = os.path.realpath(full)
        return real == self._top or real.startswith(self._top.rstrip("/") + "/")


# ----------------------------------------------------------------------------------- layouts

Layout = Literal["checkout", "wheel"]

YAML: dict[Layout, str] = {
    "checkout": "aten/src/ATen/native/native_functions.yaml",
    "wheel": "torchgen/packaged/ATen/native/native_functions.yaml",
}
"""The file by which a tree is recognised, in each layout."""

LOGICAL = {
    "native_functions.yaml": "aten/src/ATen/native/native_functions.yaml",
    "tags.yaml": "aten/src/ATen/native/tags.yaml",
    "ATen/templates": "aten/src/ATen/templates",
    "derivatives.yaml": "tools/autograd/derivatives.yaml",
    "deprecated.yaml": "tools/autograd/deprecated.yaml",
    "autograd/templates": "tools/autograd/templates",
    "FunctionsManual.cpp": "torch/csrc/autograd/FunctionsManual.cpp",
    "engine.cpp": "torch/csrc/autograd/engine.cpp",
    "engine.h": "torch/csrc/autograd/engine.h",
    "TensorImpl.h": "c10/core/TensorImpl.h",
    "DispatchKey.h": "c10/core/DispatchKey.h",
    "DispatchKeySet.h": "c10/core/DispatchKeySet.h",
}
IN_WHEEL = (
    ("aten/src/ATen/native/native_functions.yaml", YAML["wheel"]),
    ("aten/src/ATen/native/tags.yaml", "torchgen/packaged/ATen/native/tags.yaml"),
    ("aten/src/ATen/templates", "torchgen/packaged/ATen/templates"),
    ("tools/autograd", "torchgen/packaged/autograd"),
    ("aten/src/ATen", "torch/include/ATen"),
    ("c10", "torch/include/c10"),
    ("torch/csrc", "torch/include/torch/csrc"),
    ("torch/headeronly", "torch/include/torch/headeronly"),
)
"""Where the wheel keeps paths of a checkout; the first that matches counts."""
CLONE_RECORD = "torchnav-clone.json"
"""In the git folder of a finished clone."""


def moved(path: str, moves: tuple[tuple[str, str], ...]) -> str:
    """A path of one layout in another."""
    for old, new in moves:
        if path == old or path.startswith(f"{old}/"):
            return new + path[len(old) :]
    return path


def layout_of(root: str) -> Layout | None:
    """The layout of the tree at ``root``; None if there is no tree."""
    for layout, path in YAML.items():
        if os.path.isfile(f"{root}/{path}"):
            return layout
    return None


def current_folder() -> str:
    """The absolute path; the root of the file system if the folder was removed."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.path.abspath(os.sep)


def tree_around(path: str) -> tuple[str, Layout] | None:
    """The tree around an absolute path: its top and layout."""
    while True:
        if layout := layout_of(path):
            return path, layout
        above = os.path.dirname(path)
        if above == path:
            return None
        path = above
