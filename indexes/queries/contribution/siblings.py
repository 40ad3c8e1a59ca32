"""Files shaped like a kernel's file: for each operator of a family (CompareGEKernel.cu and
CompareEQKernel.cu), number of dimensions, or device. They often need the same fix."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from indexes.queries.changes.nearest import stem

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|\d+")
_DIMENSIONS = re.compile(r"\d+d$")
_NUMBER = "#"
_FEWEST_LETTERS = 4
_PLAIN = re.compile(r"/native/(?:(?:cpu|cuda|mps/operations|mps/kernels)/)?[^/]+$")
"""Paths of kernels for ordinary tensors."""


class Sibling(NamedTuple):
    """A file of the same shape."""

    path: str
    of: str
    """The file from which it differs in one inner word, or a number."""


def siblings(files: Iterable[str], others: Iterable[str]) -> Iterator[Sibling]:
    """The other files in the same folder with the same shape."""
    own = list(dict.fromkeys(files))
    shapes = {shape: path for path in reversed(own) for shape in _shapes(path)}
    for path in others:
        of = next((shapes[shape] for shape in _shapes(path) if shape in shapes), "")
        if of and path not in own:
            yield Sibling(path, of)


def twins(files: Iterable[str], others: Iterable[str]) -> Iterator[Sibling]:
    """The files of the same name for other devices, with headers: UnaryOps.cpp, UnaryOps.h,
    cuda/UnaryOpsKernel.cu."""
    own = [path for path in dict.fromkeys(files) if _PLAIN.search(path)]
    named = {stem(path): path for path in reversed(own) if len(stem(path)) >= _FEWEST_LETTERS}
    for path in others:
        if path not in own and _PLAIN.search(path) and stem(path) in named:
            yield Sibling(path, named[stem(path)])


def parts(files: Iterable[str], others: Iterable[str]) -> Iterator[Sibling]:
    """The files whose name extends another's: VulkanCopy.cpp for Vulkan.cpp."""
    own = dict.fromkeys(files)
    heads = {path.rpartition(".")[0]: path for path in own}
    longest = max(map(len, heads), default=0)
    for path in others:
        ends = [at for at, sign in enumerate(path[: longest + 1]) if sign.isupper()]
        of = next((heads[path[:at]] for at in reversed(ends) if path[:at] in heads), "")
        if of and path not in own:
            yield Sibling(path, of)


def _shapes(path: str) -> list[tuple[str, ...]]:
    """The path with each inner word of the name left out in turn, ignoring dimensions."""
    file = PurePosixPath(path)
    plain = _DIMENSIONS.sub("", file.stem)
    words = _WORDS.findall(plain)
    last = len(words) - (plain == file.stem)
    head = (str(file.parent), file.suffix)
    found = [(*head, *words[:at], "", *words[at + 1 :]) for at in range(1, last)]
    return [*found, (*head, *words, _NUMBER)] if len(words) > 1 else found
