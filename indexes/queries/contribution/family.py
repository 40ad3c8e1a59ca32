"""Finds where operators of a family are defined, registered or listed by hand, which a new operator
needs too. Calls do not count."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from indexes.model.regex import regex
from indexes.model.vocabulary import Location

_SKIPPED = frozenset({"__pycache__", "build", "node_modules", "third_party", "generated"})
_CXX = (".cpp", ".cc", ".c", ".h", ".hpp", ".cuh", ".cu", ".mm", ".metal", ".inc")
_PYTHON = (".py", ".pyi", ".py.in", ".pyi.in")
_LISTS = (".yaml", ".rst", ".md", ".bzl", ".bazel", ".expect", ".txt", ".json", ".cwrap")
_LARGEST = 4_000_000
"""In bytes; larger files are not written by hand."""
_GENERATED = re.compile(rb"(?i)auto-?generated|@generated")
_HEAD = 500
"""Bytes at the start that may say a file is generated."""

_CALLED = regex(r"\s*(?:<[^<>;]*>)?\s*\(")
_MACRO = regex(r"(?:^|\W)(?:[A-Z][A-Z0-9_]+|_|m\.impl|m\.def)\s*\((?:[^;{}]*)$")
_TYPED = regex(r"(?:^|[\w>&*\])])\s+$")
_KEYWORDS = ("return", "else", "case", "throw", "new", "co_return", "and", "or", "not", "in", "if")
_PAGE_LINE = regex(r"(?:[-*.|]|\.\. \w+::)?\s*(?:[\w.]+\.)?(\w+)(?:\(.*\))?\s*")
_WORDS = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_YAML_ITEM = regex(r"\s*-\s*(?:\w+:\s*)?([\w.]+)|\s*(?:\w+:)\s*([\w.]+)\s*$")


@dataclass(frozen=True, slots=True)
class Mention:
    """A handwritten line that names a member."""

    member: str
    location: Location
    text: str


class Members:
    """The names of a family's members, as they stand in source."""

    def __init__(self, names: Iterable[str], operators: Iterable[str], spaces: Iterable[str]):
        """``operators``: all base names, since longer names are no member's. ``spaces``: namespaces
        that names may omit, as they may the underscore of a private name:
        ``weight_int8pack_mm_kernel``."""
        self._owner: dict[str, str] = {}
        every = [name for op in operators for name in _without(op, spaces)]
        self._operators = frozenset(every)
        for name in names:
            self._owner[name] = name
            public = name.lstrip("_")
            if public != name and "_" in public and public not in self._operators:
                self._owner.setdefault(public, name)
            for short in _without(name, spaces):
                self._owner.setdefault(short, name)
        dotted = (name.replace("_", ".", 1) for name in self._owner if not name.startswith("_"))
        self._sought = tuple(dict.fromkeys([*self._owner, *dotted]))

    def spots(self, text: str) -> list[int]:
        """The offsets of names, as words or between underscores."""
        found: set[int] = set()
        for name in self._sought:
            at = text.find(name)
            while at >= 0:
                if (
                    not text[at - 1 : at].isalnum()
                    and not text[at + len(name) : at + len(name) + 1].isalnum()
                ):
                    found.add(at)
                at = text.find(name, at + 1)
        return sorted(found)

    def owner(self, token: str) -> str | None:
        """The member that a token names or is derived from: ``fmax``, ``fmax_stub``,
        ``calc_i0``."""
        token = token.rstrip("_")
        if token in self._owner:
            return self._owner[token]
        if token in self._operators:
            return None
        parts = token.split("_")
        for end in range(len(parts) - 1, 0, -1):
            head = "_".join(parts[:end])
            if head in self._owner:
                return self._owner[head]
            if head in self._operators:
                return None
        return self._owner.get("_".join(parts[1:]))


def _without(name: str, spaces: Iterable[str]) -> list[str]:
    """A name, and what is left of it without its namespace."""
    return [name, *(name[len(s) + 1 :] for s in spaces if name.startswith(f"{s}_"))]


def mentions(members: Members, path: str, text: str) -> Iterator[Mention]:
    """The lines of a file that define, register or list a member, the first of each."""
    wanted = _reader(path)
    spots = members.spots(text)
    seen: set[str] = set()
    number, counted = 1, 0
    for at in spots:
        start = text.rfind("\n", 0, at) + 1
        line = text[start : text.find("\n", at)] if text.find("\n", at) >= 0 else text[start:]
        token = _token(line, at - start)
        member = members.owner(line[token.start : token.stop])
        if not member and line[token.stop : token.stop + 1] == ".":  # linalg.det is linalg_det
            space, token = line[token.start : token.stop], _token(line, token.stop + 1)
            member = members.owner(f"{space}_{line[token.start : token.stop]}")
        if member and member not in seen and wanted(line, token.start, token.stop):
            seen.add(member)
            number, counted = number + text.count("\n", counted, start), start
            yield Mention(member, Location(path, number), line.strip())


def _token(line: str, at: int) -> slice:
    """The identifier around a place of a line."""
    start = end = at
    while start and (line[start - 1].isalnum() or line[start - 1] == "_"):
        start -= 1
    while end < len(line) and (line[end].isalnum() or line[end] == "_"):
        end += 1
    return slice(start, end)


def _reader(path: str) -> Callable[[str, int, int], bool]:
    if path.endswith(_PYTHON):
        return _in_python
    if path.endswith(_CXX):
        return _in_cxx
    return _in_list


def _in_python(line: str, start: int, end: int) -> bool:
    """Whether it is a definition, a string or a passed name: no call or import."""
    before, after = line[:start], line[end:]
    if before.lstrip().startswith(("import ", "from ", "#", ">>>")):
        return False
    if before.rstrip().endswith(("def", "class")):
        return True
    if before[-1:] in ("'", '"', ":", ".") or after[:1] in ("'", '"'):
        quoted = re.search(r"""['"][\w.:]*$""", before) and re.match(r"""[\w.:]*['"]""", after)
        dotted = before[-1:] == "." and not _CALLED.match(after)
        return bool(quoted) or dotted
    return False


def _in_cxx(line: str, start: int, end: int) -> bool:
    """Whether it is a definition, a declaration, an argument of a registering macro, or a
    string."""
    before, after = line[:start], line[end:]
    head = before.lstrip()
    if head.startswith(("#include", "//", "*")) or before.endswith((".", "->")):
        return False
    if before[-1:] == '"' or before.endswith('"aten::') or after[:1] == '"':
        return True
    if before.endswith("::"):
        return bool(_MACRO.search(before)) and not _CALLED.match(after)
    if _MACRO.search(before):
        return bool(re.search(r"[(,&|]\s*$", before))
    if _CALLED.match(after):
        if not head:
            return not line.rstrip().endswith(";") and not line[:1].isspace()
        word = re.search(r"(\w+)\s*$", before)
        return bool(_TYPED.search(before)) and not (word and word[1] in _KEYWORDS)
    return bool(re.match(r"(?:static |inline |constexpr |const )*(?:auto|struct|class) $", head))


def _in_list(line: str, start: int, end: int) -> bool:
    """Whether it is an item of a list: alone on its line, or at the start of an item."""
    if found := _PAGE_LINE.fullmatch(line.strip()):
        return line.find(found[1]) <= start <= line.find(found[1]) + len(found[1])
    if found := _YAML_ITEM.match(line):
        return found.start() <= start <= found.end()
    return line.lstrip().startswith(("aten::", "_(")) or "aten::" in line[max(0, start - 6) : start]


def is_of_space(path: str, space: str) -> bool:
    """Whether a file is in a namespace, so that ``linalg_inv`` is called ``inv``:
    ``torch/linalg/__init__.py``, ``native/cuda/ForeachUnaryOp.cu``."""
    word = space.strip("_").lower()
    return bool(word) and word in (one.lower() for one in _WORDS.findall(path))


def hand_written(top: str) -> Iterator[str]:
    """The sorted paths of files that may name operators by hand."""
    found: list[str] = []
    kinds = (*_CXX, *_PYTHON, *_LISTS)
    for folder, folders, files in os.walk(top):
        folders[:] = [one for one in folders if one not in _SKIPPED and not one.startswith(".")]
        inner = folder[len(top) + 1 :]
        found += (f"{inner}/{one}" if inner else one for one in files if one.endswith(kinds))
    return iter(sorted(found))


def family_mentions(
    members_in: Callable[[str], Members], top: str, read: Callable[[str], bytes]
) -> Iterator[tuple[str, Sequence[Mention]]]:
    """The lines that name members, by file; ``members_in`` gives their names in a file."""
    for path in hand_written(top):
        data = read(path)
        if len(data) > _LARGEST or _GENERATED.search(data, 0, _HEAD):
            continue
        if found := tuple(mentions(members_in(path), path, data.decode("utf-8", "replace"))):
            yield path, found
