"""Files beside those of a kernel that are made in the same way: one for each operator of a family,
as CompareGEKernel.cu and CompareEQKernel.cu; a fix of one is often a fix of all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|\d+")
_FEWEST_WORDS = 3
"""What is left of shorter names when a word is taken says too little."""


class Sibling(NamedTuple):
    """A file of the same shape."""

    path: str
    of: str
    """That whose name differs in one word between the first and the last."""


def siblings(files: Iterable[str], others: Iterable[str]) -> Iterator[Sibling]:
    """Of other files those in the folder of one of the files, and of the same shape."""
    own = list(dict.fromkeys(files))
    shapes = {shape: path for path in reversed(own) for shape in _shapes(path)}
    for path in others:
        of = next((shapes[shape] for shape in _shapes(path) if shape in shapes), "")
        if of and path not in own:
            yield Sibling(path, of)


def _shapes(path: str) -> list[tuple[str, ...]]:
    """The path with each word of the name left out in turn, but for the first and the last."""
    file = PurePosixPath(path)
    words = _WORDS.findall(file.stem)
    between = range(1, len(words) - 1) if len(words) >= _FEWEST_WORDS else ()
    head = (str(file.parent), file.suffix)
    return [(*head, *words[:at], "", *words[at + 1 :]) for at in between]
