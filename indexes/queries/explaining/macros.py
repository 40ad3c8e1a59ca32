"""Explains a macro: the comment above its definition or naming it, and its expansion."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Protocol

from indexes.model.errors import NotFound
from indexes.model.regex import MULTILINE, regex
from indexes.model.vocabulary import Definition, Location
from indexes.queries.explaining.fields import Explanation, Passage
from indexes.source.source import Source

_NAME = regex(r"\b[A-Z][A-Z0-9_]{3,}\b")
_COMMENT = regex(r"(?:^[ \t]*//[^\n]*\n)+|^[ \t]*/\*(?:[^*]|\*(?!/))*\*/[ \t]*\n", MULTILINE)
_MOST = 3
"""Most definitions, each for another build."""
_LINES = 12
"""Most lines of the expansion."""


class Defined(Protocol):
    """What is asked of an index."""

    def definitions(self, symbol: str, /) -> Sequence[Definition]:
        """The definitions of a name."""


def explain(index: Defined, source: Source, name: str) -> Explanation:
    """The tree's explanation of a macro.

    Raises:
        NotFound: No such macro is defined.
    """
    places = [one.location for one in index.definitions(name) if one.kind == "macro"]
    passages = [one for place in places[:_MOST] for one in _passages(source, name, place)]
    if not passages:
        raise NotFound(f"no macro {name} is defined in this tree")
    return Explanation(name, tuple(dict.fromkeys(passages)), ())


def on_line(index: Defined, source: Source, path: str, line: int) -> Explanation:
    """The same for the first macro on a line of C++. Raises NotFound if there is none."""
    text = next(islice(source.text(path).split("\n"), line - 1, line), "")
    for name in _NAME.findall(text):
        try:
            return explain(index, source, name)
        except NotFound:
            continue
    raise NotFound("this line has no field of the YAML files, no macro and no note of this tree")


def _passages(source: Source, name: str, place: Location) -> Iterator[Passage]:
    text = source.text(place.path)
    if comment := _comment(text, name, place):
        yield comment
    end = min(max(place.end_line, place.line), place.line + _LINES - 1)
    lines = text.split("\n")[place.line - 1 : end]
    yield Passage(Location(place.path, place.line, end), "\n".join(lines))


def _comment(text: str, name: str, place: Location) -> Passage | None:
    """The comment directly above a definition, else the nearest one before that names the macro,
    else the first that does."""
    naming: list[Passage] = []
    for found in _COMMENT.finditer(text):
        first = text.count("\n", 0, found.start()) + 1
        last = first + found[0].count("\n") - 1
        comment = Passage(Location(place.path, first, last), found[0].rstrip())
        if last == place.line - 1:
            return comment
        if re.search(rf"\b{name}\b", found[0]):
            naming.append(comment)
    before = [one for one in naming if one.location.line < place.line]
    return next(iter([*before[-1:], *naming]), None)
