"""Tables of test inputs for operators without OpInfo (older lists of methods and modules), and the
tests made from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from indexes.model.vocabulary import Location
from indexes.queries.contribution.steps import Step
from indexes.queries.corpus import Corpus

_FOLDER = "torch/testing/"
_CXX_TESTS = "/ATen/test/"
_MOST_CXX = 3
_FEWEST_LETTERS = 2
_MOST_MAKERS = 8
_CLASS_ROW = r"(?:Info\(\s*|constructor=lambda[^:\n]*:\s*|[\"'])(?:\w+\.)*{}\b"
_MOST_TABLES = 2
"""Tables with a class."""


class InputRow(NamedTuple):
    """The first row of a file with a name, and the number of such lines."""

    location: Location
    word: str
    lines: int

    @property
    def step(self) -> Step:
        count = "one line" if self.lines == 1 else f"{self.lines} lines"
        rule = f"names {self.word} on {count}: inputs of its tests"
        return Step("test_rows", PurePosixPath(self.location.path).name, self.location, rule)


def test_rows(corpus: Corpus, name: str, public: Iterable[str]) -> Iterator[InputRow]:
    """The first row of each test library file that quotes an operator or its module."""
    names = [name.rstrip("_"), *(_capital(one.rpartition(".")[2]) for one in public)]
    words = {one for one in names if len(one) >= _FEWEST_LETTERS}
    either = "|".join(map(re.escape, sorted(words)))
    pattern = re.compile(rf"""(["'])({either})\1""".encode(), re.IGNORECASE)  # MSELoss of mse_loss
    for path in corpus.paths("python") if words else ():
        text = corpus.text(path) if path.startswith(_FOLDER) else b""
        if found := list(pattern.finditer(text)):
            line = text.count(b"\n", 0, found[0].start()) + 1
            yield InputRow(Location(path, line), found[0][2].decode(), len(found))


def class_rows(corpus: Corpus, name: str) -> list[InputRow]:
    """The test library files with most rows of a class: a ModuleInfo, or its name or constructor
    in an older table."""
    row = re.compile(_CLASS_ROW.format(re.escape(name)).encode())
    found: list[InputRow] = []
    for path in corpus.files_with(name, "python", lambda one: one.startswith(_FOLDER)):
        text = corpus.text(path)
        if lines := list(row.finditer(text)):
            where = Location(path, text.count(b"\n", 0, lines[0].start()) + 1)
            found.append(InputRow(where, name, len(lines)))
    return sorted(found, key=lambda one: -one.lines)[:_MOST_TABLES]


def makers_of(corpus: Corpus, path: str) -> Iterator[Location]:
    """The test files that import a file's tables, unless too many do."""
    module = path.removesuffix(".py").replace("/", ".")
    pattern = re.compile(rf"^(?:from|import) {re.escape(module)}\b".encode(), re.MULTILINE)
    found: list[Location] = []
    for one in corpus.paths("test"):
        text = corpus.text(one)
        if match := pattern.search(text) if module.encode() in text else None:
            found.append(Location(one, text.count(b"\n", 0, match.start()) + 1))
    return iter(found if len(found) <= _MOST_MAKERS else ())


def cxx_tests(corpus: Corpus, name: str, kernels: Iterable[str]) -> Iterator[InputRow]:
    """The C++ tests that call a function most, with the first call; those named after a folder of
    its kernels first: vulkan_test.cpp."""
    folders = {folder for path in kernels for folder in PurePosixPath(path).parts[:-1]}
    pattern = re.compile(rf"\b{re.escape(name)}\(".encode())
    found: list[InputRow] = []
    for path in (one for one in corpus.paths("cpp") if _CXX_TESTS in one):
        calls = list(pattern.finditer(corpus.text(path)))
        if calls:
            line = corpus.text(path).count(b"\n", 0, calls[0].start()) + 1
            found.append(InputRow(Location(path, line), name, len(calls)))
    found.sort(key=lambda row: (_first_word(row.location.path) not in folders, -row.lines))
    return iter(found[:_MOST_CXX])


def _first_word(path: str) -> str:
    return PurePosixPath(path).name.partition("_")[0]


def _capital(name: str) -> str:
    """``MaxPool2d`` for ``max_pool2d``."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))
