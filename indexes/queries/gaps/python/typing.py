"""Python files without type checking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from indexes.model.regex import MULTILINE, regex
from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Difficulty, Gap, Kind
from indexes.queries.gaps.tree import Tree
from indexes.readers.python.remarks import size_of

_SECTION = regex(r"^\[mypy-([^\]\n]+)\]\n((?:(?!\[)[^\n]*\n?)*)", MULTILINE)
_IGNORES = regex(r"^\s*(ignore_errors|allow_untyped_defs)\s*=\s*True", MULTILINE)
CONFIG = "mypy.ini"
_FEW = 5
"""Most untyped functions for an easy change."""


def lacks(tree: Tree) -> str:
    return tree.lacks(CONFIG)


def find(tree: Tree) -> Iterator[Gap]:
    """One gap per file that is exempted by a comment, or in mypy.ini."""
    config = tree.text(CONFIG)
    for place, mark, size in tree.remarks("untyped"):
        lines, functions = map(int, size.split())
        yield _gap(place.path, place, mark, lines, functions)
    known = tree.modules
    for section in _SECTION.finditer(config):
        if setting := _IGNORES.search(section[2]):
            line = config.count("\n", 0, section.start()) + 1
            yield from _configured(tree, known, section[1], Location(CONFIG, line), setting[1])


def _configured(
    tree: Tree, known: Mapping[str, str], pattern: str, place: Location, setting: str
) -> Iterator[Gap]:
    """The gap of a section for one module; sections for whole packages are too large."""
    path = known.get(pattern.removesuffix(".*"))
    if path and not path.endswith("/__init__.py"):
        yield _gap(path, place, setting.replace("_", "-"), *size_of(tree.text(path)))


def _gap(path: str, place: Location, setting: str, lines: int, functions: int) -> Gap:
    whole = setting == "ignore-errors"
    what = f"{path} ({lines:,} lines, {functions} functions) is not checked for types"
    rule = f'"{setting}" at {place}: '
    rule += "mypy reports nothing of this file" if whole else "functions there may have no types"
    easy: Difficulty = "easy" if functions <= _FEW and not whole else "medium"
    evidence = (place, Location(path, 1))
    return Gap(place, what, rule, evidence, name=path, stated=True, difficulty=easy, size=lines)


KINDS = (
    Kind(
        "typing",
        "medium",
        "files whose functions have no types",
        find,
        lacks,
        graded=True,
        unit="lines",
        few=150,
    ),
)
