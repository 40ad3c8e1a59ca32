"""Check of dtypes: every use of an AT_DISPATCH macro that the text shows, against what is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from indexes.model.regex import regex
from indexes.queries.index import Index

_COMMENT = regex(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_DEFINE = regex(r"^[ \t]*#[ \t]*define(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_USE = regex(r"\b(_?AT_DISPATCH_(?!CASE)\w+)\s*\(")


@dataclass(slots=True)
class Dispatches:
    """Uses of dispatch macros in the tree, in counts."""

    expanded: int = 0
    other: int = 0
    """Switches over something else in every use: layouts, reductions."""
    unread: list[str] = field(default_factory=list)


def dispatches_of(index: Index) -> Dispatches:
    """Compares the uses in the text with those that were expanded to dtypes."""
    found = Dispatches()
    rows = [dispatch for _, dispatch in index.dtype_rows()]
    places = {(one.location.path, one.location.line) for one in rows if one.dtypes}
    macros = {one.macro for one in rows}
    for path, name, line in _uses(index):
        if (path, line) in places:
            found.expanded += 1
        elif name not in macros and index.dtypes.switches(name):
            found.other += 1
        else:
            found.unread.append(f"{path}:{line}: {name}")
    return found


def _uses(index: Index) -> Iterator[tuple[str, str, int]]:
    """(path, macro, line) of each use in the files of kernels."""
    for path in index.kernel_files():
        text = index.read(path)
        if "AT_DISPATCH_" in text:
            plain = _DEFINE.sub(_blank, _COMMENT.sub(_blank, text))
            for use in _USE.finditer(plain):
                yield path, use[1], plain.count("\n", 0, use.start()) + 1


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])
