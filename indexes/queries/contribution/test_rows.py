"""Tables of test inputs in which operators without an OpInfo have rows: older trees' lists of
methods and of modules, which the library keeps for its tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from indexes.model.vocabulary import Location
from indexes.queries.corpus import Corpus

_FOLDER = "torch/testing/"
_FEWEST_LETTERS = 2


class InputRow(NamedTuple):
    """The first row of a file that names something, and how many lines do."""

    location: Location
    word: str
    lines: int


def test_rows(corpus: Corpus, names: Iterable[str]) -> Iterator[InputRow]:
    """For each file of the library's tests that quotes one of some names its first such row."""
    words = {one for one in names if len(one) >= _FEWEST_LETTERS}
    pattern = re.compile(rf"""(["'])({"|".join(map(re.escape, sorted(words)))})\1""".encode())
    for path in corpus.paths("python") if words else ():
        text = corpus.text(path) if path.startswith(_FOLDER) else b""
        if found := list(pattern.finditer(text)):
            line = text.count(b"\n", 0, found[0].start()) + 1
            yield InputRow(Location(path, line), found[0][2].decode(), len(found))
