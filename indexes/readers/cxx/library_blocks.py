"""Inside the body of a TORCH_LIBRARY block: what it registers, and by which macros."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from indexes.model.regex import ASCII, regex
from indexes.readers.cxx.heads import close
from indexes.readers.cxx.lexer import strip_comments

MACRO_USE = "use"
"""Method of a statement that is no call on the library: a macro, until its #define is known."""

_OPENED = regex(r"(?<![\w.:>&])([A-Za-z_]\w*)\s*(?:\.\s*([A-Za-z_]\w*)\s*)?\(", ASCII)
_METHODS = frozenset(("impl", "def", "fallback", "impl_UNBOXED"))
_NO_MACRO = frozenset("if for while switch return sizeof TORCH_CHECK TORCH_INTERNAL_ASSERT".split())
_BEFORE_STATEMENT = frozenset("{};)")


class LibraryCall(NamedTuple):
    """``m.impl(...)``, or a macro use that stands as a statement."""

    method: str
    arguments: str
    """As written, without comments; of a macro use, the whole use."""
    offset: int


def library_calls(
    plain: str, text: str, start: int, end: int, variable: str
) -> Iterator[LibraryCall]:
    """The calls in ``text[start:end]``; in ``plain`` its comments and strings are blank.

    What stands in parentheses is passed over, so that a lambda given to ``impl`` is not read.
    """
    at = start
    while found := _OPENED.search(plain, at, end):
        ended = close(plain, found.end() - 1)
        if ended < 0 or ended > end:
            at = found.end()
            continue
        name, method = found.groups()
        at = found.end() if name in _NO_MACRO else ended + 1
        if method:
            if name == variable and method in _METHODS:
                yield LibraryCall(method, _clean(text[found.end() : ended]), found.start())
        elif name not in _NO_MACRO and _is_statement(plain, found.start(), start):
            yield LibraryCall(MACRO_USE, _clean(text[found.start() : ended + 1]), found.start())


def _is_statement(plain: str, at: int, start: int) -> bool:
    before = plain[max(start, at - 400) : at].rstrip()
    return not before or before[-1] in _BEFORE_STATEMENT


def _clean(text: str) -> str:
    return strip_comments(text) if "/" in text else text
