"""Tests, docs and tables for one backend: their files, and rows that name an operator."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from indexes.linking.graph import device_of_key
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.gaps.docs import page_paths
from indexes.queries.gaps.kernels.tables import rows_of
from indexes.queries.gaps.statements import Statement
from indexes.queries.gaps.tree import Tree

_CAMEL = regex(r"[A-Z]+(?![a-z])|[A-Z][a-z]+")
_FEW = 2


def words_of(key: str) -> tuple[str, ...]:
    """Words in file names for a key: ``sparse_csr`` for SparseCsrCPU, ``mps`` for MPS."""
    device = device_of_key(key)
    layout = key.removesuffix(device).removesuffix("Meta") if device != key else ""
    plain = "_".join(_CAMEL.findall(layout)).lower()
    short = plain.removesuffix("_tensor")
    named = [plain.replace("_tensor", "tensor"), short] if plain else []
    own = [device.lower()] if device not in ("CPU", "CUDA") or not plain else []
    return tuple(dict.fromkeys(word for word in (*named, *own) if word))


def test_files(tree: Tree, key: str, names: Iterable[str]) -> list[str]:
    """The test files for a key, those that name the operators most first."""
    words = [word.replace("_", "") for word in words_of(key)]
    calls = regex(r"\b(?:" + "|".join(re.escape(n) for n in (*names, "no name")) + r")\b")
    counts = {}
    for path in tree.index.facts.paths(like="test/%"):
        name = path.rpartition("/")[2].removesuffix(".py")
        plain = name.removeprefix("test_").replace("_", "")
        if name.startswith("test_") and any(plain.startswith(word) for word in words):
            exact = plain in words
            if (named := len(calls.findall(tree.text(path)))) or exact:
                counts[path] = (not exact, path.count("/") * (not named), -named, path)
    return sorted(counts, key=lambda path: counts[path])[:_FEW]


def running(tree: Tree, path: str) -> Iterator[Location]:
    """The test files that import a test file's classes, by name, to run them."""
    module = path.removeprefix("test/").removesuffix(".py").replace("/", ".")
    line = re.compile(rf"^from {re.escape(module)} import \(?\s*Test".encode(), re.MULTILINE)
    for other in tree.corpus.files_with(module, "test") if path.startswith("test/") else ():
        text = tree.corpus.text(other)
        if found := line.search(text):
            yield Location(other, text.count(b"\n", 0, found.start()) + 1)


def rows_naming(tree: Tree, path: str, names: Iterable[str]) -> Iterator[Statement]:
    """The rows of the tables of a file that name an OpInfo, with its variant or without."""
    wanted = {*names}
    return (row for row in rows_of(tree.text(path), path) if row.opinfo in wanted)


def table_files(tree: Tree, key: str) -> list[str]:
    """The Python test files named after a device."""
    device = device_of_key(key).lower()
    if device != key.lower() or device in ("cpu", "cuda"):
        return []
    like = (f"test/%{device}%.py", f"torch/testing/_internal/%{device}%.py")
    return [path for one in like for path in tree.paths(one)]


def docs_pages(tree: Tree, key: str) -> list[str]:
    """The pages about a key's layout or device."""
    words = words_of(key)
    return [
        page for page in page_paths(tree) if PurePosixPath(page).stem.replace("-", "_") in words
    ]
