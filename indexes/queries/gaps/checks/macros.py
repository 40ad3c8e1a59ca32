"""Macros that the tree calls deprecated, and that its own code still uses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, Location
from indexes.queries.gaps.checks.code import by_function, is_product
from indexes.queries.gaps.model import Gap, Kind, subject_of
from indexes.queries.gaps.tree import Tree
from indexes.readers.cxx.remarks import uses

_BARE = regex(r"\b([A-Z_]{4,})\b(?!\()")
_Known = Mapping[str, tuple[Location, str]]
"""Where each deprecated macro is defined, and what its comment says to use; empty where it does
not."""


def lacks(tree: Tree) -> str:
    """The sources of PyTorch's C++ are in a checkout only."""
    return tree.lacks_kernels()


def find(tree: Tree) -> Iterator[Gap]:
    """One gap for each function that uses a deprecated macro."""
    remarks = tree.remarks("deprecated macro")
    headers = (one for one in remarks if is_product(one[0]) and one[0].path.endswith(".h"))
    known = {name: (place, instead) for place, name, instead in headers}
    if not known:
        return
    # Literals first: the engine then skips to them, which a word's beginning would not let it.
    names = "|".join(rf"{one}(?<!\w{one})" for one in known)
    word = regex(rf"({names})\s*\(")
    for place, used, _ in tree.remarks("macros"):
        if is_product(place) and not known.keys().isdisjoint(used.split()):
            for function, found in by_function(tree, _uses(tree, place.path, word)):
                yield _gap(tree, known, function, found)


def _uses(tree: Tree, path: str, word: re.Pattern[str]) -> Iterator[tuple[Location, str]]:
    """The macros that a file uses, without their own ``#define``, ``#undef`` and ``#ifdef``."""
    text = tree.text(path)
    for line, found in uses(text, word):
        start = text.rfind("\n", 0, found.start()) + 1
        if not text[start : found.start()].lstrip().startswith("#"):
            yield Location(path, line), found[1]


def _gap(
    tree: Tree, known: _Known, function: Definition | None, used: list[tuple[Location, str]]
) -> Gap:
    places = [place for place, _ in used]
    macros = {name: known[name] for _, name in used}
    path = places[0].path
    name = function.name if function else path.rpartition("/")[2]
    count = f" in {len(places)} places" if len(places) > 1 else ""
    what = f"{name} uses {' and '.join(macros)}{count}"
    first, (place, said) = next(iter(macros.items()))
    instead = f": use {_with_calls(said)}" if said else ""
    rule = f"{place} calls {first} deprecated{instead}"
    evidence = (*places, *(place for place, _ in macros.values()))
    op = tree.operator_of(function)
    subject = subject_of(function) if function else path
    return Gap(places[0], what, rule, evidence, op, name, subject, size=len(used))


def _with_calls(words: str) -> str:
    """Each macro of a comment as a call."""
    return _BARE.sub(r"\1(...)", words)


KINDS = (
    Kind(
        "deprecated-macro",
        "easy",
        "deprecated C++ macros still in use",
        find,
        lacks,
        unit="places",
        few=5,
    ),
)
