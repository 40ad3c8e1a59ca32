"""What the torchgen of a tree says of entries of native_functions.yaml. Run in a process of its
own: it runs code of the tree, with limits, and takes a second.

Reads a JSON object: ``root``, the top of the tree; ``texts``, drafts, each some entries; ``tags``,
the path of tags.yaml or null. Writes one: ``refused``, for each draft why torchgen refuses it,
empty when it takes it; ``absent``, why there is no torchgen to ask; ``torchgen``, the package of
the tree that was asked, empty when the installed one was.
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
"""Where torchgen is, the newest place first."""
_PACKAGED_TAGS = "packaged/ATen/native/tags.yaml"
_SECONDS = 40
_MEMORY = 4 << 30
"""Bytes of addresses."""


class TreeFinder:
    """Finds the packages of torchgen in one tree, and neither torch nor anything else there."""

    def __init__(self, root: str) -> None:
        self._root = root

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """As ``PathFinder.find_spec``."""
        top, _, rest = name.partition(".")
        if top in ("torchgen", "tools"):
            return PathFinder.find_spec(name, path if rest else [self._root])
        if top in ("torch", "functorch", "caffe2"):
            raise ImportError(f"{name} is not asked")
        return None


def limit(seconds: int = _SECONDS) -> None:
    """Ends this process, rather than anything around it, if the tree's code runs away; it can
    write no file from now on."""
    try:
        import resource
    except ImportError:  # Windows: the parent's time limit is left
        return
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def package_in(root: str) -> str:
    """The package of torchgen that a tree has; empty for none."""
    found = (one for one in PACKAGES if os.path.isfile(f"{root}/{one.replace('.', '/')}/gen.py"))
    return next(found, "")


def check(root: str, texts: list[str], tags: str | None) -> dict[str, Any]:
    """Which drafts torchgen takes: that of the tree, or where it has none the installed one."""
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
    """Why torchgen refuses a draft, in one line; empty when it takes it."""
    try:
        _parse(gen, path, tags)
    except Exception as error:  # noqa: BLE001 torchgen refuses by errors of all kinds
        words = " ".join(str(error).split()).replace(path, "the draft")
        kind = "" if words and isinstance(error, AssertionError) else type(error).__name__
        return ": ".join(part for part in (kind, words) if part)
    return ""


def _parse(gen: Any, path: str, tags: str) -> None:
    """Reads the entries and joins them into groups, as the build does."""
    takes_tags = "tags_yaml_path" in signature(gen.parse_native_yaml).parameters
    parsed = gen.parse_native_yaml(path, tags) if takes_tags else gen.parse_native_yaml(path)
    functions = getattr(parsed, "native_functions", parsed)
    for name in ("get_grouped_native_functions", "get_grouped_by_view_native_functions"):
        if join := getattr(gen, name, None):
            join(functions)
    _declare(gen, parsed)


def _declare(gen: Any, parsed: Any) -> None:
    """Declares each kernel, where this torchgen can be asked to: a type that has none in C++ is
    refused there."""
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
    """Where to answer: what the tree's code prints goes nowhere from now on."""
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    return answer


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    with silenced() as answer:
        json.dump(check(asked["root"], asked["texts"], asked["tags"]), answer)
