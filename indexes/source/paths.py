"""Where trees and their indexes are, by paths alone."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

if TYPE_CHECKING:
    from indexes.source.walk import Layout

YAML: dict[Layout, str] = {
    "checkout": "aten/src/ATen/native/native_functions.yaml",
    "wheel": "torchgen/packaged/ATen/native/native_functions.yaml",
}
"""The file that makes a folder a tree, in each layout."""


def layout_of(root: str) -> Layout | None:
    """The layout of the tree whose top is ``root``; None where there is no tree."""
    for layout, path in YAML.items():
        if os.path.isfile(f"{root}/{path}"):
            return layout
    return None


def tree_around(path: str) -> tuple[str, Layout] | None:
    """The tree that an absolute path is in: its top and layout."""
    while True:
        if layout := layout_of(path):
            return path, layout
        above = os.path.dirname(path)
        if above == path:
            return None
        path = above


def cache_folder() -> Path:
    """Where indexes and clones are kept: ``TORCHNAV_CACHE``, or the platform's cache folder."""
    if named := os.environ.get("TORCHNAV_CACHE"):
        return Path(named).expanduser()
    return user_cache_path("torchnav", appauthor=False, opinion=False)


def index_key(root: str, kind: str) -> str:
    """The name of a tree's index among those of other trees."""
    return f"{kind}-{hashlib.blake2b(os.fsencode(root), digest_size=6).hexdigest()}"


def index_file(key: str, cache: str) -> str:
    """Where the index of that name is kept."""
    return os.path.join(cache, "indexes", f"{key}.db")
