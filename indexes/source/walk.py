"""Finds the files of a tree to index, with few system calls."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Literal, NamedTuple

from indexes.model.errors import SourceError
from indexes.model.files import Root, in_extension, inside, is_text
from indexes.source.files import Layout
from indexes.source.roots import operator_libraries

FileKind = Literal["cpp", "python", "yaml", "test", "page", "other"]

MAX_BYTES = 1_000_000
"""Larger sources are tables of numbers, and would be the most expensive to read."""

_CPP: dict[str, FileKind] = dict.fromkeys(
    ("cpp", "cc", "c", "h", "hpp", "cuh", "cu", "hip", "mm", "metal", "m"), "cpp"
)
_YAML: dict[str, FileKind] = {"yaml": "yaml"}
_PYTHON: dict[str, FileKind] = {"py": "python"}
_PAGES: dict[str, FileKind] = {"rst": "page", "md": "page"}
_TEMPLATES: dict[str, FileKind] = dict.fromkeys((*_CPP, "in", "ini"), "other")

_SKIPPED = frozenset({".git", "__pycache__", "build", "node_modules", "third_party"})
_SKIPPED_BESIDE = _SKIPPED | {"third-party", "dist", "venv", "site-packages"}
"""Folders of an extension that are generated, installed or copied."""
_BESIDE: dict[str, FileKind] = {**_CPP, **_PYTHON, **_YAML}
_TESTS = frozenset({"test", "tests"})
_VENDORED = "third_party"
MOST_FILES = 30_000
"""Most files of a root: PyTorch has 9,000."""


class SourceFile(NamedTuple):
    """A file to index. ``path`` is relative to the tree's root, with forward slashes."""

    path: str
    kind: FileKind
    size: int
    """Bytes."""
    blob: bytes = b""
    """git's hash of the content, if known without reading."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A folder to walk: the extensions of its files, and what is skipped below it."""

    start: str
    kinds: Mapping[str, FileKind]
    skip: frozenset[str] = frozenset()
    """Paths relative to the tree, besides the names skipped everywhere."""
    tests: bool = False
    """Only ``test_*.py``, as kind ``test``."""

    def kind(self, path: str) -> FileKind | None:
        """The kind of a file in it, by its path; None if skipped."""
        folder, _, name = path.rpartition("/")
        kind = self.kinds.get(_ending(name))
        if kind is None or not _SKIPPED.isdisjoint(folder[len(self.start) :].split("/")):
            return None
        if any(f"{folder}/".startswith(f"{skipped}/") for skipped in self.skip):
            return None
        if self.tests:
            return "test" if name.startswith("test_") else None
        return kind


def _ending(name: str) -> str:
    return name[name.rfind(".") + 1 :]


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
        # Until 1.13 its batch rules stood here too; first-class dimensions have no operators.
        _Part(
            "functorch", {**_CPP, **_PYTHON}, frozenset({"functorch/test", "functorch/csrc/dim"})
        ),
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
    """Every file of the tree at ``root`` to index: no links, no C++ over 1 MB, no undecodable name.

    A folder that is absent or unreadable gives nothing; the kinds that come out show whether a
    layer is missing. ``beside`` gets the other paths whose change can change what is indexed:
    folders, too large and absent files.
    """
    beside = [] if beside is None else beside
    for part in _PARTS[layout]:
        yield from _below(root, part.start, part.kind, _SKIPPED | part.skip, beside)
    for path in _SINGLE[layout]:
        found = single_file(f"{root}/{path}", path, "other")
        if found:
            yield found
        else:
            beside.append(path)
    if layout == "checkout":
        yield from _walk_libraries(root, beside)


def _walk_libraries(root: str, beside: list[str]) -> Iterator[SourceFile]:
    """The operator libraries in a checkout, which come and go with its submodules."""
    beside.append(_VENDORED)
    with contextlib.suppress(OSError), os.scandir(f"{root}/{_VENDORED}") as found:
        beside += sorted(f"{_VENDORED}/{one.name}" for one in found if one.is_dir())
    for library in filter(is_text, operator_libraries(root, folders("checkout"))):
        yield from _below(root, library, _library_kind, _SKIPPED, beside)


def walk_root(root: Root, others: Iterable[str], beside: list[str]) -> Iterator[SourceFile]:
    """Every file of an extension to index; ``others``: the tops of what else is indexed. Raises
    SourceError for a folder with more files than any extension has."""
    skip = _SKIPPED_BESIDE.union(os.path.relpath(top, root.top) for top in others)
    files = _below(root.top, "", extension_file_kind, skip, beside, root.prefix)
    for count, file in enumerate(files, 1):
        if count > MOST_FILES:
            raise SourceError(
                f"{root.top} holds more than {MOST_FILES:,} source files: give the folder in it"
                " that holds the operators"
            )
        yield file


def _below(
    top: str,
    start: str,
    kind_of_file: Callable[[str], FileKind | None],
    skip: Set[str],
    beside: list[str],
    prefix: str = "",
) -> Iterator[SourceFile]:
    """Every file below a folder to index.

    Parameters:
        kind_of_file: The kind of a file by its path; None if skipped.
        skip: Skipped folders, by name or path.
        beside: As for ``walk``.
        prefix: Of paths in an extension, in which hidden folders are skipped too.
    """
    pending = [start]
    while pending:
        folder = pending.pop()
        beside.append(prefix + folder)
        for entry in _entries(f"{top}/{folder}"):
            inner = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                hidden = prefix and entry.name.startswith(".")
                if not (hidden or entry.name in skip or inner in skip):
                    pending.append(inner)
            elif (kind := kind_of_file(prefix + inner)) and not entry.is_symlink():
                if file := single_file(entry.path, prefix + inner, kind):
                    yield file
                else:
                    beside.append(prefix + inner)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """The entries of a folder; none if it cannot be read."""
    try:
        with os.scandir(folder) as found:
            return [entry for entry in found if is_text(entry.name)]
    except OSError:
        return []


def extension_file_kind(path: str) -> FileKind | None:
    """The kind of an extension's file, by name. Only Python tests are indexed."""
    folder, _, name = inside(path).rpartition("/")
    kind = _BESIDE.get(_ending(name))
    if kind == "python" and not _TESTS.isdisjoint(folder.split("/")):
        return "test" if name.startswith("test_") else None
    return kind


def single_file(full: str, path: str, kind: FileKind | None) -> SourceFile | None:
    """One file as ``walk`` gives it; None if it is no file to index."""
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
    """Whether a file is skipped: large C++, and any large file of an extension."""
    return size > MAX_BYTES and (kind == "cpp" or in_extension(path))


def kind_of(path: str, layout: Layout) -> FileKind | None:
    """The kind that ``walk`` gives a file of that path, by name alone; None if skipped."""
    if path in _SINGLE[layout]:
        return "other"
    if in_extension(path):
        return extension_file_kind(path)
    held = (part for part in _PARTS[layout] if path.startswith(f"{part.start}/"))
    part = next(held, None)
    return part.kind(path) if part else _library_kind(path)


def _library_kind(path: str) -> FileKind | None:
    """The kind of a file of an operator library in the tree."""
    return _BESIDE.get(_ending(path)) if path.startswith(f"{_VENDORED}/") else None


def listed(files: Iterable[tuple[str, int, bytes]], layout: Layout) -> Iterator[SourceFile]:
    """Those of ``files`` (path, bytes, blob) that ``walk`` would give."""
    for path, size, blob in files:
        kind = kind_of(path, layout)
        if kind and is_text(path) and not _is_too_large(path, kind, size):
            yield SourceFile(path, kind, size, blob)


def singles(layout: Layout) -> tuple[str, ...]:
    """The single files that are indexed, relative to the root."""
    return _SINGLE[layout]


def folders(layout: Layout) -> tuple[str, ...]:
    """The folders that are walked, relative to the root."""
    return tuple(part.start for part in _PARTS[layout])
