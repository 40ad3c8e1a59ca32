"""Reads titled comments, ``Note [Title]``, and where others say ``See Note [Title]``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexes.model.files import RemarkFact
from indexes.model.lines import LineCount
from indexes.model.regex import regex

_TITLE = regex(
    r"\[(?:(?<=ote \[)|(?<=OTE \[)|(?<=ote: \[)|(?<=OTE: \[)|(?<=ote\[)|(?<=OTE\[)"
    r"|(?<=ote\] \[)|(?<=OTE\] \[)|(?<=\): \[)|(?=(?:[Nn]ote|NOTE): ))(?:(?:[Nn]ote|NOTE): )?"
    r"([^\[\]\n]{2,120}(?:\n[^\[\]\n]{1,120})?)\]"
)
"""The bracket comes first, since the regex engine can search for it."""
_WORD = regex(r"\[?\b(?:NOTE|Note|note)(?:\(\w+\)|\])?:? ?\Z|\[(?:NOTE|Note|note): \Z")
"""Also ``[Note] [Title]``, ``note(author): [Title]`` and ``[Note: Title]``."""
_LONGEST_WORD = 30
_LEAD = regex(r"[\s/*#!;\"'-]*(?:NB:?\s+)?")
_LONGEST_LEAD = 100
"""Characters before a title that begins its comment."""
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
    titles = list(_titles(text)) if "ote" in text or "OTE" in text else []
    lines = text.split("\n") if titles else []
    heads = {line for line, _, is_first in titles if is_first and not _goes_on(lines, line)}
    last: dict[int, int] = {}
    for line, found, _ in reversed(titles):  # a title directly above another shares its comment
        if line in heads:
            last[line] = _last_line(lines, line, found, last)
    return [_fact(line, found, last if is_first else {}) for line, found, is_first in titles]


def _titles(text: str) -> Iterator[tuple[int, re.Match[str], bool]]:
    """(line, title, whether it begins its line) of each title behind the word."""
    line_of = LineCount(text)
    for found in _TITLE.finditer(text):
        at = found.start()
        end = found.start(1) if found.start(1) > at + 1 else at
        if word := _WORD.search(text, max(0, end - _LONGEST_WORD), end):
            start = text.rfind("\n", max(0, word.start() - _LONGEST_LEAD), at) + 1
            is_near = start > 0 or at <= _LONGEST_LEAD
            is_first = is_near and _LEAD.fullmatch(text, start, word.start()) is not None
            yield line_of(at), found, is_first


def _fact(line: int, found: re.Match[str], last: dict[int, int]) -> RemarkFact:
    if line not in last:
        return RemarkFact("mention", titled(found[1]), line)
    return RemarkFact("note", titled(found[1]), line, str(last[line] or ""))


def titled(written: str) -> str:
    """A title in one line."""
    return " ".join(_WRAPPED.sub(" ", written).split())


def _goes_on(lines: list[str], line: int) -> bool:
    """Whether the line above leads on to this one: ``for details see``."""
    return line > 1 and _LEADS_ON.search(lines[line - 2]) is not None


def _last_line(lines: list[str], line: int, title: re.Match[str], below: dict[int, int]) -> int:
    """The last line with words of the comment below a title, or 0 if there is none. ``below``: the
    same of the titles below."""
    sign = _sign(lines[line - 1])
    first = line + title[1].count("\n")
    rest = lines[first - 1].rpartition("]")[2]
    last = first if _LETTERS.search(rest) else 0
    for number in range(first + 1, min(len(lines), line + _MOST_LINES) + 1):
        text = lines[number - 1]
        if _END.search(rest) or (sign and _sign(text) != sign):
            break
        if number in below:
            return last or below[number]
        last = number if _LETTERS.search(text) else last
        rest = text
    return last


def _sign(line: str) -> str:
    """What begins a line of a comment; empty within a docstring."""
    found = _SIGN.match(line)
    return found[1] if found else ""
