"""Which files of a tree are indexed, found with as few system calls as a walk can cost."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from indexes.model.errors import SourceError
from indexes.model.files import Root, inside, is_beside
from indexes.source.roots import operator_libraries

FileKind = Literal["cpp", "python", "yaml", "test", "page", "other"]
Layout = Literal["checkout", "wheel"]

MAX_BYTES = 1_000_000
"""Larger sources are tables of numbers, and cost more than all the rest to read."""

_CPP: dict[str, FileKind] = dict.fromkeys(
    ("cpp", "cc", "c", "h", "hpp", "cuh", "cu", "hip", "mm", "metal", "m"), "cpp"
)
_YAML: dict[str, FileKind] = {"yaml": "yaml"}
_PYTHON: dict[str, FileKind] = {"py": "python"}
_PAGES: dict[str, FileKind] = {"rst": "page", "md": "page"}
_TEMPLATES: dict[str, FileKind] = dict.fromkeys((*_CPP, "in", "ini"), "other")

_SKIPPED = frozenset({".git", "__pycache__", "build", "node_modules", "third_party"})
_SKIPPED_BESIDE = _SKIPPED | {"third-party", "dist", "venv", "site-packages"}
"""What of an extension is made, installed or copied there."""
_BESIDE: dict[str, FileKind] = {**_CPP, **_PYTHON, **_YAML}
_TESTS = frozenset({"test", "tests"})
_VENDORED = "third_party"
MOST_FILES = 30_000
"""Files of a root: PyTorch has 9,000."""


class SourceFile(NamedTuple):
    """A file to index. ``path`` is relative to the tree's root, with forward slashes."""

    path: str
    kind: FileKind
    size: int
    """Bytes."""
    blob: bytes = b""
    """git's name of the content, where that is known without reading it."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A folder to walk: which extensions it gives, and what below it is left out."""

    start: str
    kinds: Mapping[str, FileKind]
    skip: frozenset[str] = frozenset()
    """Paths relative to the tree, besides the names that are skipped everywhere."""
    tests: bool = False
    """Only ``test_*.py``, as kind ``test``."""


# Where `setup.py develop` and codegen put their products inside a checkout. None
# of it is in the repository, so a built tree answers as a fresh one does.
_BUILT = frozenset(
    {"torch/include", "torch/lib", "torch/bin", "torch/share", "torch/test"}
    | {f"torch/csrc/{part}generated" for part in ("", "autograd/", "jit/", "lazy/")}
    | {"torch/csrc/inductor/aoti_torch/generated"}
)

_PARTS: dict[Layout, tuple[_Part, ...]] = {
    "checkout": (
        _Part("aten", {**_CPP, **_YAML}),
        _Part("c10", _CPP),
        _Part("caffe2/serialize", _CPP),  # what torch.save and torch.load write and read with
        # Vendored, but compiled into ATen and launched by its attention kernels.
        _Part("third_party/flash-attention/csrc/flash_attn", _CPP),
        _Part("torch", {**_CPP, **_PYTHON}, _BUILT),
        _Part("tools/pyi", _PYTHON),
        _Part("tools/autograd", {**_PYTHON, **_YAML, **_TEMPLATES}),
        _Part("torchgen", _PYTHON),
        _Part("functorch/test", _PYTHON, tests=True),
        _Part("functorch", _PYTHON, frozenset({"functorch/test"})),
        _Part("test", _PYTHON, tests=True),
        _Part("docs/source", _PAGES),
    ),
    "wheel": (
        _Part("torch/include/ATen", _CPP, frozenset({"torch/include/ATen/ops"})),
        _Part("torch/include/c10", _CPP),
        _Part("torch/include/torch", _CPP),
        _Part("torch", _PYTHON, frozenset({"torch/include", "torch/lib", "torch/share"})),
        _Part("torchgen", {**_PYTHON, **_YAML, **_TEMPLATES}),
        _Part("functorch", _PYTHON),
    ),
}
_SINGLE: dict[Layout, tuple[str, ...]] = {
    "checkout": ("CODEOWNERS", ".github/labeler.yml", ".github/merge_rules.yaml"),
    "wheel": (),
}


def walk(root: str, layout: Layout, beside: list[str] | None = None) -> Iterator[SourceFile]:
    """Every file of the tree at ``root`` that is indexed: no links, nothing over 1 MB of C++.

    A folder that is absent or cannot be read gives nothing; the caller knows from
    the kinds that come out whether a layer is missing. ``beside`` gets the other paths whose
    change may change what is indexed: folders, files too large, files that are absent.
    """
    beside = [] if beside is None else beside
    for part in _PARTS[layout]:
        yield from _walk_part(root, part, beside)
    for path in _SINGLE[layout]:
        found = single_file(f"{root}/{path}", path, "other")
        if found:
            yield found
        else:
            beside.append(path)
    if layout == "checkout":
        yield from _walk_libraries(root, beside)


def _walk_libraries(root: str, beside: list[str]) -> Iterator[SourceFile]:
    """The operator libraries inside a checkout, which come and go with its submodules."""
    beside.append(_VENDORED)
    with contextlib.suppress(OSError), os.scandir(f"{root}/{_VENDORED}") as found:
        beside += sorted(f"{_VENDORED}/{one.name}" for one in found if one.is_dir())
    for library in operator_libraries(root, folders("checkout")):
        yield from _walk_part(root, _Part(library, _BESIDE), beside)


def walk_root(root: Root, others: Iterable[str], beside: list[str]) -> Iterator[SourceFile]:
    """Every file of an extension that is indexed, ``others`` being the tops of what is indexed
    besides. Raises SourceError for a folder with more files than any extension has."""
    found, pending, tops = 0, [root.top], frozenset(others)
    while pending:
        folder = pending.pop()
        beside.append(root.prefix + folder[len(root.top) + 1 :])
        folders, files = _entries(folder)
        pending += [one.path for one in folders if one.path not in tops]
        for entry in files:
            path = root.prefix + entry.path[len(root.top) + 1 :]
            kind = beside_kind(path)
            if kind is None:
                continue
            found += 1
            if found > MOST_FILES:
                raise SourceError(
                    f"{root.top} holds more than {MOST_FILES:,} source files: give the folder in it"
                    " that holds the operators"
                )
            if file := _file(entry, path, kind):
                yield file
            else:
                beside.append(path)


def _entries(folder: str) -> tuple[list[os.DirEntry[str]], list[os.DirEntry[str]]]:
    """The folders and the files in a folder that may be indexed; none where it cannot be read."""
    try:
        with os.scandir(folder) as listed:
            entries = sorted(listed, key=lambda one: one.name)
    except OSError:
        return [], []
    folders = [
        one
        for one in entries
        if one.is_dir(follow_symlinks=False)
        and one.name not in _SKIPPED_BESIDE
        and not one.name.startswith(".")
    ]
    return folders, [one for one in entries if one.is_file(follow_symlinks=False)]


def beside_kind(path: str) -> FileKind | None:
    """The kind of a file of an extension, by its name. Of Python tests only those that run are
    indexed, as of PyTorch's own."""
    folder, _, name = inside(path).rpartition("/")
    kind = _BESIDE.get(name[name.rfind(".") + 1 :])
    if kind == "python" and not _TESTS.isdisjoint(folder.split("/")):
        return "test" if name.startswith("test_") else None
    return kind


def single_file(full: str, path: str, kind: FileKind | None) -> SourceFile | None:
    """One file as ``walk`` gives it, from where it is; None where it is no file to index."""
    try:
        found = os.lstat(full)
    except OSError:
        return None
    if kind is None or not stat.S_ISREG(found.st_mode):
        return None
    if _is_too_large(path, kind, found.st_size):
        return None
    return SourceFile(path, kind, found.st_size)


def _is_too_large(path: str, kind: FileKind, size: int) -> bool:
    """Whether a file is left out: C++ of PyTorch's that large is tables, and of an extension
    anything."""
    return size > MAX_BYTES and (kind == "cpp" or is_beside(path))


def kind_of(path: str, layout: Layout) -> FileKind | None:
    """The kind that ``walk`` gives a file of that path, going by its name alone; None for
    one that it leaves out."""
    if path in _SINGLE[layout]:
        return "other"
    if is_beside(path):
        return beside_kind(path)
    return _listed_kind(path, layout) or _library_kind(path)


def _library_kind(path: str) -> FileKind | None:
    """The kind of a file of an operator library inside the tree."""
    return _BESIDE.get(path[path.rfind(".") + 1 :]) if path.startswith(f"{_VENDORED}/") else None


def listed(files: Iterable[tuple[str, int, bytes]], layout: Layout) -> Iterator[SourceFile]:
    """Those of ``files`` (path, bytes, blob) that ``walk`` would give of a tree that holds them."""
    for path, size, blob in files:
        kind = kind_of(path, layout)
        if kind and not (kind == "cpp" and size > MAX_BYTES):
            yield SourceFile(path, kind, size, blob)


def _listed_kind(path: str, layout: Layout) -> FileKind | None:
    folder, _, name = path.rpartition("/")
    for part in _PARTS[layout]:
        if not path.startswith(f"{part.start}/"):
            continue
        kind = part.kinds.get(name[name.rfind(".") + 1 :])
        if kind is None or not _SKIPPED.isdisjoint(folder[len(part.start) :].split("/")):
            return None
        if any(f"{folder}/".startswith(f"{skipped}/") for skipped in part.skip):
            return None
        if part.tests:
            return "test" if name.startswith("test_") else None
        return kind
    return None


def singles(layout: Layout) -> tuple[str, ...]:
    """The single files that are indexed, relative to the root."""
    return _SINGLE[layout]


def folders(layout: Layout) -> tuple[str, ...]:
    """The folders that are walked, relative to the root."""
    return tuple(part.start for part in _PARTS[layout])


def _walk_part(root: str, part: _Part, beside: list[str]) -> Iterator[SourceFile]:
    pending = [part.start]
    while pending:
        folder = pending.pop()
        beside.append(folder)
        try:
            with os.scandir(f"{root}/{folder}") as found:
                entries = list(found)
        except OSError:
            continue
        for entry in entries:
            name = entry.name
            kind = part.kinds.get(name[name.rfind(".") + 1 :])
            if kind is not None and entry.is_file(follow_symlinks=False):
                if part.tests and not name.startswith("test_"):
                    continue
                path = f"{folder}/{name}"
                if file := _file(entry, path, "test" if part.tests else kind):
                    yield file
                else:
                    beside.append(path)
            elif entry.is_dir(follow_symlinks=False) and name not in _SKIPPED:
                path = f"{folder}/{name}"
                if path not in part.skip:
                    pending.append(path)


def _file(entry: os.DirEntry[str], path: str, kind: FileKind) -> SourceFile | None:
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:  # removed since it was listed
        return None
    if _is_too_large(path, kind, found.st_size):
        return None
    return SourceFile(path, kind, found.st_size)
