"""Pages of the documentation that speak of something without listing it: notes, lists of what a
compiler supports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from indexes.model.vocabulary import Location
from indexes.source.source import Source

_FOLDERS = ("docs/source", "docs/source/notes")
_ENDS = (".rst", ".md")
_MOST = 6


def pages_naming(source: Source, names: Iterable[str]) -> Iterator[tuple[Location, str]]:
    """The first line of each page that marks one of some names as code, and the name; none where
    so many pages do that it belongs to none."""
    either = "|".join(re.escape(name) for name in sorted({*names}))
    marked = re.compile(rf"`[~!]?({either})(?:\(\))?`")
    found = []
    for folder in _FOLDERS if either else ():
        for name in source.listed(folder):
            text = source.text(f"{folder}/{name}") if name.endswith(_ENDS) else ""
            if match := marked.search(text):
                line = text.count("\n", 0, match.start()) + 1
                found.append((Location(f"{folder}/{name}", line), match[1]))
    yield from found if len(found) <= _MOST else ()
