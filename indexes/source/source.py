"""Sources: a checkout, a clone made by torchnav, or the installed wheel."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path
from platformdirs.unix import Unix

from indexes.model.errors import SourceError
from indexes.model.files import Roots, is_text, placed, written
from indexes.model.vocabulary import SourceInfo, SourceKind
from indexes.source.files import (
    CLONE_RECORD,
    IN_WHEEL,
    LOGICAL,
    YAML,
    Folder,
    Layout,
    content_hash,
    current_folder,
    layout_of,
    moved,
    tree_around,
)
from indexes.source.git import Repository, watched

if TYPE_CHECKING:
    from indexes.source.roots import NamedFolder
    from indexes.source.torch_install import TorchInstall
    from indexes.source.walk import SourceFile


class Source:
    """One tree of PyTorch source. Opening it only locates it."""

    fixed = False
    """Whether it never changes, as a commit."""
    revision = ""
    """The commit, for a source that is one."""

    def __init__(self, top: str, kind: SourceKind, roots: Roots = ()) -> None:
        self.top = top
        """The folder that holds all of it, as it was named."""
        self.kind = kind
        self.roots = roots
        """The extensions that are indexed with it."""
        self._folder = Folder(top, kind)

    @cached_property
    def root(self) -> Path:
        """``top`` as a path."""
        return Path(self.top)

    @classmethod
    def find(
        cls,
        tree: str | None = None,
        cache: Path | None = None,
        extensions: Iterable[NamedFolder] = (),
    ) -> Source:
        """The tree to answer from: the given one, ``TORCHNAV_CHECKOUT``, the one around the current
        folder, the best of the clones, or else the installed torch.

        Parameters:
            tree: A folder of the tree, or one in it.
            cache: The folder of the clones; the platform's by default.
            beside: The folders of extensions, each with its name or an empty one.

        Raises:
            SourceError: There is none, or a named one is invalid.
        """
        found = cls._found(tree, cache)
        if not is_text(found.top):
            raise SourceError(f"the path of the tree is not UTF-8: {found.top!r}")
        if folders := tuple(extensions):
            from indexes.source.roots import named_roots

            found.roots = named_roots(folders, found.top)
            for root in found.roots:
                if layout_of(root.top):
                    raise SourceError(f"{root.top} is a PyTorch source tree: give it with --tree")
        return found

    @classmethod
    def _found(cls, tree: str | None, cache: Path | None) -> Source:
        named = tree or os.environ.get("TORCHNAV_CHECKOUT")
        if named:
            return cls._named(os.path.expanduser(named))
        if around := cls._enclosing_tree(current_folder()):
            return around
        from indexes.source.torch_install import installed_torch

        torch = installed_torch()
        return cls._cloned(torch, cache) or cls._wheel(torch)

    @classmethod
    def _named(cls, path: str) -> Source:
        if not os.path.isdir(path):
            raise SourceError(f"no source tree at {path}: no such folder")
        found = cls._enclosing_tree(os.path.realpath(path))
        if found is None:
            raise SourceError(
                f"{path} is not a PyTorch source tree (it has no {YAML['checkout']}):"
                f" for an extension give --with {path}"
            )
        return found

    @classmethod
    def _enclosing_tree(cls, path: str) -> Source | None:
        found = tree_around(path)
        return cls(*found) if found else None

    @classmethod
    def _cloned(cls, torch: TorchInstall | None, cache: Path | None) -> Source | None:
        from indexes.source.clones import clones

        wanted = torch.commit if torch else None
        found = sorted(
            clones(cache or cache_folder()), key=lambda c: (c.commit == wanted, c.finished)
        )
        return cls(str(found[-1].root), "clone") if found else None

    @classmethod
    def _wheel(cls, torch: TorchInstall | None) -> Source:
        if torch is None:
            raise SourceError(
                "no PyTorch source: give a checkout with --tree, fetch one with"
                " `torchnav clone`, or install torch with `pip install torch`"
            )
        if not (layout := layout_of(str(torch.root))):
            raise SourceError(
                f"the installed torch {torch.version} holds no native_functions.yaml:"
                " give a checkout with --tree or fetch one with `torchnav clone`"
            )
        return cls(str(torch.root), layout)

    @property
    def key(self) -> str:
        """The name of its index."""
        return index_key(self.top, self.kind, self.roots)

    @property
    def layout(self) -> Layout:
        return "wheel" if self.kind == "wheel" else "checkout"

    @cached_property
    def info(self) -> SourceInfo:
        """Version, commit, whether files were edited, and what this source lacks.

        For a checkout this may run git once, to learn whether it is dirty.
        """
        if self.kind == "wheel":
            return self._wheel_info()
        repository = Repository.at(self.top)
        dirty = self.edited
        unknown = () if dirty is not None else (_EDITS_UNKNOWN,)
        return SourceInfo(
            kind=self.kind,
            root=self.top,
            version=self._version(),
            commit=repository.commit if repository else None,
            dirty=bool(dirty),
            missing=(*self._missing(repository), *unknown),
            roots=self.roots,
        )

    def _version(self) -> str:
        return self.text("version.txt").partition("\n")[0].strip() or "unknown"

    @cached_property
    def edited(self) -> bool | None:
        """Whether indexed tracked files differ from the commit; None if unknown."""
        return self._differs(self.hash)

    def _differs(self, hash_of: Callable[[str], bytes], paths: Sequence[str] = ()) -> bool | None:
        repository = None if self.kind == "wheel" else Repository.at(self.top)
        if repository is None:
            return False
        from indexes.source.git_diff import is_edited
        from indexes.source.walk import folders, kind_of

        layout = self.layout
        return is_edited(
            repository, paths or folders(layout), hash_of, lambda path: bool(kind_of(path, layout))
        )

    def hash(self, path: str) -> bytes:
        """The hash of a file's content; empty if it cannot be read."""
        try:
            return content_hash(self.read(path))
        except SourceError:
            return b""

    def know_edited(self, edited: bool | None) -> None:
        """Sets ``edited``, so that git is not asked."""
        self.edited = edited
        self.__dict__.pop("info", None)

    def edited_now(self, hash_of: Callable[[str], bytes]) -> bool | None:
        """``edited``, computed anew; ``hash_of`` gives the content hash of a file."""
        self.know_edited(self._differs(hash_of))
        return self.edited

    def edited_since(self, before: bool | None, paths: Sequence[str]) -> bool | None:
        """``edited``, given its value ``before`` and that only ``paths`` changed since."""
        if before is None:
            return self.edited
        now = self._differs(self.hash, paths)
        if now is not None and (now or not before):
            self.know_edited(now)
        return self.edited

    def watched(self) -> list[str]:
        """The absolute paths of further files that ``info`` depends on."""
        if self.kind == "wheel":
            return [f"{self.top}/torch/version.py"]
        return [
            f"{self.top}/version.txt",
            f"{self.top}/{LOGICAL['derivatives.yaml']}",
            f"{self.top}/.git/{CLONE_RECORD}",
            *watched(self.top),
        ]

    def _wheel_info(self) -> SourceInfo:
        from indexes.source.torch_install import TorchInstall, torch_in

        torch = torch_in(self.root) or TorchInstall(self.root, "unknown", None)
        what = (torch.version, torch.commit, False, _WHEEL_LACKS)
        return SourceInfo("wheel", self.top, *what, self.roots)

    def _missing(self, repository: Repository | None) -> tuple[str, ...]:
        lacks = []
        if self.locate("derivatives.yaml") is None:
            lacks.append("derivative formulas (tools/autograd/derivatives.yaml): torchnav clone")
        if repository is None:
            lacks.append("commit, authors and changes (no .git here): torchnav clone --history")
        elif repository.cuts:
            from indexes.source.clones import read_clone_record

            clone = read_clone_record(self.root)
            command = f"torchnav clone {clone.ref} --history" if clone else _UNSHALLOW
            lacks.append(f"authors and changes: {command}")
        return tuple(lacks)

    def files(self, extensions: list[str] | None = None) -> Iterator[SourceFile]:
        """The files to index, in no order; ``extensions`` as for ``walk``."""
        from indexes.source.walk import walk, walk_root

        extensions = [] if extensions is None else extensions
        yield from walk(self.top, self.layout, extensions)
        tops = [self.top, *(one.top for one in self.roots)]
        for root in self.roots:
            yield from walk_root(root, tops, extensions)

    def file(self, path: str) -> SourceFile | None:
        """One of ``files`` as it is now; None if it is no file to index any more."""
        from indexes.source.walk import kind_of, single_file

        return single_file(self.full_path(path), path, kind_of(path, self.layout))

    def full_path(self, path: str) -> str:
        """The path on disk of a file of the tree or an extension."""
        return "/".join(placed(path, self.top, self.roots))

    def path_in(self, full: str) -> str | None:
        """The path of an extension's file as written in answers; None for any other."""
        return written(full, self.roots)

    def read(self, path: str) -> bytes:
        """The bytes of one file.

        Parameters:
            path: Relative to the tree, or ``@NAME/...`` in an extension, with forward slashes.

        Raises:
            SourceError: The path leads out of the tree, by ``..``, from the root or through a link;
            or the file
            cannot be read, is not regular or is larger than 64 MB.
        """
        top, inner = placed(path, self.top, self.roots)
        return (self._folder if inner is path else folder_at(top)).read(inner)

    def content(self, path: str) -> bytes:
        """The bytes of one file; empty if it is absent or unreadable."""
        try:
            return self.read(path)
        except SourceError:
            return b""

    def text(self, path: str) -> str:
        """The text of one file; empty as ``content`` is."""
        return self.content(path).decode("utf-8", "replace")

    def listed(self, folder: str) -> list[str]:
        """The sorted names in a folder of the tree (empty path: its top); none without one."""
        try:
            return self._folder.names(folder)
        except SourceError:
            return []

    def locate(self, logical: str) -> str | None:
        """The path in this tree of a checkout's ``logical`` path.

        ``logical`` is a path as in a checkout, or a short name such as ``native_functions.yaml``,
        ``TensorImpl.h``, ``autograd/templates``. None if this tree lacks it.
        """
        path = self.path_of(logical)
        return path if self.holds(path) else None

    def path_of(self, logical: str) -> str:
        """As ``locate``, whether or not the tree has it."""
        path = LOGICAL.get(logical, logical)
        return moved(path, IN_WHEEL) if self.kind == "wheel" else path

    def holds(self, path: str) -> bool:
        """Whether the tree or an extension has a file or folder of that path."""
        full = self.full_path(path)
        return os.path.isfile(full) or os.path.isdir(full)


_WHEEL_LACKS = (
    "kernels, stubs and the autograd engine (.cpp, .cu, .mm): torchnav clone",
    "tests: torchnav clone",
    "authors and changes: torchnav clone --history",
)


_EDITS_UNKNOWN = "whether files were edited (git cannot say): git status, in the checkout"
_UNSHALLOW = "git fetch --unshallow, in the checkout"


def cache_folder() -> Path:
    """The folder of indexes and clones: ``TORCHNAV_CACHE``, or the platform's cache folder. Raises
    SourceError for a user without a home folder."""
    if named := os.environ.get("TORCHNAV_CACHE"):
        return Path(os.path.expanduser(named))
    try:
        return user_cache_path("torchnav", appauthor=False, opinion=False)
    except RuntimeError as error:
        raise SourceError("no home folder: set TORCHNAV_CACHE or give --cache") from error


def config_path() -> Path:
    """The config file's path, on all systems as on Linux; None without a home folder."""
    try:
        return Unix("torchnav").user_config_path / "config.toml"
    except RuntimeError:
        return Path(os.devnull, "config.toml")


def index_key(root: str, kind: str, roots: Roots = ()) -> str:
    """The name of a tree's index, with its extensions."""
    key = f"{kind}-{_digest(root, 6)}"
    listed = "\n".join(f"{one.name}\t{one.top}" for one in sorted(roots))
    return f"{key}-{_digest(listed, 4)}" if roots else key


def _digest(text: str, size: int) -> str:
    return hashlib.blake2b(os.fsencode(text), digest_size=size).hexdigest()


@cache
def folder_at(top: str) -> Folder:
    """The folder of an extension."""
    return Folder(top)


def index_file(key: str, cache: str) -> str:
    return os.path.join(cache, "indexes", f"{key}.db")
