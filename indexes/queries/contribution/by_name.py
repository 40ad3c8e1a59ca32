"""Places that know a Python module's functions by name only: tables that list them, as for
TorchScript or quantization, and expected outputs of tests."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePosixPath

from indexes.model.lines import listed
from indexes.model.regex import MULTILINE, regex
from indexes.model.vocabulary import Location
from indexes.queries.contribution.steps import Step
from indexes.queries.corpus import Corpus
from indexes.queries.impact.mentions import GENERATORS
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.python_names.members import find_in_classes
from indexes.source.source import Source

_FUNCTION = regex(rb"^def (\w+)", MULTILINE)
_MADE = regex(rb"^(\w+) = \w+\(", MULTILINE)
"""A function made by a helper: ``eq = _make_comparison(...)``."""
_PRIVATE = regex(rb"^from (torch)?\.(_[a-z]\w*) import ", MULTILINE)
_MOST_USERS = 6
_MOST_NAMESAKES = 4
_QUOTED = regex(rb"[\"'](\w+)[\"']")
_FEWEST = 2
"""Functions of a module that make a list a table of it."""
_SCRIPTS = "torch/csrc/jit/runtime"
_EXPECTED = ("test/expect", "test/onnx/expect")
_DIMENSIONS = regex(r"\d+d$")
_FEWEST_LETTERS = 3


_BACKWARD = "_backward"
_MOST_TABLES = 4


def tables_of(corpus: Corpus, path: str, name: str = "") -> list[Step]:
    """The tables that list a module's functions, each at its first row: those with the name first,
    then those with most functions."""
    found = sorted(_tables(corpus, path, name), key=lambda pair: pair[0], reverse=True)
    return [step for _, step in found[:_MOST_TABLES]]


def _tables(corpus: Corpus, path: str, name: str) -> Iterator[tuple[tuple[bool, int], Step]]:
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    package = _exporting(corpus, path)
    text = corpus.text(path)
    own = {*_FUNCTION.findall(text), *_MADE.findall(text)}
    last = f"(?:{re.escape(module.removeprefix(package))})?" if package else ""
    row = re.compile(rf"{re.escape(package or module)}{last}\.(\w+)\s*[,:\])]".encode())
    for table in corpus.files_with(package or module, "python", lambda p: _is_library(p, path)):
        text = corpus.text(table)
        found = {match[1]: match for match in reversed([*row.finditer(text)]) if match[1] in own}
        by_text = f"getattr({module}, ".encode() in text
        if by_text:
            quoted = reversed([*_QUOTED.finditer(text)])
            found |= {match[1]: match for match in quoted if match[1] in own}
        if len(found) >= (1 if by_text else _FEWEST):
            there = found.get(name.encode())
            start = (there or min(found.values(), key=re.Match.start)).start()
            rule = f"lists {len(found)} functions of {module} by their names"
            where = Location(table, text.count(b"\n", 0, start) + 1)
            rank = (there is not None, len(found))
            yield rank, Step("table", PurePosixPath(table).name, where, rule)


def generator_lists(corpus: Corpus, name: str) -> Iterator[Step]:
    """The generators of code that list an operator by name, each at its first row."""
    row = re.compile(rf"[\"']{re.escape(name)}[\"']\s*[,\]}}:]".encode())
    for path in corpus.files_with(name, "python", lambda one: one.startswith(GENERATORS)):
        if found := row.search(text := corpus.text(path)):
            where = Location(path, text.count(b"\n", 0, found.start()) + 1)
            yield Step("table", PurePosixPath(path).name, where, f"lists {name} by its name")


def scripted(source: Source, name: str) -> Iterator[Step]:
    """The functions of TorchScript of an operator's name that stand in C++ as text: the formulas
    of its own autodiff, and its shape functions."""
    head = re.compile(rf"^\s+def {re.escape(name)}\(", re.MULTILINE)
    for file in (one for one in source.listed(_SCRIPTS) if one.endswith(".cpp")):
        text = source.text(f"{_SCRIPTS}/{file}")
        if found := head.search(text):
            where = Location(f"{_SCRIPTS}/{file}", text.count("\n", 0, found.end()) + 1)
            yield Step("table", file, where, f"has a function {name} in TorchScript")


def is_part(called: str, name: str) -> bool:
    """Whether an operator's name has another's; that of a gradient in two: ``x_dense_backward``."""
    words, others = called.partition(".")[0].strip("_"), name.strip("_")
    head = others.removesuffix(_BACKWARD)
    parted = (
        words.endswith(_BACKWARD) and others.endswith(_BACKWARD) and words.startswith(f"{head}_")
    )
    return parted or f"_{others}_" in f"_{words}_"


def functions_of(corpus: Corpus, path: str) -> list[str]:
    return [one.decode() for one in _FUNCTION.findall(corpus.text(path))]


def private_modules(corpus: Corpus, path: str) -> Iterator[Step]:
    """The private modules beside a module that it and few others import."""
    folder = path.rpartition("/")[0]
    for match in _PRIVATE.finditer(corpus.text(path)):
        name = match[2].decode()
        own, word = f"{'torch' if match[1] else folder}/{name}.py", f".{name} import "
        users = corpus.files_with(name, "python", lambda p: p.startswith("torch/"))
        using = [one for one in users if word.encode() in corpus.text(one)]
        if corpus.text(own) and len(using) <= _MOST_USERS:
            rule = f"{path} imports from it, as few do"
            yield Step("python", name, Location(own, 1), rule)


def _exporting(corpus: Corpus, path: str) -> str:
    """The package that re-exports everything in a module: ``torch`` for ``torch.functional``."""
    folder, _, file = path.rpartition("/")
    package, name = folder.replace("/", "."), file.removesuffix(".py")
    text = corpus.text(f"{folder}/__init__.py").decode("utf-8", "replace")
    exports = re.search(rf"from (?:{re.escape(package)})?\.{re.escape(name)} import \*", text)
    return package if exports else ""


def _is_library(path: str, own: str) -> bool:
    return path != own and path.startswith("torch/") and not path.startswith("torch/testing/")


def expected_outputs(source: Source, names: Collection[str]) -> Iterator[Step]:
    """The expect files of tests named after something, for any number of dimensions."""
    plain = {_DIMENSIONS.sub("", name.strip("_")) for name in names}
    wanted = "|".join(re.escape(one) for one in sorted(plain) if len(one) >= _FEWEST_LETTERS)
    named = re.compile(rf"\.test_({wanted})(?:\dd)?(?:[_.-].*)?\.expect")
    for folder in _EXPECTED if wanted else ():
        for one in source.listed(folder):
            if found := named.search(one):
                rule = f"what a test of {found[1]} is expected to write: --accept writes it anew"
                yield Step("expect", one, Location(f"{folder}/{one}", 1), rule)


def private(corpus: Corpus, name: str) -> Location | None:
    """Where the only private function or class of a name is defined."""
    defined = re.compile(rf"^(?:def|class) {re.escape(name)}\b".encode(), re.MULTILINE)
    found = []
    for path in corpus.files_with(name, "python") if name.startswith("_") else ():
        text = corpus.text(path)
        places = (text.count(b"\n", 0, one.start()) + 1 for one in defined.finditer(text))
        found += [Location(path, line) for line in places]
    return found[0] if len(found) == 1 else None


_PAGES = ("docs/source", "docs/source/notes")
_PAGE_ENDS = (".rst", ".md")
_MOST_PAGES = 6


def pages_naming(source: Source, names: Iterable[str]) -> Iterator[tuple[Location, str]]:
    """The first line of each page with one of some names as code, and the name; none if too many
    pages have it."""
    either = "|".join(re.escape(name) for name in sorted({*names}))
    marked = re.compile(rf"`[~!]?({either})(?:\(\))?`")
    found = []
    for folder in _PAGES if either else ():
        for name in source.listed(folder):
            text = source.text(f"{folder}/{name}") if name.endswith(_PAGE_ENDS) else ""
            if match := marked.search(text):
                line = text.count("\n", 0, match.start()) + 1
                found.append((Location(f"{folder}/{name}", line), match[1]))
    yield from found if len(found) <= _MOST_PAGES else ()


def others_named(index: IndexedTree, name: str, steps: Iterable[Step]) -> Iterator[str]:
    """What a plan of a bare name leaves out: methods of Python classes that have it too."""
    found = find_in_classes(name, "", index) if name.isidentifier() else None
    planned = {step.location.path for step in steps}
    places = (*found.places, *found.others) if found else ()
    left = [one for one in places if one.location.path not in planned]
    if left:
        others = listed((f"{one.name} ({one.location})" for one in left), _MOST_NAMESAKES)
        yield f"also named {name}: {others}; plan one by torchnav contribute {left[0].name}"
