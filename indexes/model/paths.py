"""Paths of files: relative to the tree, or with the name of an extension before them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

MARK = "@"
"""What paths in extensions begin with, ``@xpu/src/ATen/native/xpu/Activation.cpp``, and no path of
a tree. ``PATH:LINE`` stays what it is."""


def is_beside(path: str) -> bool:
    """Whether a path is in an extension beside the tree."""
    return path.startswith(MARK)


def root_of(path: str) -> str:
    """The name of the extension that a path is in; empty for one of the tree's own."""
    return path.partition("/")[0][len(MARK) :] if is_beside(path) else ""


def inside(path: str) -> str:
    """A path as it is within its extension, or within the tree."""
    return path.partition("/")[2] if is_beside(path) else path


class Root(NamedTuple):
    """A folder that is indexed beside the tree."""

    name: str
    top: str
    """Absolute."""

    @property
    def prefix(self) -> str:
        """What its paths begin with."""
        return f"{MARK}{self.name}/"


Roots = tuple[Root, ...]


def placed(path: str, tree: str, roots: Iterable[Root]) -> tuple[str, str]:
    """The folder that a path is relative to, and the path within it."""
    if is_beside(path):
        for one in roots:
            if path.startswith(one.prefix):
                return one.top, path[len(one.prefix) :]
    return tree, path


def written(full: str, roots: Iterable[Root]) -> str | None:
    """How a file of a root is written; None for a file of none. The innermost root counts."""
    held = [one for one in roots if full.startswith(f"{one.top}/")]
    if not held:
        return None
    nearest = max(held, key=lambda one: len(one.top))
    return nearest.prefix + full[len(nearest.top) + 1 :]
