"""Messages in C++: the literals of ``TORCH_CHECK(ok, "a ", x, " b")``, of ``throw
std::runtime_error("...")`` and of ``stream << "a " << x``, one message each."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.model.idioms import meaning_of
from indexes.model.lines import LineCount
from indexes.model.regex import regex
from indexes.readers.cxx.lexer import Lexed, Macro
from indexes.readers.messages import DISPATCH, ENVIRONMENT, SHORTEST, MessageFact, joined

_STRING = regex(r'"(?:[^"\\\n]|\\.)*"')
_SCHEMA = ") -> "
_PARENTHESIS = regex(r"[()]")
_CALLED = regex(r"(?:\b(throw)\s+)?\b([A-Za-z_][\w:.]*)\s*(?:<[\w:, ]*>\s*)?\Z")
_RAISES = regex(r"CHECK|ASSERT|ERROR|Error|throw|WARN|DISPATCH|getenv|get_env")
_VARIABLE = regex(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")
_READS = regex(r"env|ENV|Cvar|\b[A-Z]+_[A-Z0-9_]+\s*=")
"""Text before the name of an environment variable, or of a constant for one."""
_NO_CALLS = frozenset(("if", "while", "for", "switch", "return", "catch", "sizeof", "else", "case"))
_CHOSEN = regex(r"(?:\?|(?<!:):|[=!]=)\Z")
"""Text before an operand of a conditional or of a comparison."""
_NOTHING = (",", "<<", "+")
"""What joins literals to one text."""
_NEXT = regex(r"\)\s*\n\s*(?:[A-Z][A-Z0-9_]+\(|(?:return|if|for|while|switch|auto|const)\b)")
"""The end of a macro without a semicolon, before the next or another statement."""
_BEFORE = 200
_LONGEST = 60
"""Characters before a parenthesis that may hold the called name."""
_FURTHEST = 600
"""Characters of a statement that are read before its first literal."""
_NO_MESSAGES = frozenset(("static_assert", "def", "m.def"))
"""Functions whose texts are not shown to users."""
_DOCUMENTS = ("Doc", "docstr")
"""Suffixes of names of documentation strings."""


def read_messages(lexed: Lexed) -> list[MessageFact]:
    """The messages of a file, including those in its macros."""
    line = LineCount(lexed.text)
    found = list(_messages(lexed.text, lexed.clean, lexed.strings, line))
    for macro in lexed.macros:
        if '"' in macro.body:
            found += _in_macro(macro, line(macro.offset))
    return found


def _in_macro(macro: Macro, line: int) -> Iterator[MessageFact]:
    body, first = macro.body, line + macro.skipped_lines
    strings = [found.start() for found in _STRING.finditer(body)]
    clean = _STRING.sub(lambda found: f'"{" " * (len(found[0]) - 2)}"', body)
    return _messages(body, clean, strings, LineCount(body, first))


def _messages(text: str, clean: str, strings: list[int], line: LineCount) -> Iterator[MessageFact]:
    for group in _groups(clean, strings):
        start = _statement(clean, group[0][0])
        spoken = any(" " in text[at + 1 : end - 1] for at, end in group)
        if spoken or _RAISES.search(clean, start, group[0][0]):
            if fact := _message(text, clean, start, group, line):
                yield fact
        else:
            yield from _variables(text, clean, group, line)


def _variables(
    text: str, clean: str, group: list[tuple[int, int]], line: LineCount
) -> Iterator[MessageFact]:
    """``getenv("NAME")`` and the constants that hold such names."""
    for start, end in group:
        found = _VARIABLE.fullmatch(text, start + 1, end - 1)
        if found and _READS.search(clean, max(0, start - _BEFORE), start):
            yield MessageFact(line(start), line(start), ENVIRONMENT, found[0])


def _groups(clean: str, strings: list[int]) -> Iterator[list[tuple[int, int]]]:
    group: list[tuple[int, int]] = []
    for start in strings:
        end = clean.find('"', start + 1) + 1
        if group and _parted(clean, group[-1][1], start):
            yield group
            group = []
        group.append((start, end))
    if group:
        yield group


def _parted(clean: str, start: int, stop: int) -> bool:
    if any(clean.find(mark, start, stop) >= 0 for mark in ";{}"):
        return True
    return "\n" in clean[start:stop] and _NEXT.search(clean, start, stop) is not None


def _statement(clean: str, at: int) -> int:
    furthest = max(0, at - _FURTHEST)
    return max(clean.rfind(mark, furthest, at) + 1 for mark in ";{}") or furthest


def _message(
    text: str, clean: str, start: int, group: list[tuple[int, int]], line: LineCount
) -> MessageFact | None:
    calls = _open_calls(clean, start, group[0][0])
    if any(name.endswith(_DOCUMENTS) for _, name in calls):
        return None
    named = next((at for at, call in enumerate(calls) if call[1]), None)
    place, name = calls[named] if named is not None else (group[0][0], "")
    last = line(group[-1][1])
    if meaning_of(name.rpartition("::")[2]) in ("dtypes", "cases"):
        return _dispatch(text, group, line(place), last)
    if "getenv" in name or "get_env" in name:
        at, end = group[0]
        return MessageFact(line(place), last, ENVIRONMENT, text[at + 1 : end - 1])
    depth = 0 if named is None else len(calls) - named - 1
    message = joined(_parts(text, clean, group, depth))
    if len(message) < SHORTEST or _SCHEMA in message or name in _NO_MESSAGES:
        return None
    return MessageFact(line(place), last, name, message)


def _dispatch(text: str, group: list[tuple[int, int]], line: int, last: int) -> MessageFact | None:
    """The name of a dtype dispatch, which appears in ``"x" not implemented for``."""
    at, end = group[0]
    return MessageFact(line, last, DISPATCH, text[at + 1 : end - 1])


def _open_calls(clean: str, start: int, stop: int) -> list[tuple[int, str]]:
    """The calls around a place, outermost first: offset and callee, empty for other parentheses."""
    opened: list[int] = []
    for sign in _PARENTHESIS.finditer(clean, start, stop):
        if sign[0] == "(":
            opened.append(sign.start())
        elif opened:
            opened.pop()
    return [_called(clean, start, at) for at in opened]


def _called(clean: str, start: int, opened: int) -> tuple[int, str]:
    called = _CALLED.search(clean, max(start, opened - _LONGEST), opened)
    if not called or called[2] in _NO_CALLS:
        return opened, ""
    return called.start(), f"{called[1]} {called[2]}" if called[1] else called[2]


def _parts(
    text: str, clean: str, group: list[tuple[int, int]], depth: int
) -> Iterator[tuple[str, bool]]:
    """Runs of literals without a value between them, and whether each may be absent: an operand of
    a conditional or comparison, an argument of an argument."""
    written, may_miss, ended = "", False, 0
    for start, end in group:
        between = clean[ended:start] if ended else clean[max(0, start - 8) : start]
        found = _content(text, start, end)
        stripped = between.strip()
        if ended and (not stripped or (stripped in _NOTHING and not may_miss)):
            written += found
        else:
            if written:
                yield written, may_miss
            if ended:
                depth += between.count("(") - between.count(")")
            written = found
            may_miss = depth > 0 or _CHOSEN.search(stripped) is not None
        ended = end
    yield written, may_miss


def _content(text: str, start: int, end: int) -> str:
    raw = text[start - 1 : start] == "R"
    found = text[start + 1 : end - 1]
    return found.partition("(")[2].rpartition(")")[0] if raw else found
