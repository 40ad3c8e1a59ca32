"""What is where in a checkout of PyTorch, and in an installed wheel."""

from __future__ import annotations

import os
from typing import Literal

Layout = Literal["checkout", "wheel"]

YAML: dict[Layout, str] = {
    "checkout": "aten/src/ATen/native/native_functions.yaml",
    "wheel": "torchgen/packaged/ATen/native/native_functions.yaml",
}
"""The file that makes a folder a tree, in each layout."""

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
"""Where the wheel keeps what a checkout keeps elsewhere; the first that fits counts."""
CLONE_RECORD = "torchnav-clone.json"
"""In the git folder of a finished clone."""


def moved(path: str, moves: tuple[tuple[str, str], ...]) -> str:
    """A path of one layout as it is in another."""
    for old, new in moves:
        if path == old or path.startswith(f"{old}/"):
            return new + path[len(old) :]
    return path


def layout_of(root: str) -> Layout | None:
    """The layout of the tree whose top is ``root``; None where there is no tree."""
    for layout, path in YAML.items():
        if os.path.isfile(f"{root}/{path}"):
            return layout
    return None


def current_folder() -> str:
    """Absolute; the root of the file system where it was removed under us."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.path.abspath(os.sep)


def tree_around(path: str) -> tuple[str, Layout] | None:
    """The tree that an absolute path is in: its top and layout."""
    while True:
        if layout := layout_of(path):
            return path, layout
        above = os.path.dirname(path)
        if above == path:
            return None
        path = above
