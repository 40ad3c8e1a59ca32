"""The texts that PyTorch's code tells its users, as literals with holes for the values.

Which literals of a statement make one message is for the readers of the languages to say; what
a message is, and how its pieces are kept in one column, is here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from indexes.model.files import RemarkFact
from indexes.model.regex import MULTILINE, regex

SHORTEST = 8
"""Characters of the shortest message: less is a word that stands anywhere."""
HOLE = "\x1f"
"""Stands in a message where a value is written at run time."""
MAYBE = "\x1e"
"""Begins a piece that is not always there: an arm of a conditional, an argument of an argument."""
DISPATCH = "dispatch"
ENVIRONMENT = "environment variable"
CONFIG = "configuration entry"
FLAG = "flag"
VARIABLES = (ENVIRONMENT, CONFIG, FLAG)
"""What people set, kept under its name."""

_FORMAT = regex(
    r"\{\{|\}\}|\{[^{}\s]*(?:\[[^\]]*\])?[^{}]{0,40}\}"
    r"|%(?:\(\w+\))?[-+0#]*\d*(?:\.\d+)?(?:ll|l|z|h)?[sdiufgxprc](?![a-z])"
)
_WORDS = regex(r"[A-Za-z0-9]")
_BLANKS = regex(r"[ \t\r\n\f\v]+")
"""Not what Python calls white space, of which ``HOLE`` and ``MAYBE`` are."""
_BRACE = {"{{": "{", "}}": "}"}
_ESCAPE = regex(r"\\(?:[ntr\n]|([\"'\\])|.)")


class MessageFact(NamedTuple):
    """A message, or another literal that people hold in hand."""

    line: int
    """Of the macro, the ``raise`` or the call that is given the text."""
    end_line: int
    kind: str
    """What is done with it: ``TORCH_CHECK``, ``raise ValueError``, ``warnings.warn``; empty for
    a text of which the statement does not tell. ``DISPATCH`` for the name that a macro
    dispatches dtypes under, one of ``VARIABLES`` for the
    name of what people set."""
    text: str
    """The pieces, with ``HOLE`` between them."""


def literal(text: str) -> str:
    """What a string literal says, with ``HOLE`` for what is formatted into it."""
    if "\\" in text:
        text = _ESCAPE.sub(lambda found: found[1] or " ", text)
    if "{" in text or "%" in text or "}" in text:
        text = _FORMAT.sub(lambda found: _BRACE.get(found[0], HOLE), text)
    return text


def plain(text: str) -> str:
    """A text with single spaces, as messages are compared."""
    return " ".join(text.split())


def joined(parts: Iterable[tuple[str, bool]]) -> str:
    """Literals in their order, each with whether it may be absent, as one column. A blank at the
    end of a piece tells that a value does not adjoin it."""
    found = []
    for written, may_miss in parts:
        for piece in literal(written).split(HOLE):
            absent = may_miss or piece[:1] == MAYBE
            text = _BLANKS.sub(" ", piece.lstrip(MAYBE))
            if len(text.strip()) > 1 and _WORDS.search(text):
                found.append(MAYBE * absent + text)
    return HOLE.join(found).strip(" ")


def pieces(text: str) -> list[tuple[str, bool]]:
    """The inverse of ``joined``: each piece, with whether it may be absent."""
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
    """The words of several parts, and those before a value, that literals are or begin with; those
    that something is assigned to, that ``#if`` asks for and that are kinds of nodes; without names
    that are kept already. Options, modes, rows of a profile, artifacts of logs."""
    found = set(_CASE.findall(text))
    for word, end, kind, given, condition in set(_SAID.findall(text)):
        is_said = _OF_PARTS.match(word) and (end != " " or ":" in word)
        found.update(_PARTS.findall(condition))
        found.add(word if is_said or end[-1:] in _VALUES else kind.replace(", ", "::") or given)
    if found := found - named - {""}:
        yield RemarkFact("said", " ".join(sorted(found)), 0)
