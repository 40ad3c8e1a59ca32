"""Where the code of a Python file uses a name, its imports followed within the file.

By lines rather than by a parser: a name that half of the tests use is looked for in all of
them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from indexes.model.regex import regex
from indexes.readers.python.blocks import SHORT_STRING, Spans, Text, occurrences
from indexes.readers.python.facts import module_name

_FROM = regex(rb"[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]+)")
_IMPORT = regex(rb"[ \t]*import[ \t]+([^\n#]+)")
_NAMED = regex(r"(\w+)(?:\s+as\s+(\w+))?")
_COMMENT = regex(r"#[^\n]*")


class Use(NamedTuple):
    """A name that is read."""

    name: str
    """``torch._decomp.decompositions.softmax`` as the imports tell; ``.add`` for a method of
    something."""
    line: int
    called: bool
    owner: str = ""
    """What stands before the name, as written: ``self.optimizer``."""


def read_imports(data: bytes, path: str) -> dict[str, str]:
    """What the imports of a file bind: name -> dotted path, those in functions too."""
    found: dict[str, str] = {}
    for match in _statements(data, _IMPORT):
        for part in match[1].decode("utf-8", "replace").split(","):
            name, _, bound = part.strip().partition(" as ")
            if name:
                found[bound.strip() or name.partition(".")[0]] = (
                    name if bound else name.partition(".")[0]
                )
    for match in _statements(data, _FROM):
        origin = _origin(match[1].decode("utf-8", "replace"), path)
        listed = _COMMENT.sub("", match[2].decode("utf-8", "replace")).strip("() \n")
        for name, bound in _NAMED.findall(listed):
            found[bound or name] = f"{origin}.{name}"
    return found


def _statements(data: bytes, pattern: re.Pattern[bytes]) -> Iterator[re.Match[bytes]]:
    """The lines with an import that a pattern tells; looked at one by one, which is faster than
    a search that begins at each line."""
    end = 0
    for at in occurrences(data, b"import"):
        begin = data.rfind(b"\n", 0, at) + 1
        if begin >= end and (match := pattern.match(data, begin)):
            end = match.end()
            yield match


def _origin(written: str, path: str) -> str:
    """The module that a ``from`` names, relative ones too."""
    level = len(written) - len(written.lstrip("."))
    if not level:
        return written
    module = module_name(path)
    package = module if path.endswith("/__init__.py") else module.rpartition(".")[0]
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *filter(None, [written[level:]])])


_OWNER = regex(rb"(?:^|[^\w.])((?:\w+\.)*|[\w.]*[)\]]\.)$")
_LONGEST_OWNER = 120
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def uses_of(text: Text, path: str, name: str, imports: dict[str, str]) -> Iterator[Use]:
    """The uses of ``name`` in a file, its own definition and imports left out."""
    data, word = text.data, name.encode()
    listed = _listed_imports(data)
    line, counted = 1, 0
    for at in occurrences(data, word):
        end = at + len(word)
        if data[end : end + 1] in _ENDS or (at and data[at - 1] in _WORD):
            continue
        begin = data.rfind(b"\n", 0, at) + 1
        before = data[begin:at]
        owner = _OWNER.search(before[-_LONGEST_OWNER:])
        if (
            owner is None
            or listed.end_at(at)
            or _is_no_code(before)
            or _defines(before)
            or text.strings.end_at(at)
        ):
            continue
        line += data.count(b"\n", counted, at)
        counted = at
        written = owner[1].decode("utf-8", "replace")
        dotted = _dotted(written, name, path, imports)
        yield Use(dotted, line, data[end : end + 8].lstrip()[:1] == b"(", written.rstrip("."))


def _is_no_code(before: bytes) -> bool:
    """Whether what follows on the line stands in a comment or in a string."""
    if b"'" in before or b'"' in before:
        before = SHORT_STRING.sub(b"", before)
    if _FORMATTED.search(before):
        return False
    return any(mark in before for mark in (b"#", b"'", b'"'))


_FORMATTED = regex(rb"\b[rR]?[fF][rR]?([\"'])(?:(?!\1)[^#])*\{[^{}]*\Z")
"""An f-string up to an expression in it."""


@lru_cache(8)
def _listed_imports(data: bytes) -> Spans:
    """The names of ``from x import (a, b)``; kept, as a file is looked through for several."""
    found = (match for match in _statements(data, _FROM) if match[2].startswith(b"("))
    return Spans([match.span(2) for match in found])


_ENDS = frozenset(bytes([one]) for one in _WORD)


def _defines(before: bytes) -> bool:
    stripped = before.strip()
    return stripped.startswith((b"import ", b"from ")) or stripped in (
        b"def",
        b"class",
        b"async def",
    )


def _dotted(written: str, name: str, path: str, imports: dict[str, str]) -> str:
    parts = written.rstrip(".").split(".") if written else []
    if not parts:
        return imports.get(name) or f"{module_name(path)}.{name}"
    root = imports.get(parts[0])
    if root is None or not parts[0].isidentifier():
        return f".{name}"
    return ".".join([root, *parts[1:], name])
