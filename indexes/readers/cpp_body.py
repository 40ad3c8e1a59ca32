"""Inside a function body: what it calls, launches and passes on by name.

Works on the cleaned text of ``cpp_lex``, where comments and strings are blank.
"""

from __future__ import annotations

from functools import lru_cache

from indexes.regex import regex

# Bodies are read backwards: a call is then a literal "(" in front of a name, which the
# engine finds by skipping; forwards, every identifier would be tried first. Alternatives
# that begin with a literal, and sets spelled out, are passed over without being entered.
_ANGLE = r"[^;(){}<>]*(?:>[^;(){}<>]*(?:>[^;(){}<>]*<[^;(){}<>]*)*<[^;(){}<>]*)*"
_SPACE = r"[ \t\r\n\f\v]*"
_PATH = r"([A-Za-z0-9_:]*[A-Za-z0-9_])"
_FIRST_PATH = r"([A-Za-z0-9_:]*[A-Za-z0-9_](?:::(?!>))?)"
_SPELLED = rf"{_SPACE}(?:>({_ANGLE})<{_SPACE}|){_FIRST_PATH}(?:::>({_ANGLE})<{_SPACE}{_PATH}|)"
_CALL = regex(r"\(" + _SPELLED)
_CALL_OR_LAUNCH = regex(r"(?:\(|<<<)" + _SPELLED)
_MEMBER = regex(_SPACE + r"(?:\.|>-)")
_BEFORE_NAME = frozenset(" \t\r\n\f\v.>")
_KEYWORDS = frozenset(
    "if for while switch return sizeof catch decltype alignof static_cast const_cast "
    "reinterpret_cast dynamic_cast typeid new delete throw assert defined alignas noexcept "
    "static_assert operator and or not constexpr else do case co_await co_return co_yield "
    "int float double bool char long short unsigned signed void auto const "
    "int64_t uint64_t int32_t uint32_t int16_t uint8_t int8_t size_t scalar_t".split()
)
LOOPS = frozenset(
    "parallel_for parallel_reduce for_each serial_for_each foreach_reduced_elt".split()
)
"""How CPU code runs over elements: at::parallel_for and the methods of TensorIterator."""
_LOOPS_BACKWARDS = frozenset(word[::-1] for word in LOOPS)
_BACKWARDS = frozenset(word[::-1] for word in _KEYWORDS)

Spelled = tuple[str, str, str, str]
"""A call: name, qualifier, kind (``call``, ``member`` or ``launch``), template arguments."""


def body_calls(text: str, start: int, end: int, members: bool = False) -> dict[Spelled, list[int]]:
    """Calls and launches in ``text[start:end]`` with their offsets, last one first.

    Member calls are half of all calls, and few of them mean an operator: without
    ``members`` only those are given that run a loop over elements.
    """
    body = text[start:end][::-1]
    pattern = _CALL_OR_LAUNCH if "<<<" in body else _CALL
    found: dict[_Parts, list[int]] = {}
    for match in pattern.finditer(body):
        template, name, owner_template, owner = match.groups()
        if name in _BACKWARDS:
            continue
        member = _is_member(body, match.end())
        if member and not members and name not in _LOOPS_BACKWARDS:
            continue
        parts = (name, owner, body[match.start()], member, template, owner_template)
        found.setdefault(parts, []).append(end - match.end(2))
    calls: dict[Spelled, list[int]] = {}
    for parts, offsets in reversed(found.items()):
        if call := _call(*parts):
            calls.setdefault(call, []).extend(offsets)
    return calls


_Parts = tuple[str, "str | None", str, bool, "str | None", "str | None"]


def _is_member(body: str, after: int) -> bool:
    """Whether ``.`` or ``->`` stands in front of a name, so behind it when read backwards."""
    return body[after : after + 1] in _BEFORE_NAME and _MEMBER.match(body, after) is not None


@lru_cache(maxsize=16384)
def _call(
    name: str, owner: str | None, opened: str, member: bool,
    template: str | None, owner_template: str | None,
) -> Spelled | None:  # fmt: skip
    """One call from its parts as read backwards; None for what only looks like one."""
    if name[-1].isdigit():
        return None
    kind = "launch" if opened == "<" else "member" if member else "call"
    qualifier, parted, simple = name[::-1].rpartition("::")
    qualifier = qualifier or parted  # "::" of ::max, which names no max of this namespace
    if owner:
        qualifier = owner[::-1]
    if template and template.startswith(">>") and template.endswith("<<"):
        kind, template = "launch", None  # f<<<1, 2>>>(x): the configuration looks like arguments
    arguments = owner_template if template is None else template
    return simple, qualifier, kind, arguments[::-1] if arguments else ""


def passed_names(text: str, names: frozenset[str]) -> list[tuple[str, int]]:
    """Where ``names``, or other names of stubs by their usual ending, stand alone as an
    argument: ``cumsum_stub`` in ``f(x, cumsum_stub)``. With offsets."""
    found = []
    for name in sorted(names):
        at = text.find(name)
        while at >= 0:
            if _is_argument(text, at, at + len(name)):
                found.append((name, at))
            at = text.find(name, at + 1)
    at = text.find("_stub")
    while at >= 0:
        start = len(text[max(0, at - 80) : at].rstrip(_NAME)) + max(0, at - 80)
        name = text[start : at + 5]
        if name not in names and _is_argument(text, start, at + 5):
            found.append((name, start))
        at = text.find("_stub", at + 1)
    return found


_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"


def _is_argument(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 60) : start].rstrip(" \n\t&:" + _NAME)[-1:]
    after = text[end : end + 60].lstrip()[:1]
    whole = text[start - 1 : start] not in _NAME or start == 0
    return before in ("(", ",") and after in (",", ")") and whole
