"""Reads what a body calls, launches and passes on by name, and what a block of registrations
registers.

Works on the cleaned text of ``lexer``, where comments and strings are blank.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from indexes.model.idioms import LIBRARY_METHODS, close
from indexes.model.regex import ASCII, regex
from indexes.readers.cxx.lexer import strip_comments

# Bodies are read backwards: a call is then a literal "(" in front of a name, which the
# engine finds by skipping; forwards, every identifier would be tried first. Alternatives
# that begin with a literal, and sets spelled out, are passed over without being entered.
_ANGLE = r"[^;(){}<>]*(?:>[^;(){}<>]*(?:>[^;(){}<>]*<[^;(){}<>]*)*<[^;(){}<>]*)*"
_SPACE = r"[ \t\r\n\f\v]*"
_PATH = r"([A-Za-z0-9_:]*[A-Za-z0-9_])"
_FIRST_PATH = r"([A-Za-z0-9_:]*[A-Za-z0-9_](?:::(?!>))?)"
_SPELLED = rf"(?:>({_ANGLE})<{_SPACE}|){_FIRST_PATH}(?:{_SPACE}::>({_ANGLE})<{_SPACE}{_PATH}|)"
_MEMBER = rf"(?:{_SPACE}(?:etalpmet{_SPACE})?(?:\.|>-)())?"
_EACH = regex(rf"\((?={_SPACE}({_SPELLED}{_MEMBER}))")
_LAUNCH = regex(rf"<<<(?={_SPACE}({_SPELLED}{_MEMBER}))")
_KEYWORDS = frozenset(
    "if for while switch return sizeof catch decltype alignof static_cast const_cast "
    "reinterpret_cast dynamic_cast typeid new delete throw assert defined alignas noexcept "
    "static_assert operator and or not constexpr else do case co_await co_return co_yield "
    "int float double bool char long short unsigned signed void auto const "
    "int64_t uint64_t int32_t uint32_t int16_t uint8_t int8_t size_t scalar_t".split()
)
BY_NAME = frozenset(
    "findSchemaOrThrow findSchema findOp torch_call_dispatcher aoti_torch_call_dispatcher".split()
)
"""Functions that look up or call an operator by name: of the dispatcher, of the stable ABI."""
SCHEMA = "schema"
"""The kind of such a call, with the operator as its name and the overload as its template."""
_WHOLE = regex(rf"{_SPELLED}{_MEMBER}")
_SELECTOR = regex(r"(?<!:):(?!:)")
"""A part of an Objective-C message, behind which a call may stand: ``shape:getMPSShape(x)``."""
_BACKWARDS = frozenset(word[::-1] for word in _KEYWORDS)


Spelled = tuple[str, str, str, str]
"""Name, qualifier, kind (``call``, ``member`` or ``launch``) and template arguments of a call."""


class Site(NamedTuple):
    """A call as spelled at one place."""

    opened: int
    """Offset of the parenthesis before the arguments."""
    start: int
    """Offset of the name with its qualifier."""
    name: str
    qualifier: str
    kind: str
    template: str


# Parentheses among template arguments: ``f<g(), (k)>(x)``, ``f<g(), (k) ? 1 : 2><<<1, 2>>>(x)``,
# ``f<g, k()>::h(x)``. The bound keeps a long row of ``<`` linear.
_NESTED = regex(
    r"<(?! )(?=[^;{}(]{0,4096}\()"
    r"(?:[^;{}<>()&|]|\([^;{}<>()]*\)|<[^;{}<>()]*>)*>(?=\s*(?:\(|<<<|::))"
)
_SHIELDS = str.maketrans("()", "\x01\x02")
_SHIELDED = str.maketrans("\x01\x02", "()")


def _shielded(body: str) -> str:
    """Replaces parentheses inside template arguments, which are no calls."""
    if not any(sign in body for sign in (")>", "),", ") >", ") ?")):
        return body
    return _NESTED.sub(lambda found: found[0].translate(_SHIELDS), body)


def call_sites(text: str, start: int, end: int) -> list[Site]:
    """Every call and launch in ``text[start:end]``, in order."""
    body = _shielded(text[start:end])[::-1]
    found = []
    for match in _EACH.finditer(body):
        if call := _spelled(match[1]):
            at = match.end(5)
            found.append(
                Site(end - match.start() - 1, end - (at if at > 0 else match.end(3)), *call)
            )
    found.reverse()
    return _with_launches(text, body, end, found) if "<<<" in body else found


def _with_launches(text: str, body: str, end: int, sites: list[Site]) -> list[Site]:
    found = {site.start: site for site in sites}
    for match in _LAUNCH.finditer(body):
        if call := _spelled(f"<<<{match[1]}"):
            at = end - (match.end(5) if match[5] else match.end(3))
            opened = text.find("(", max(text.find(">>>", at, end), at), end)
            found[at] = Site(opened, at, *call)
    return [found[at] for at in sorted(found)]


@lru_cache(maxsize=16384)
def _spelled(backwards: str) -> Spelled | None:
    """Reads a call from the reversed text before its parenthesis or ``<<<``; None if there is
    none."""
    is_launch = backwards.startswith("<<<")
    found = _WHOLE.match(backwards, 3 * is_launch)
    if found is None:
        return None
    template, name, owner_template, owner, member = found.groups()
    name = _SELECTOR.split(name, maxsplit=1)[0]
    if not name or name in _BACKWARDS or name[-1].isdecimal():
        return None
    kind = "launch" if is_launch else "call" if member is None else "member"
    qualifier, parted, simple = name[::-1].rpartition("::")
    qualifier = qualifier or parted  # "::" of ::max, which names no max of this namespace
    if owner:
        qualifier = _SELECTOR.split(owner, maxsplit=1)[0][::-1]
    if template and template.startswith(">>") and template.endswith("<<"):
        kind, template = "launch", None  # f<<<1, 2>>>(x): the configuration looks like arguments
    arguments = owner_template if template is None else template
    written = arguments[::-1].translate(_SHIELDED) if arguments else ""
    return simple, qualifier, kind, written


# ------------------------------------------------------------------------- TORCH_LIBRARY

MACRO_USE = "use"
"""The method of a macro use that may expand to a call on the library."""

_OPENED = regex(r"(?<![\w.:>&])([A-Za-z_]\w*)\s*(?:\.\s*([A-Za-z_]\w*)\s*)?\(", ASCII)
_NO_MACRO = frozenset("if for while switch return sizeof TORCH_CHECK TORCH_INTERNAL_ASSERT".split())
_BEFORE_STATEMENT = frozenset("{};)")


class LibraryCall(NamedTuple):
    """``m.impl(...)``, or a macro use as a statement."""

    method: str
    arguments: str
    """As written, without comments; for a macro use, the whole use."""
    offset: int


def library_calls(
    plain: str, text: str, start: int, end: int, variable: str
) -> Iterator[LibraryCall]:
    """The calls in ``text[start:end]``; ``plain`` is the text with blank comments and strings.

    Calls inside parentheses are skipped, so that a lambda passed to ``impl`` is not read.
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
            if name == variable and method in LIBRARY_METHODS:
                yield LibraryCall(method, strip_comments(text[found.end() : ended]), found.start())
        elif name not in _NO_MACRO and _is_statement(plain, found.start(), start):
            yield LibraryCall(
                MACRO_USE, strip_comments(text[found.start() : ended + 1]), found.start()
            )


def _is_statement(plain: str, at: int, start: int) -> bool:
    before = plain[max(start, at - 400) : at].rstrip()
    return not before or before[-1] in _BEFORE_STATEMENT
