"""Reads titled comments, ``Note [Title]``, and where others say ``See Note [Title]``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexes.model.files import RemarkFact
from indexes.model.lines import LineCount
from indexes.model.regex import regex

_TITLE = regex(
    r"\[(?:(?<=ote \[)|(?<=OTE \[)|(?<=ote: \[)|(?<=OTE: \[)|(?<=ote\[)|(?<=OTE\[))"
    r"[ \t]*([^\[\]\n]{2,120}(?:\n[ \t]*(?://+|#|\*)?[^\[\]\n]{1,100})?)\]"
)
"""The bracket comes first, since the regex engine can search for it."""
_WORD = regex(r"\b(?:NOTE|Note|note):? ?\Z")
_LEAD = regex(r"[\s/*#!;\"'-]*(?:NB:?\s+)?")
_LEADS_ON = regex(r"\b(?:[Ss]ee|[Aa]lso|in|the|per|to|and|of|with|from|cf\.?)[:,]?\s*\Z")
"""The end of a line whose sentence goes on with the title below it."""
_WRAPPED = regex(r"\n[ \t]*(?://+|#|\*)?")
_SIGN = regex(r"[ \t]*(//|#|\*(?!/)|)")
_END = regex(r"\*/|\"\"\"|'''")
_LETTERS = regex(r"[A-Za-z0-9]")
_MOST_LINES = 200


def read_notes(text: str) -> list[RemarkFact]:
    """The notes of a file and its mentions of notes, in order. A title that begins its comment
    heads a note, whose last line is its detail; one without words below it heads what follows the
    comment, or refers to a note elsewhere."""
    if "ote" not in text and "OTE" not in text:
        return []
    return list(_notes(text))


def _notes(text: str) -> Iterator[RemarkFact]:
    lines: list[str] = []
    line_of = LineCount(text)
    for found in _TITLE.finditer(text):
        start = text.rfind("\n", 0, found.start()) + 1
        if _WORD.search(text, start, found.start()) is None:
            continue
        lines = lines or text.split("\n")
        line, title = line_of(found.start()), titled(found[1])
        if _is_head(text, found) and not (line > 1 and _LEADS_ON.search(lines[line - 2])):
            last = _last_line(lines, line, found)
            yield RemarkFact("note", title, line, str(last) if last else "")
        else:
            yield RemarkFact("mention", title, line)


def titled(written: str) -> str:
    """A title in one line."""
    return " ".join(_WRAPPED.sub(" ", written).split())


def _is_head(text: str, title: re.Match[str]) -> bool:
    """Whether a title begins its line."""
    start = text.rfind("\n", 0, title.start()) + 1
    word = _WORD.search(text, start, title.start())
    return word is not None and _LEAD.fullmatch(text, start, word.start()) is not None


def _last_line(lines: list[str], line: int, title: re.Match[str]) -> int:
    """The last line with words of the comment below a title, or 0 if there is none."""
    sign = _sign(lines[line - 1])
    first = line + title[1].count("\n")
    rest = lines[first - 1].rpartition("]")[2]
    last = first if _LETTERS.search(rest) else 0
    for number in range(first + 1, min(len(lines), line + _MOST_LINES) + 1):
        text = lines[number - 1]
        another = _TITLE.search(text)
        is_head = another is not None and _is_head(text, another)
        if _END.search(rest) or (sign and _sign(text) != sign) or (is_head and last):
            break
        if _LETTERS.search(text) and not is_head:
            last = number
        rest = text
    return last


def _sign(line: str) -> str:
    """What begins a line of a comment; empty within a docstring."""
    found = _SIGN.match(line)
    return found[1] if found else ""
