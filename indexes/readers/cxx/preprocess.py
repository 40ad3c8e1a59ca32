"""The C preprocessor for a piece of text.

Arguments are expanded before they are inserted, ``##`` pastes, the result is read again with the
text that follows, and no macro is expanded inside itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from indexes.model.errors import CXX_EXPANSIONS, CXX_NESTING
from indexes.model.files import MacroFact
from indexes.model.regex import regex
from indexes.model.vocabulary import Problem

_TOKENS = regex(r'[A-Za-z_]\w*|\.?\d[\w.]*|"(?:[^"\\\n]|\\.)*"|##|\s+|[^\w\s]')
_NONE: frozenset[str] = frozenset()
_ENOUGH = 60_000
"""Tokens after which an expansion is given up."""

Token = tuple[str, frozenset[str]]
"""A token with the macros by which it must not be expanded again."""


class Allowance:
    """The limit on the expansions of one use, each of which may double the text."""

    def __init__(self) -> None:
        self._left = CXX_EXPANSIONS
        self.refused = 0

    def takes(self, depth: int, is_fit: bool = True) -> bool:
        """Whether one more is allowed at a depth; counts those refused."""
        may = is_fit and self._left > 0 and depth < CXX_NESTING
        self._left -= may
        self.refused += not may
        return may

    def problem(self, path: str, line: int) -> Problem:
        """The problem that reports the refused ones."""
        left = f"{self.refused:,} of the macros that it makes are left out"
        return Problem(path, line, f"{left}: more than {CXX_EXPANSIONS:,}, or nested too deep")


def bind(parameters: list[str], arguments: Sequence[str]) -> dict[str, str] | None:
    """Arguments by parameter name; None if their number is wrong."""
    if parameters and parameters[-1].endswith("..."):
        named = parameters[:-1]
        rest = ", ".join(arguments[len(named) :])
        if len(arguments) < len(named):
            return None
        variadic = parameters[-1][:-3].strip() or "__VA_ARGS__"
        return {**dict(zip(named, arguments, strict=False)), variadic: rest}
    if len(parameters) == 1 and not arguments:
        return {parameters[0]: ""}
    if len(parameters) != len(arguments):
        return None
    return dict(zip(parameters, arguments, strict=True))


_PIECES = regex(
    r'"(?:[^"\\]|\\.)*"|\s*##\s*|#\s*(?=[A-Za-z_])|[A-Za-z_]\w*|\s+|.', re.DOTALL | re.ASCII
)
_pieces = lru_cache(2048)(_PIECES.findall)


def substitute(body: str, raw: Mapping[str, str], expanded: Mapping[str, str]) -> str:
    """A macro's body with its parameters replaced: next to ``#`` and ``##`` by the arguments as
    written, elsewhere by their expansion."""
    out: list[str] = []
    pieces = ["", *_pieces(body), ""]
    for before, piece, after in zip(pieces, pieces[1:], pieces[2:], strict=False):
        mark = piece.strip()
        if mark == "##" or (mark == "#" and after in raw):
            continue
        if piece not in raw:
            out.append(piece)
        elif before.strip() == "#":
            out.append('"' + raw[piece].replace('"', '\\"') + '"')
        else:
            out.append((raw if "##" in (before.strip(), after.strip()) else expanded)[piece])
    return "".join(out)


class Preprocessor:
    """Expands text with the macros that ``lookup`` returns."""

    def __init__(self, lookup: Callable[[str], MacroFact | None]) -> None:
        self._lookup = lookup
        self._left = 0
        self._bodies: dict[str, list[Token]] = {}

    def expand(self, text: str) -> str:
        """``text`` with every macro expanded; empty if that exceeds the limit."""
        self._left = _ENOUGH
        made = self._expand([(token, _NONE) for token in _tokens(text)])
        return made if self._left > 0 else ""

    def _expand(self, tokens: Sequence[Token]) -> str:
        waiting = list(reversed(tokens))
        out: list[str] = []
        while waiting and self._left > 0:
            self._left -= 1
            text, hidden = waiting.pop()
            macro = None if text in hidden else self._macro(text)
            takes = macro is not None and macro.parameters is not None
            given = _arguments(waiting) if takes else []
            if macro is None or given is None:
                out.append(text)
            else:
                made = _tokens(self._replaced(macro, given))
                hidden |= {text}
                waiting += [(token, hidden) for token in reversed(made)]
        return "".join(out)

    def _macro(self, text: str) -> MacroFact | None:
        return self._lookup(text) if text[0].isalpha() or text[0] == "_" else None

    def _replaced(self, macro: MacroFact, given: list[list[Token]]) -> str:
        if macro.parameters is None:
            return substitute(macro.body, {}, {})
        texts = ["".join(text for text, _ in one).strip() for one in given]
        raw = bind(macro.parameters, [] if texts == [""] and not macro.parameters else texts)
        ready = {text: self._expand(one).strip() for text, one in zip(texts, given, strict=True)}
        if raw is None:
            return ""
        expanded = {
            # What ``...`` takes is several arguments at once.
            name: ready[text]
            if text in ready
            else self._expand([(t, _NONE) for t in _tokens(text)])
            for name, text in raw.items()
        }
        return substitute(macro.body, raw, expanded)


@lru_cache(maxsize=2048)
def _tokens(text: str) -> list[str]:
    return _TOKENS.findall(text)


def _arguments(waiting: list[Token]) -> list[list[Token]] | None:
    """Takes ``(a, b)`` off the end of ``waiting``; None, taking nothing, if it is not there."""
    at = len(waiting) - 1
    while at >= 0 and waiting[at][0].isspace():
        at -= 1
    if at < 0 or waiting[at][0] != "(":
        return None
    found: list[list[Token]] = [[]]
    depth = 1
    for position in range(at - 1, -1, -1):
        text = waiting[position][0]
        depth += (text == "(") - (text == ")")
        if not depth:
            del waiting[position:]
            return found
        if text == "," and depth == 1:
            found.append([])
        else:
            found[-1].append(waiting[position])
    return None
