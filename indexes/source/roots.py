"""Roots: folders of extensions that are indexed beside a tree of PyTorch.

A path in a root begins with its name: ``@xpu/src/ATen/native/xpu/Activation.cpp``. Operator
libraries in the tree, ``third_party/torch-xpu-ops``, are found here too; their files keep the
tree's paths.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from indexes.model.errors import SourceError
from indexes.model.files import Root, Roots
from indexes.model.regex import regex
from indexes.source.files import read_file

_UNFIT = regex(r"[^\w.+-]+")


NamedFolder = tuple[str, str]
"""A folder and its name, empty for the folder's own."""


def named_roots(folders: Iterable[NamedFolder], tree: str = "") -> Roots:
    """The roots that a user named, each folder once.

    Parameters:
        folders: Each folder with its name.
        tree: The top of the tree, which is no root.

    Raises:
        SourceError: For a folder that cannot be read, or is the tree.
    """
    found: list[Root] = []
    for folder, name in folders:
        top = os.path.realpath(os.path.expanduser(folder))
        _check(folder, top, tree)
        if all(top != one.top for one in found):
            found.append(Root(_free(name or os.path.basename(top), found), top))
    return tuple(found)


def _check(folder: str, top: str, tree: str) -> None:
    if not os.path.isdir(top):
        raise SourceError(f"no extension at {folder}: no such folder")
    try:
        os.scandir(top).close()
    except OSError as error:
        raise SourceError(f"cannot read the extension at {folder}: {error.strerror}") from error
    if tree and top == os.path.realpath(tree):
        raise SourceError(f"{folder} is the source tree itself, not an extension beside it")


def _free(name: str, taken: Sequence[Root]) -> str:
    """A name that is valid in a path and not another root's."""
    plain = _UNFIT.sub("-", name).strip("-") or "root"
    names = {one.name for one in taken}
    numbered = (f"{plain}-{number}" for number in range(2, len(names) + 3))
    return next(one for one in (plain, *numbered) if one not in names)


# ----------------------------------------------------------- operator libraries in a tree

_VENDORED = "third_party"
_SOURCES = (".cpp", ".cc", ".cu", ".mm", ".sycl")
_ASIDE = frozenset(("test", "tests", "docs", "doc", "examples", "benchmark", "benchmarks", "cmake"))
_MOST_FOLDERS = 60
"""Most folders of a library that are examined."""
_FEW = 2
"""Sampled files per folder, and at most."""
_MANY = 20
_HEAD = 64 << 10
_FOR_PYTORCH = regex(rb"#\s*include\s*[<\"](?:ATen|torch)/")
_REGISTERS = regex(
    rb"\b(?:TORCH_LIBRARY_IMPL\s*\(\s*aten\b|REGISTER_\w+_DISPATCH\s*\(|TORCH_IMPL_FUNC\s*\()"
)
"""Calls that register kernels for PyTorch's operators."""


def operator_libraries(top: str, known: Iterable[str]) -> list[str]:
    """The folders under ``third_party`` with kernels of PyTorch's operators.

    Recognised by includes and registrations in a sample of files. Libraries of which a part is
    ``known`` are left out, as are libraries of their own operators, some of which are as large as
    PyTorch.
    """
    folder = f"{top}/{_VENDORED}"
    taken = {path.split("/")[1] for path in known if path.startswith(f"{_VENDORED}/")}
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [
        f"{_VENDORED}/{name}"
        for name in names
        if name not in taken and os.path.isdir(f"{folder}/{name}") and _holds(f"{folder}/{name}")
    ]


def _holds(library: str) -> bool:
    """Whether sampled files include PyTorch, and one registers something."""
    pending, for_pytorch = [library], False
    for folder in pending:
        folders, files = _listed(folder)
        pending += folders[: _MOST_FOLDERS - len(pending)]
        for path in files[: _MANY if for_pytorch else _FEW]:
            data = _start_of(path)
            for_pytorch = for_pytorch or _FOR_PYTORCH.search(data) is not None
            if for_pytorch and _REGISTERS.search(data):
                return True
    return False


def _listed(folder: str) -> tuple[list[str], list[str]]:
    """The folders and the C++ sources in a folder."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda one: one.name)
    except OSError:
        return [], []
    folders = [
        one.path
        for one in entries
        if one.is_dir(follow_symlinks=False) and one.name not in _ASIDE and one.name[0] != "."
    ]
    return folders, [one.path for one in entries if one.name.endswith(_SOURCES)]


def _start_of(path: str) -> bytes:
    try:
        return read_file(path)[:_HEAD]
    except OSError:
        return b""
