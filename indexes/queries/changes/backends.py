"""What the tests, docs and tables of a tree say of one back end: the files that are for it, and
the rows in them that name an operator."""

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
    """A line of a table of tests that names an OpInfo."""

    table: str
    place: Location
    text: str
    passing: bool
    """The table lists what is expected to work; others what is expected to fail."""

    @property
    def whole(self) -> bool:
        """It is about all dtypes of the operator."""
        value = self.text.partition(":")[2].partition("#")[0].strip(" ,")
        return value in ("", "None")


def words_of(key: str) -> tuple[str, ...]:
    """What files for a key are called: ``sparse_csr`` for SparseCsrCPU, ``mps`` for MPS."""
    device = device_of_key(key)
    layout = key.removesuffix(device).removesuffix("Meta") if device != key else ""
    plain = "_".join(_CAMEL.findall(layout)).lower()
    short = plain.removesuffix("_tensor")
    named = [plain.replace("_tensor", "tensor"), short] if plain else []
    own = [device.lower()] if device not in ("CPU", "CUDA") or not plain else []
    return tuple(dict.fromkeys(word for word in (*named, *own) if word))


def test_files(tree: Tree, key: str, names: Iterable[str]) -> list[str]:
    """The test files that are for a key, those that name the operators most often first."""
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
    """The rows of the tables of a file that name an OpInfo, with its variant or without."""
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
    """The Python files of tests that are for a device: their names have its name."""
    device = device_of_key(key).lower()
    if device != key.lower() or device in ("cpu", "cuda"):
        return []
    like = (f"test/%{device}%.py", f"torch/testing/_internal/%{device}%.py")
    return [path for one in like for path in tree.paths(one)]


def docs_pages(tree: Tree, key: str) -> list[str]:
    """The pages that are for a key's layout or device."""
    words = words_of(key)
    return [
        page for page in page_paths(tree) if PurePosixPath(page).stem.replace("-", "_") in words
    ]
