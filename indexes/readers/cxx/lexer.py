"""First pass over a C++ file: separates code from comments, strings and directives.

The cleaned text has the original's length, so offsets agree. Comments, string contents and
directives become spaces; conditional directives are listed separately.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from io import StringIO
from itertools import accumulate
from re import Match

from indexes.model.errors import CXX_NESTING
from indexes.model.files import Include
from indexes.model.regex import ASCII, VERBOSE, regex

IF, ELSE, ENDIF = 1, 2, 3
"""What a conditional directive does: ``#elif`` is an ELSE."""
NEVER = "0"
"""The condition of ``#if 0``."""

# It begins with a plain set of characters, through which the engine skips; what stands
# behind the first of them is told apart by looking back at it.
_NOISE = regex(
    r"""[/"'#](?:
      (?<=/)(?:
          /[^\n]*(?:\n(?:(?<=\\\n)|[ ]*//)[^\n]*)*
        | \*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z)
      )
    | (?<=")(?:
          (?<=R")(?P<tag>[^()\\\s"]{0,16})\([\s\S]*?(?:\)(?P=tag)"|\Z)
        | [^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"?
      )
    | (?<=')(?:\\.[^'\n]*|[^'\\\n])'
    | (?<=\#)[^\n\\/]*(?:(?:\\\r?\n|\\.|/\*[\s\S]*?\*/|//[^\n]*|/)[^\n\\/]*)*
    )""",
    VERBOSE,
)
_DIRECTIVE = regex(r"#\s*([a-z]+)\s*", ASCII)
_DEFINE = regex(r"([A-Za-z_]\w*)(\(([^)]*)\))?", ASCII)
_COMMENT = regex(r'//[^\n]*|/\*[\s\S]*?\*/|("(?:[^"\\\n]|\\.)*")')
_STRING = regex(r'"(?:[^"\\\n]|\\.)*"')
_CONTINUATION = regex(r"\\\r?\n")
_SIMPLE = regex(r"\w+(\([^()]*\))?", ASCII)
_GUARDS = {"if": "{}", "ifdef": "defined({})", "ifndef": "!defined({})"}


@dataclass(slots=True)
class Macro:
    """A ``#define``. ``parameters`` is None for an object-like macro."""

    name: str
    parameters: list[str] | None
    body: str
    offset: int
    undefined_at: int = 0
    """Offset of its ``#undef``; 0 if there is none."""
    skipped_lines: int = 0
    """Lines between the ``#define`` and the first of ``body``."""


@dataclass(slots=True)
class Lexed:
    """A cleaned file with its macros and its conditions by offset."""

    text: str
    clean: str
    macros: list[Macro] = field(default_factory=list)
    guard_offsets: list[int] = field(default_factory=list)
    """The offsets of conditional directives, in order."""
    guard_kinds: list[int] = field(default_factory=list)
    guards: list[tuple[str, ...]] = field(default_factory=list)
    """The conditions in force after each of them, outermost first."""
    strings: list[int] = field(default_factory=list)
    """The offsets of string literals of one line."""
    too_deep: int = 0
    """Offset of the first ``#if`` or scope nested too deep to be read; 0 if none."""


def flat(text: str) -> str:
    """``text`` on one line with single spaces."""
    return " ".join(text.split()) if "\n" in text or "  " in text else text.strip()


def blank(found: str) -> str:
    """As many spaces, and the ends of lines."""
    if "\n" not in found:
        return " " * len(found)
    return "\n".join([" " * len(line) for line in found.split("\n")])


def strip_comments(text: str) -> str:
    """``text`` without comments; strings stay."""
    if "/" not in text:
        return text
    return _COMMENT.sub(lambda m: m.group(1) or " " + "\n" * m.group().count("\n"), text)


class _Directives:
    """Follows ``#if`` to ``#endif`` and collects macros while the text is cleaned."""

    def __init__(self, lexed: Lexed) -> None:
        self.lexed = lexed
        self.stack: list[tuple[list[str], tuple[str, ...]]] = []
        """Of each open ``#if``: the conditions tried so far, and all that are in force."""

    def directive(self, text: str, offset: int) -> None:
        """Handles the directive ``text`` at ``offset``."""
        found = _DIRECTIVE.match(text)
        if not found:
            return
        word = found[1]
        if word == "endif" and self.stack:
            self.stack.pop()
            kind = ENDIF
        elif word in _GUARDS:
            self._open(word, text[found.end() :])
            if len(self.stack) > CXX_NESTING:
                self.lexed.too_deep = self.lexed.too_deep or offset
            kind = IF
        elif word in ("elif", "else") and self.stack:
            self._otherwise(word, text[found.end() :])
            kind = ELSE
        else:
            self._other(word, text[found.end() :], offset)
            return
        self.lexed.guard_offsets.append(offset)
        self.lexed.guard_kinds.append(kind)
        self.lexed.guards.append(self._in_force())

    def _in_force(self) -> tuple[str, ...]:
        return self.stack[-1][1] if self.stack else ()

    def _open(self, word: str, rest: str) -> None:
        condition = _GUARDS[word].format(_condition(rest))
        self.stack.append(([condition], self._within(condition)))

    def _within(self, condition: str) -> tuple[str, ...]:
        outer = self._in_force()
        return outer if len(outer) >= CXX_NESTING else (*outer, condition)

    def _otherwise(self, word: str, rest: str) -> None:
        tried, _ = self.stack.pop()
        conditions = [_negate(c) for c in tried[:CXX_NESTING]]
        if word == "elif":
            tried.append(_condition(rest))
            conditions.append(f"({tried[-1]})" if "||" in tried[-1] else tried[-1])
        else:  # a second one is none of C++
            tried = []
        condition = " && ".join(conditions) or NEVER
        self.stack.append((tried, self._within(condition)))

    def _other(self, word: str, rest: str, offset: int) -> None:
        if word == "define":
            self._define(rest, offset)
        elif word == "undef":
            name = rest.split(maxsplit=1)[0] if rest.split() else ""
            for macro in self.lexed.macros:
                if macro.name == name and not macro.undefined_at:
                    macro.undefined_at = offset

    def _define(self, rest: str, offset: int) -> None:
        found = _DEFINE.match(rest)
        if not found or NEVER in self._in_force():
            return
        listed = found.group(3)
        parameters = None if listed is None else _names(listed)
        text = _CONTINUATION.sub(" \n", strip_comments(rest[found.end() :])).rstrip()
        body = text.lstrip()
        skipped = rest.count("\n", 0, found.end()) + text.count("\n", 0, len(text) - len(body))
        self.lexed.macros.append(
            Macro(found.group(1), parameters, body, offset, skipped_lines=skipped)
        )


def _names(listed: str) -> list[str]:
    return [p for p in (_CONTINUATION.sub(" ", x).strip() for x in listed.split(",")) if p]


def _condition(rest: str) -> str:
    if "\\" in rest or "/" in rest:
        rest = _CONTINUATION.sub(" ", strip_comments(rest))
    return " ".join(rest.split())


def _negate(condition: str) -> str:
    if condition.startswith("!") and "&&" not in condition and "||" not in condition:
        return condition[1:]
    simple = _SIMPLE.fullmatch(condition)
    return f"!{condition}" if simple else f"!({condition})"


def exclude_each_other(guard: str, other: str) -> bool:
    """Whether no build satisfies both guards."""
    return _denies(guard, other) or _denies(other, guard)


def _denies(guard: str, other: str) -> bool:
    asked = _conjuncts(guard)
    denied = (one[1:] for one in _conjuncts(other) if one.startswith("!"))
    return any(_conjuncts(one[1:-1] if one.startswith("(") else one) <= asked for one in denied)


def _conjuncts(guard: str) -> set[str]:
    parts: list[str] = []
    for part in guard.split(" && "):
        if parts and parts[-1].count("(") > parts[-1].count(")"):
            parts[-1] += f" && {part}"
        else:
            parts.append(part)
    return set(parts)


def lex(text: str) -> Lexed:
    """Cleans ``text``; offsets in ``clean`` are offsets in ``text``."""
    lexed = Lexed(text, "")
    directive, string = _Directives(lexed).directive, lexed.strings.append

    def replace(match: Match[str]) -> str:
        found = match[0]
        first = found[0]
        # What a backslash joins to the line before is no directive.
        if first == "#" and text.endswith("\\\n", 0, text.rfind("\n", 0, match.start()) + 1):
            return " " + _STRING.sub(lambda one: f'"{blank(one[0][1:-1])}"', found[1:])
        if first == "#" and not found.startswith("#include"):
            directive(found, match.start())
        if first == '"' and len(found) > 1 and not _is_page(match):
            string(match.start())
            return f'"{blank(found[1:-1])}"'
        if "\n" in found:
            return blank(found)
        return " " * len(found)

    lexed.clean = _NOISE.sub(replace, text)
    return lexed


def _is_page(string: Match[str]) -> bool:
    """Whether a string of several lines is raw or unterminated."""
    found = string[0]
    return "\n" in found and (string["tag"] is not None or found[-1] != '"')


class Lines:
    """The lines of offsets in a text, counted from 1."""

    def __init__(self, text: str) -> None:
        self._ends = list(accumulate(map(len, StringIO(f"{text}\n", newline="\n"))))

    def at(self, offset: int) -> int:
        """The line of ``offset``."""
        return bisect_right(self._ends, offset) + 1


_INCLUDE = regex(rb"#[ \t]*(?:include|import)[ \t]*([<\"])([\w./+-]+)[>\"]")


def read_includes(data: bytes) -> tuple[Include, ...]:
    """The includes of a file in order, without repetition."""
    lines = (one for one in _INCLUDE.finditer(data) if _begins_line(data, one.start()))
    found = dict.fromkeys(one.groups() for one in lines)
    return tuple(Include(name.decode(), mark == b'"') for mark, name in found)


def _begins_line(data: bytes, at: int) -> bool:
    return not data[data.rfind(b"\n", 0, at) + 1 : at].strip(b" \t")
