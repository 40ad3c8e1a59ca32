"""Tests, docs and tables for one backend: their files, and rows that name an operator."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

from indexes.linking.graph import device_of_key
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.gaps.docs import page_paths
from indexes.queries.gaps.tree import Tree

_TABLE = regex(
    r"^[^\S\n]*(\w+)\s*(?::[^=\n]+)?=\s*(?:\w+\()?[\[{(]|^[^\S\n]*(?:def|class) (\w+)", re.MULTILINE
)
_PASSING = regex(r"ALLOW|WHITE", re.I)
_FAILING = regex(r"FAIL|SKIP|BLOCK|UNIMPL|UNSUPP|NOT_IMPL|UNDEFINED|EXCLUDE|MISSING|BLACK", re.I)
_CAMEL = regex(r"[A-Z]+(?![a-z])|[A-Z][a-z]+")
_FEW = 2


class TableRow(NamedTuple):
    """A row for an OpInfo in a table of tests."""

    table: str
    place: Location
    text: str
    passing: bool
    """The table lists what works; others list what fails."""

    @property
    def whole(self) -> bool:
        """Whether it covers all dtypes of the operator."""
        value = self.text.partition(":")[2].partition("#")[0].strip(" ,")
        return value in ("", "None")


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
            counts[path] = (not exact, -len(calls.findall(tree.text(path))), path)
    found = sorted(counts, key=lambda path: counts[path])
    return [path for path in found if not counts[path][0] or counts[path][1]][:_FEW]


def rows_naming(tree: Tree, path: str, names: Iterable[str]) -> Iterator[TableRow]:
    """The rows of a file's tables that name an OpInfo, with or without variant."""
    text = tree.text(path)
    either = "|".join(re.escape(name) for name in names)
    row = re.compile(rf"^[^\S\n]*[\"'](?:{either})[\"']\s*[:,][^\n]*", re.MULTILINE)
    found = list(row.finditer(text)) if either else []
    tables = _tables(text) if found else []
    starts = [start for start, _ in tables]
    for match in found:
        at = bisect(starts, match.start())
        table = tables[at - 1][1] if at else ""
        passing = bool(_PASSING.search(table)) and not _FAILING.search(table)
        if passing or _FAILING.search(table):
            place = Location(path, text.count("\n", 0, match.start()) + 1)
            yield TableRow(table, place, match[0].strip(), passing)


@lru_cache(maxsize=8)
def _tables(text: str) -> list[tuple[int, str]]:
    return [(m.start(), m[1] or "") for m in _TABLE.finditer(text)]


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
