"""Heads of the everyday kinds, each read in one match: most of what a file opens.

What is no such head is left to ``cpp_heads``, which takes it apart piece by piece.
"""

from __future__ import annotations

from functools import lru_cache

from indexes.readers.cpp_heads import NOT_NAMES, STORAGE, Head, any_head
from indexes.regex import regex

_PREFIX = r"(?:(?:public|private|protected)\s*:(?!:)\s*)*(?:template\s*<[^<>;(){}=]*>\s*)?"
_PARAMETERS = r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*(?:(?:const|noexcept|override|final)\b\s*)*"
_ORDINARY = regex(
    _PREFIX + r"((?!(?:public|private|protected|template)\b)[A-Za-z_][\w:&*<>,\s]*[\s&*>])"
    r"((?:[A-Za-z_]\w*::)*)([A-Za-z_]\w*)" + _PARAMETERS
)
_CONSTRUCTOR = regex(
    _PREFIX
    + r"()(?:(?:explicit|inline|constexpr)\s+)*((?:[A-Za-z_]\w*::)*)(~?[A-Za-z_]\w*)"
    + _PARAMETERS
    + r"(:(?!:)[\s\S]*)?"
)
_NAMESPACE = regex(r"(namespace)\b\s*((?:[A-Za-z_][\w:\s]*)?)")
_CLASS = regex(
    _PREFIX
    + r"(?:class|struct)\s+(?:[A-Z_][A-Z0-9_]*\s+)*(?!final\b)([A-Za-z_]\w*)\s*(?:final\s*)?"
    r"(?::(?!:)([^(){}\[\];=]*))?"
)
_SCOPE = regex(_PREFIX + r"(namespace|class|struct)\b")
_MACRO = regex(r"([A-Z][A-Z0-9_]*)\(([^()]*)\)\s*")
_NOT_TYPES = frozenset(
    "class struct union enum namespace else return extern operator typedef using public private "
    "protected new delete case template".split()
)
_NO_TYPE, _TYPE, _GLOBAL_TYPE = 0, 1, 2


def quick_head(text: str, start: int, stop: int, class_name: str) -> Head | None:
    """What ``text[start:stop]`` opens, which begins with no space, holds one declaration and
    ends in front of a ``{``; None for all but everyday heads."""
    if scope := _SCOPE.match(text, start, stop):
        return (
            _namespace(text, start, stop) if scope[1] == "namespace" else _class(text, start, stop)
        )
    return (
        _ordinary(text, start, stop)
        or _constructor(text, start, stop, class_name)
        or _macro(text, start, stop)
    )


def read_head(text: str, start: int, stop: int, class_name: str) -> Head:
    """What ``text[start:stop]``, which ends in front of a ``{``, opens."""
    at = stop - len(text[start:stop].lstrip())
    return quick_head(text, at, stop, class_name) or any_head(text, start, stop, class_name)


def _ordinary(text: str, start: int, stop: int) -> Head | None:
    """The head of an everyday function, ``Type name(parameters)``."""
    found = _ORDINARY.match(text, start, stop)
    if not found or found.end() != stop:
        return None
    before, qualifier, name, parameters = found.groups()
    kind = _return_type(before)
    if not kind or name in NOT_NAMES:
        return None
    return Head(
        "function", name, qualifier[:-2], found.start(3), parameters, "", kind == _GLOBAL_TYPE, "",
        found.start(1),
    )  # fmt: skip


@lru_cache(maxsize=4096)
def _return_type(before: str) -> int:
    """What stands in front of a function's name: most functions share theirs with others."""
    if "operator" in before or before.count("<") != before.count(">"):
        return _NO_TYPE
    words = before.split()
    if not _NOT_TYPES.isdisjoint(words):
        return _NO_TYPE
    if words[-1] in STORAGE:
        return _NO_TYPE  # a constructor, or an attribute macro
    return _GLOBAL_TYPE if "__global__" in before else _TYPE


def _constructor(text: str, start: int, stop: int, class_name: str) -> Head | None:
    """The head of a constructor or destructor."""
    found = _CONSTRUCTOR.match(text, start, stop)
    if not found or found.end() != stop or found[3] in NOT_NAMES:
        return None
    _, qualifier, name, parameters, members = found.groups()
    if members and text.count("(", start, stop) != text.count(")", start, stop):
        return None
    if qualifier or members or name == class_name or name[0] == "~":
        at, begins_at = found.start(3), found.start(1)
        return Head("function", name, qualifier[:-2], at, parameters, begins_at=begins_at)
    return None


def _namespace(text: str, start: int, stop: int) -> Head | None:
    found = _NAMESPACE.match(text, start, stop)
    if not found or found.end() != stop:
        return None
    name = "".join(found[2].split()).replace("::inline", "::")
    return Head("namespace", name or "(anonymous)", "", found.start(1))


def _class(text: str, start: int, stop: int) -> Head | None:
    """The head of a class without brackets."""
    found = _CLASS.match(text, start, stop)
    if not found or found.end() != stop:
        return None
    base = " ".join((found[2] or "").strip(" :\n").split())
    return Head("class", found[1], "", found.start(1), base=base)


def _macro(text: str, start: int, stop: int) -> Head | None:
    """``MACRO(args) {``: a definition that a macro begins."""
    found = _MACRO.match(text, start, stop)
    if not found or found.end() != stop or found[1] in NOT_NAMES:
        return None
    return Head("macro", found[1], "", found.start(1), "", found[2])
