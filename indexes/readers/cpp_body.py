"""Inside a function body: what it calls, launches and passes on by name.

Works on the cleaned text of ``cpp_lex``, where comments and strings are blank.
"""

from __future__ import annotations

import re

# Bodies are read backwards: a call is then a literal "(" in front of a name, which the
# engine finds by skipping; forwards, every identifier would be tried first.
_ANGLE = r">[^;(){}<>]*(?:>[^;(){}<>]*(?:>[^;(){}<>]*<[^;(){}<>]*)*<[^;(){}<>]*)*<"
_CALL = re.compile(
    rf"(\(|<<<)\s*(?:({_ANGLE})\s*)?([\w:]*\w)(?:::({_ANGLE})\s*([\w:]*\w))?(?:\s*(\.|>-))?"
)
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
    found: dict[tuple[str | None, ...], list[int]] = {}
    for match in _CALL.finditer(text[start:end][::-1]):
        if match[6] and not members and match[3] not in _LOOPS_BACKWARDS:
            continue
        if match[3] not in _BACKWARDS:
            found.setdefault(match.group(3, 5, 1, 6, 2, 4), []).append(end - match.end(3))
    calls: dict[Spelled, list[int]] = {}
    for spelled, offsets in reversed(found.items()):
        if call := _call(*spelled):
            calls.setdefault(call, []).extend(offsets)
    return calls


def _call(
    name: str | None, owner: str | None, opened: str | None, behind: str | None,
    template: str | None, owner_template: str | None,
) -> Spelled | None:  # fmt: skip
    """One call from its parts as read backwards; None for what only looks like one."""
    assert name
    if name[-1].isdigit():
        return None
    kind = "launch" if opened == "<<<" else "member" if behind else "call"
    qualifier, _, simple = name[::-1].rpartition("::")
    if owner:
        qualifier = owner[::-1]
    if template and template.startswith(">>>") and template.endswith("<<<"):
        kind, template = "launch", None  # f<<<1, 2>>>(x): the configuration looks like arguments
    arguments = template or owner_template
    return simple, qualifier, kind, arguments[-2:0:-1] if arguments else ""


def passed_names(text: str, names: frozenset[str]) -> list[tuple[str, int]]:
    """Where ``names``, or other names of stubs by their usual ending, stand alone as an
    argument: ``cumsum_stub`` in ``f(x, cumsum_stub)``. With offsets."""
    found = []
    for name in names:
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
