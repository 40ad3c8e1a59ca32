"""Messages to users, as literals with holes for values.

The readers of each language decide which literals make one message; this module defines what a
message is and how its pieces are stored in one column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from indexes.model.files import RemarkFact
from indexes.model.regex import MULTILINE, regex

SHORTEST = 8
"""Fewest characters of a message; a shorter one is a common word."""
HOLE = "\x1f"
"""Stands for a value that is inserted at run time."""
MAYBE = "\x1e"
"""Begins a piece that may be absent: in a conditional, or in an argument of an argument."""
DISPATCH = "dispatch"
ENVIRONMENT = "environment variable"
CONFIG = "configuration entry"
FLAG = "flag"
VARIABLES = (ENVIRONMENT, CONFIG, FLAG)
"""Kinds of names that users set."""

_FORMAT = regex(
    r"\{\{|\}\}|\{[^{}\s]*(?:\[[^\]]*\])?[^{}]{0,40}\}"
    r"|%(?:\(\w+\))?[-+0#]*\d*(?:\.\d+)?(?:ll|l|z|h)?[sdiufgxprc](?![a-z])"
)
_WORDS = regex(r"[A-Za-z0-9]")
_BLANKS = regex(r"[ \t\r\n\f\v]+")
"""Spaces in ASCII; ``HOLE`` and ``MAYBE`` are white space to Python's ``split``."""
_BRACE = {"{{": "{", "}}": "}"}
_ESCAPE = regex(r"\\(?:(?:033|x1[bB])\[[\d;]*m()|([\"'\\])|[0-7]{1,3}|[ntr\n]|.)")
"""Also of a terminal's colours, which are no part of what is pasted from it."""


class MessageFact(NamedTuple):
    """A message, or another literal that users may look for."""

    line: int
    """Of the macro, ``raise`` or call that gets the text."""
    end_line: int
    kind: str
    """What gets it: ``TORCH_CHECK``, ``raise ValueError``, ``warnings.warn``; empty if unclear.
    ``DISPATCH`` for the name of a dtype dispatch, one of ``VARIABLES`` for a variable."""
    text: str
    """The pieces with ``HOLE`` between them."""


def literal(text: str) -> str:
    """The text of a string literal, with ``HOLE`` for formatted values."""
    if "\\" in text:
        text = _ESCAPE.sub(lambda found: found[found.lastindex] if found.lastindex else " ", text)
    if "{" in text or "%" in text or "}" in text:
        text = _FORMAT.sub(lambda found: _BRACE.get(found[0], HOLE), text)
    return text


def plain(text: str) -> str:
    """A text with single spaces, as messages are compared."""
    return " ".join(text.split())


def joined(parts: Iterable[tuple[str, bool]]) -> str:
    """Literals and whether each may be absent, as one column; a blank at the end separates a
    value."""
    found = []
    for written, may_miss in parts:
        for piece in literal(written).split(HOLE):
            absent = may_miss or piece[:1] == MAYBE
            text = _BLANKS.sub(" ", piece.lstrip(MAYBE))
            if len(text.strip()) > 1 and _WORDS.search(text):
                found.append(MAYBE * absent + text)
    return HOLE.join(found).strip(" ")


def pieces(text: str) -> list[tuple[str, bool]]:
    """The inverse of ``joined``."""
    return [(one.lstrip(MAYBE), one[:1] == MAYBE) for one in text.split(HOLE)]


_SAID = regex(
    r"[\"'][^\w\s\"']{0,2}(\w[\w.:-]*)([^\w\s]{0,2}[\"'({%#* ])"
    r"|^[ \t]*(?:_\((\w+, \w+)\)|(\w*[^\W_]_\w+)[ \t]*=(?!=)"
    r"|\#[ \t]*(?:if|ifdef|ifndef|elif|define)\b(.*))",
    MULTILINE,
)
_PARTS = regex(r"\w*[^\W_]_\w+")
_CASE = regex(r"case (\w+::\w+):")
_VALUES = ("{", "%", "#")
_OF_PARTS = regex(r"\w*[^\W_][_.:-]+\w|\w*[a-z0-9][A-Z]")


def read_words(text: str, named: frozenset[str] = frozenset()) -> Iterator[RemarkFact]:
    """Words of several parts in literals, assignments, ``#if`` and kinds of nodes, without names
    stored already: options, modes, rows of a profile, artifacts of logs."""
    found = set(_CASE.findall(text))
    for word, end, kind, given, condition in set(_SAID.findall(text)):
        is_said = _OF_PARTS.match(word) and (end != " " or ":" in word)
        found.update(_PARTS.findall(condition))
        found.add(word if is_said or end[-1:] in _VALUES else kind.replace(", ", "::") or given)
    if found := found - named - {""}:
        yield RemarkFact("said", " ".join(sorted(found)), 0)
