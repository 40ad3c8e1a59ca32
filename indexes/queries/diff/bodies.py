"""Texts of functions without comments and layout, and their dtype dispatches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from indexes.linking.dtypes import Dtypes
from indexes.model.idioms import meaning_of
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, DtypeDispatch
from indexes.source.source import Source

_TOKEN = regex(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\w+|\S""", re.DOTALL)
_DTYPE = regex(r"(?:(?:at|c10|torch)::)*(?:ScalarType::\w+|k[A-Z]\w*)|AT_EXPAND\(.*\)")
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


class Dispatches(NamedTuple):
    """The dtype dispatches in a body."""

    uses: tuple[DtypeDispatch, ...] = ()
    """In source order."""
    unexpanded: tuple[str, ...] = ()
    """The macros whose dtypes are not all known."""


class Bodies:
    """The bodies of one version's definitions, each file read once."""

    def __init__(self, source: Source, dtypes: Dtypes) -> None:
        self._source = source
        self._dtypes = dtypes
        self._lines = cache(lambda path: source.text(path).split("\n"))
        self.tokens = lru_cache(2)(self._tokens)

    def _tokens(self, definition: Definition) -> tuple[str, ...]:
        """The tokens of a definition without comments; none if unreadable."""
        where = definition.location
        lines = self._lines(where.path)[max(where.line - 1, 0) : max(where.end_line, where.line)]
        found = _TOKEN.findall("\n".join(lines))
        return tuple(t for t in found if not t.startswith(("//", "/*")))

    def dispatches(self, definition: Definition) -> Dispatches:
        """Its dtype dispatches, expanded by the version's macros."""
        tokens = self.tokens(definition)
        named = set(filter(self._dtypes.dispatches, set(tokens)))
        if not tokens or not (named or definition.macro_location):
            return Dispatches()
        uses = self._dtypes.of(definition)
        lacking = {use.macro for use in uses if use.unread or not use.dtypes}
        expanded = {use.macro for use in uses} - lacking
        missed = {name for name in named if meaning_of(name) == "dtypes" and name not in expanded}
        return Dispatches(uses, tuple(sorted(lacking | missed)))

    def macros(self, definition: Definition) -> dict[str, list[str]]:
        """The files with macros that a definition may use, with their lines."""
        return {p: self._lines(p) for p in self._dtypes.files(self.tokens(definition))}


def unnamed(tokens: tuple[str, ...], name: str) -> tuple[str, ...]:
    """The tokens with the function's own name replaced, for comparing namesakes."""
    return tuple("" if token == name else token for token in tokens)


def dispatched(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """The AT_DISPATCH macros in a body, each with its named dtypes."""
    found = []
    for at, token in enumerate(tokens[:-1]):
        if meaning_of(token) in ("dtypes", "cases") and tokens[at + 1] == "(":
            named = [_short(a) for a in _arguments(tokens, at + 2) if _DTYPE.fullmatch(a)]
            found.append(f"{token}({', '.join(named)})")
    return tuple(dict.fromkeys(found))


def _short(dtype: str) -> str:
    """``Half`` for ``kHalf`` and ``at::ScalarType::Half``."""
    name = dtype.rpartition("::")[2]
    return name[1:] if re.match("k[A-Z]", name) else name


def _arguments(tokens: tuple[str, ...], at: int) -> Iterator[str]:
    """The arguments of a call without spaces, from behind its parenthesis."""
    depth, argument = 0, ""
    for token in tokens[at:]:
        if not depth and token in (",", ")"):
            yield argument
            argument = ""
            if token == ")":
                return
            continue
        depth += (token in _OPEN) - (token in _CLOSE)
        argument += token
