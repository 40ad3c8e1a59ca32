"""Heads of the everyday kinds, each read in one match: most of what a file opens.

What is no such head is left to ``cpp_heads``, which takes it apart piece by piece.
"""

from __future__ import annotations

from functools import lru_cache

from indexes.model.regex import ASCII, regex
from indexes.readers.cxx.heads import NOT_NAMES, STORAGE, Head

_PREFIX = r"(?:(?:public|private|protected)\s*:(?!:)\s*)*(?:template\s*<[^<>;(){}=]*>\s*)?"
_PARAMETERS = (
    r"\(([^();]*(?:\([^();]*(?:\([^();]*\)[^();]*)*\)[^();]*)*)\)\s*"
    r"(?:(?:(?:const|noexcept|override|final)\b|&&?)\s*)*"
)
ORDINARY = regex(
    _PREFIX + r"((?!(?:public|private|protected|template|class|struct|namespace)\b)"
    r"[A-Za-z_][\w:&*<>,\s]*[\s&*>])((?:[A-Za-z_]\w*::)*)"
    r"(operator(?:\(\)|[^\w\s(\"]+)|[A-Za-z_]\w*)" + _PARAMETERS,
    ASCII,
)
"""The head of a function, ``Type name(parameters)``: type, qualifier, name and parameters."""
_CONSTRUCTOR = regex(
    _PREFIX
    + r"()(?:(?:explicit|inline|constexpr)\s+)*((?:[A-Za-z_]\w*::)*)(~?[A-Za-z_]\w*)"
    + _PARAMETERS
    + r"(:(?!:)[\s\S]*)?",
    ASCII,
)
_NAMESPACE = regex(r"(namespace)\b\s*((?:[A-Za-z_][\w:\s]*)?)", ASCII)
_CLASS = regex(
    _PREFIX
    + r"(?:class|struct)\s+(?:[A-Z_][A-Z0-9_]*\s+)*(?!final\b)([A-Za-z_]\w*)\s*(?:final\s*)?"
    r"(?::(?!:)([^(){}\[\];=]*))?",
    ASCII,
)
_SCOPE = regex(_PREFIX + r"(namespace|class|struct)\b", ASCII)
_MACRO = regex(r"([A-Z][A-Z0-9_]*)\(([^()]*)\)\s*", ASCII)
_NOT_TYPES = frozenset(
    "class struct union enum namespace else return extern operator typedef using public private "
    "protected new delete case template".split()
)
NO_TYPE, TYPE, GLOBAL_TYPE = 0, 1, 2


def quick_head(text: str, start: int, stop: int, class_name: str) -> Head | None:
    """What ``text[start:stop]`` opens, which begins with no space, holds one declaration and
    ends in front of a ``{``; None for all but everyday heads, and for ``ORDINARY`` ones."""
    if scope := _SCOPE.match(text, start, stop):
        return (
            _namespace(text, start, stop) if scope[1] == "namespace" else _class(text, start, stop)
        )
    return _constructor(text, start, stop, class_name) or _macro(text, start, stop)


@lru_cache(maxsize=4096)
def return_type(before: str) -> int:
    """What stands in front of a function's name: most functions share theirs with others."""
    if "operator" in before or before.count("<") != before.count(">"):
        return NO_TYPE
    words = before.split()
    if not _NOT_TYPES.isdisjoint(words):
        return NO_TYPE
    if words[-1] in STORAGE or words[-1].endswith("::"):
        return NO_TYPE  # a constructor, an attribute macro, or the name's own scope
    return GLOBAL_TYPE if "__global__" in before else TYPE


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
