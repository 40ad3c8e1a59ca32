"""Validates entries of native_functions.yaml with the torchgen of a tree. Runs as a separate
process with limits, since it executes code of the tree; takes a second.

Reads a JSON object: ``root``, the top of the tree; ``texts``, drafts of entries; ``tags``, the path
of tags.yaml or null. Writes one: ``refused``, torchgen's error for each draft, or empty;
``absent``, why there is no torchgen; ``torchgen``, the tree's package, empty if the installed one
was used.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from inspect import signature
from typing import Any, TextIO

PACKAGES = ("torchgen", "tools.codegen")
"""Locations of torchgen, newest first."""
_PACKAGED_TAGS = "packaged/ATen/native/tags.yaml"
_SECONDS = 40
_MEMORY = 4 << 30
"""Limit of the address space in bytes."""


class TreeFinder:
    """Imports torchgen's packages from one tree, and nothing else from there."""

    def __init__(self, root: str) -> None:
        self._root = root

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """As ``PathFinder.find_spec``."""
        top, _, rest = name.partition(".")
        if top in ("torchgen", "tools"):
            return PathFinder.find_spec(name, path if rest else [self._root])
        if top in ("torch", "functorch", "caffe2"):
            raise ImportError(f"{name} must not be imported")
        return None


def limit(seconds: int = _SECONDS) -> None:
    """Ends this process if the tree's code runs away, and forbids writing files."""
    try:
        import resource
    except ImportError:  # Windows: only the parent's time limit applies
        return
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def package_in(root: str) -> str:
    """A tree's torchgen package, or empty."""
    found = (one for one in PACKAGES if os.path.isfile(f"{root}/{one.replace('.', '/')}/gen.py"))
    return next(found, "")


def check(root: str, texts: list[str], tags: str | None) -> dict[str, Any]:
    """Checks the drafts with the tree's torchgen, or the installed one if it has none."""
    package = package_in(root)
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"draft{at}.yaml") for at in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        limit()
        sys.dont_write_bytecode = True
        if package:
            sys.meta_path.insert(0, TreeFinder(root))
        try:
            gen = import_module(f"{package or PACKAGES[0]}.gen")
        except Exception as error:  # noqa: BLE001 the tree's own code fails as it likes
            return _verdict(package, absent=f"{type(error).__name__}: {error}")
        tags = tags or os.path.join(os.path.dirname(gen.__file__ or ""), _PACKAGED_TAGS)
        return _verdict(package, [_refusal(gen, path, tags) for path in paths])


def _refusal(gen: Any, path: str, tags: str) -> str:
    """Torchgen's error for a draft in one line, or empty."""
    try:
        _parse(gen, path, tags)
    except Exception as error:  # noqa: BLE001 torchgen refuses by errors of all kinds
        words = " ".join(str(error).split()).replace(path, "the draft")
        kind = "" if words and isinstance(error, AssertionError) else type(error).__name__
        return ": ".join(part for part in (kind, words) if part)
    return ""


def _parse(gen: Any, path: str, tags: str) -> None:
    """Reads the entries and groups them as the build does."""
    takes_tags = "tags_yaml_path" in signature(gen.parse_native_yaml).parameters
    parsed = gen.parse_native_yaml(path, tags) if takes_tags else gen.parse_native_yaml(path)
    functions = getattr(parsed, "native_functions", parsed)
    for name in ("get_grouped_native_functions", "get_grouped_by_view_native_functions"):
        if join := getattr(gen, name, None):
            by_path = "native_yaml_path" in signature(join).parameters  # in trees of 2021
            join(path if by_path else functions)
    _declare(gen, parsed)


def _declare(gen: Any, parsed: Any) -> None:
    """Declares each kernel, if possible, which rejects types without a C++ counterpart."""
    package = gen.__name__.rpartition(".")[0]
    signature_of = getattr(import_module(f"{package}.api.types"), "kernel_signature", None)
    indices = getattr(parsed, "backend_indices", {}).values()
    if signature_of is None or not indices:
        return
    within = import_module(f"{package}.context").native_function_manager
    for index in indices:
        for function in parsed.native_functions:
            if index.get_kernel(function):
                with within(function):
                    signature_of(function, index).decl()


def _verdict(package: str, refused: list[str] | None = None, absent: str = "") -> dict[str, Any]:
    return {"refused": refused or [], "absent": absent, "torchgen": package}


def silenced() -> TextIO:
    """The stream for the answer; other output of the tree's code is discarded from now on."""
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    return answer


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    with silenced() as answer:
        json.dump(check(asked["root"], asked["texts"], asked["tags"]), answer)
