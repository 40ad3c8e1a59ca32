"""Names that are given to a build or to a parser of settings, and that nothing defines: options of
CMake, what ``#if`` asks for, words that C++ compares a text with."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexes.model.answers import Hit, NameMatch
from indexes.model.vocabulary import Location
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.query import NameQuery

_OPTION = rb"(?im)^[ \t]*(?:cmake_dependent_)?option\s*\(\s*%b\b[^)]*\)"
_SET = rb"(?im)^[ \t]*set\s*\(\s*%b\b[^)\n]*\)?"
_ASKED = (
    rb"(?m)^[ \t]*\#[ \t]*(?:if|ifdef|ifndef|elif|define)\b[^\n]*\b%b\b[^\n]*"
    rb"|^[^\n]*(?:[=!]=|\bcompare\s*\()\s*\"%b\"[^\n]*"
)
_READS = 40
"""Lines that are listed of those that ask for a name."""


def find(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """``USE_MKLDNN`` and ``max_split_size_mb``: where an option is declared, then where it is asked
    for."""
    name = query.base
    if "_" not in name.strip("_") or not name.isidentifier():
        return None
    hits = [*_options(name, index), *_asked(name, index)]
    return NameMatch("variable", name, hits=tuple(hits[:_READS])) if hits else None


def _options(name: str, index: IndexedTree) -> Iterator[Hit]:
    """The lines of CMake that declare an option; those that set it where none does."""
    files = ["CMakeLists.txt", *(f"cmake/{one}" for one in index.source.listed("cmake"))]
    texts = [(path, index.source.content(path)) for path in files if path.endswith(_CMAKE)]
    for pattern, said in ((_OPTION, "option of the build"), (_SET, "set by the build")):
        word = re.compile(pattern % name.encode())
        found = [(path, data, one) for path, data in texts for one in word.finditer(data)]
        for path, data, one in found:
            text = " ".join(one[0].decode("utf-8", "replace").split())
            yield Hit("variable", name, _place(path, data, one), f"{said}: {text}")
        if found:
            return


_CMAKE = (".cmake", ".txt")


def _asked(name: str, index: IndexedTree) -> Iterator[Hit]:
    """The lines of C++ that ask for a name."""
    word, asked = name.encode(), re.compile(_ASKED % (name.encode(), name.encode()))
    for path in index.facts.paths("cpp"):
        data = index.source.content(path)
        for one in asked.finditer(data) if word in data else ():
            text = one[0].decode("utf-8", "replace").strip()
            yield Hit("read", name, _place(path, data, one), text)


def _place(path: str, data: bytes, found: re.Match[bytes]) -> Location:
    return Location(path, data.count(b"\n", 0, found.start()) + 1)
