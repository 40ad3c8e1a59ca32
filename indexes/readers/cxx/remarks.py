"""Parts of a C++ file that somebody may want to improve: TODOs, checks without a message, errors
that are thrown, asserts about arguments, deprecated macros, duplicated bodies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b

from indexes.model.errors import CXX_BRACKETS
from indexes.model.files import RemarkFact
from indexes.model.lines import LineCount
from indexes.model.regex import MULTILINE, regex
from indexes.readers.cxx.lexer import strip_comments

Lines = tuple[int, int]
"""The first and the last line of a function."""


def read_remarks(text: str, path: str, functions: Iterable[Lines]) -> list[RemarkFact]:
    """The remarks of a file by kind, sorted by line. ``functions`` are those defined in it."""
    written = _GENERATED not in text[:_HEAD]
    found = [*_macro_names(text), *_throws(text), *deprecated_macros(text)] if written else []
    found += _orders(text)
    if _BINDINGS in path:
        found += _words(text)
    if _KERNELS in path:
        found += [*_bare_checks(text), *_asserts(text), *_notes(text), *_bodies(text, functions)]
    return found


_BINDINGS, _KERNELS = "torch/csrc/", "ATen/native/"
"""Where Python's names are bound, and where kernels are."""
_GENERATED = "@generated"
_HEAD = 400
"""Characters at the start of a file that may say it is generated."""
_MACRO = regex(r"[A-Z][A-Z_0-9]{3,}(?=\()")
_LITERAL = regex(r"(\w+)\"")
_ORDER = regex(r"\barray<\s*(?:\w+::)*(\w+)\s*,[^<>;]*>\s+\w+\s*=?\s*\{([^{};]*)\}")


def _macro_names(text: str) -> Iterator[RemarkFact]:
    """The names of function-like macros that are used, also in comments."""
    if found := set(_MACRO.findall(text)):
        yield RemarkFact("macros", " ".join(sorted(found)), 0)


def _orders(text: str) -> Iterator[RemarkFact]:
    """The order in which a list has the values of an enumeration."""
    for found in _ORDER.finditer(text):
        labels = re.findall(rf"\b{found[1]}::(\w+)", found[2])
        if len(labels) > 1:
            line = text.count("\n", 0, found.start()) + 1
            yield RemarkFact("order", found[1], line, ",".join(labels))


def _words(text: str) -> Iterator[RemarkFact]:
    """The last words of string literals, as in tables of methods."""
    if found := set(_LITERAL.findall(text)):
        yield RemarkFact("words", " ".join(sorted(found)), 0)


# ------------------------------------------------------------------------- words in code

_STRINGS = regex(r"\"(?:[^\"\\]|\\.)*\"")
_THROW = regex(r"throw\s+(?:std\s*::\s*)?runtime_error\b")
_ASSERT = regex(
    r"_ASSERT(?:(?<=\bTORCH_INTERNAL_ASSERT)(?:_DEBUG_ONLY)?|(?<=\bAT_ASSERT)M?)\s*\("
    r"\s*((?:[^(),;\"]|\((?:[^()]|\([^()]*\))*\))+)"
)


def uses(text: str, word: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """(line, match) of a pattern in the code of a file, without comments and strings."""
    comments: list[tuple[int, int]] | None = None
    line_of = LineCount(text)
    for found in word.finditer(text):
        at = found.start()
        comments = list(_comments(text)) if comments is None else comments
        if not _is_words(text, at) and not any(start <= at < end for start, end in comments):
            yield line_of(at), found


def _comments(text: str) -> Iterator[tuple[int, int]]:
    start = text.find("/*")
    while start >= 0:
        close = text.find("*/", start + 2)
        end = close + 2 if close >= 0 else len(text)
        yield start, end
        start = text.find("/*", end)


def _is_words(text: str, at: int) -> bool:
    """Whether an offset is inside a comment or string."""
    before = _STRINGS.sub("", text[text.rfind("\n", 0, at) + 1 : at])
    return "//" in before or before.count('"') % 2 == 1


def _throws(text: str) -> Iterator[RemarkFact]:
    for line, _ in uses(text, _THROW) if "runtime_error" in text else ():
        yield RemarkFact("throw", "std::runtime_error", line)


def _asserts(text: str) -> Iterator[RemarkFact]:
    for line, found in uses(text, _ASSERT) if "_ASSERT" in text else ():
        yield RemarkFact("assert", found[1], line)


# ------------------------------------------------------------------ checks without a message

_CHECK = regex(r"TORCH_CHECK(?<!\wTORCH_CHECK)\s*\(")
_TOKEN = regex(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|//[^\n]*|/\*[\s\S]*?\*/|[(),]")


def _bare_checks(text: str) -> Iterator[RemarkFact]:
    line_of = LineCount(text)
    for match in _CHECK.finditer(text):
        ends = argument_ends(text, match.end())
        if len(ends) == 1 and not _is_commented(text, match.start()):
            words = " ".join(strip_comments(text[match.end() : ends[0]]).split())
            yield RemarkFact("bare check", words, line_of(match.start()))


def argument_ends(text: str, start: int) -> list[int]:
    """Where the arguments of a call end, from behind its parenthesis: at commas, the last where it
    is closed. None if it is not, or nests too deep."""
    ends, depth = [], 1
    for token in _TOKEN.finditer(text, start):
        depth += (token[0] == "(") - (token[0] == ")")
        if depth > CXX_BRACKETS:
            break
        if not depth or (token[0] == "," and depth == 1):
            ends.append(token.start())
        if not depth:
            return ends
    return []


def _is_commented(text: str, at: int) -> bool:
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return "//" in before or before.lstrip().startswith(("*", "/*", "#"))


# -------------------------------------------------------------------------- deprecated macros

_SIGN = "deprecated_"
_DEFINE = regex(r"((?:^//[^\n]*\n)*)^#define[ \t]+(\w+)\(((?:[^\n]*\\\n)*[^\n]*)", MULTILINE)
_INSTEAD = regex(r"\b[Uu]se\s+([A-Z]\w+(?:\([^)]*\))?(?:\s+or\s+[A-Z]\w+(?:\([^)]*\))?)*)")


def deprecated_macros(text: str) -> Iterator[RemarkFact]:
    """Macros whose body calls a deprecated function, so that each use warns, as ``#define
    AT_ERROR(...) deprecated_AT_ERROR(); ...``, with the replacement that their comment names."""
    for found in _DEFINE.finditer(text) if _SIGN in text else ():
        if f"{_SIGN}{found[2]}(" in found[3]:
            line = text.count("\n", 0, found.start(2)) + 1
            said = _INSTEAD.search(found[1].replace("\n// ", " "))
            yield RemarkFact("deprecated macro", found[2], line, said[1] if said else "")


# -------------------------------------------------------------------------------------- notes

_WORD = regex(r"(?:TODO|FIXME)\b(?<!\wTODO)(?<!\wFIXME)[^\n]*")
"""The literal comes first, since the regex engine can search for it."""
_LEAD = regex(r"(?:[^\"\n]|\"(?:[^\"\\\n]|\\.)*\")*?(//+)|[^\S\n]*(\*|/\*)")
"""The start of a comment on a line, outside strings."""
_NEXT = regex(r"\n[^\S\n]*//+[^\S\n]*([^\n]*)")
_OTHER = regex(r"TODO|FIXME|NOLINT|clang-format")
_LONGEST = 200


def _notes(text: str) -> Iterator[RemarkFact]:
    line_of, done = LineCount(text), 0
    for match in _WORD.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        lead = _LEAD.match(text, start, match.start())
        if match.start() >= done and lead is not None:
            words = text[lead.end() : match.end()].strip()
            words, done = _whole(text, words, match.end(), lead[1])
            yield RemarkFact("todo", words, line_of(match.start()))


def _whole(text: str, words: str, end: int, lead: str | None) -> tuple[str, int]:
    """The comment up to its end, or to a length that is enough to understand it."""
    while lead and len(words) < _LONGEST:
        following = _NEXT.match(text, end)
        if following is None or not following[1] or _OTHER.match(following[1]):
            break
        words, end = f"{words} {following[1].strip()}", following.end()
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 3]}...", end


# ------------------------------------------------------------------------------------- bodies

FEWEST_LINES = 12
"""The fewest lines of a body that is worth sharing."""


def _bodies(text: str, functions: Iterable[Lines]) -> Iterator[RemarkFact]:
    lines: list[str] = []
    outer = 0
    for first, last in sorted(functions):
        if last - first < FEWEST_LINES or last <= outer:
            continue  # a lambda or a method inside one that is counted already
        outer = last
        lines = lines or text.splitlines()
        code = code_of("\n".join(lines[first - 1 : last]))
        words = " ".join(code[code.find("{") :].split())
        digest = blake2b(words.encode("utf-8", "replace"), digest_size=8).hexdigest()
        yield RemarkFact("body", digest, first)


def code_of(text: str) -> str:
    """A text without comments."""
    if "/*" in text:
        return strip_comments(text)
    return "\n".join(map(_code_of_line, text.split("\n"))) if "//" in text else text


def _code_of_line(line: str) -> str:
    if "//" not in line:
        return line
    return strip_comments(line) if '"' in line else line[: line.find("//")]
