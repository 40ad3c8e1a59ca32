"""Errors thrown as ``std::runtime_error`` beside code that raises them with TORCH_CHECK."""

from __future__ import annotations

import os
from collections.abc import Iterator

from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, Location
from indexes.queries.gaps.checks.code import Use, by_function, product_files, uses
from indexes.queries.gaps.model import Gap, Kind, subject_of
from indexes.queries.gaps.tree import Tree

_THROW = regex(r"throw\s+(?:std\s*::\s*)?runtime_error\b")
_LITERAL = "runtime_error"
_CHECK = "TORCH_CHECK("
_DEFINITION = "c10/util/Exception.h"


def lacks(tree: Tree) -> str:
    """The sources of PyTorch's C++ are in a checkout only."""
    return tree.lacks_kernels() or tree.lacks(tree.source.path_of(_DEFINITION))


def find(tree: Tree) -> Iterator[Gap]:
    """One gap for each function that throws so, in folders whose files use TORCH_CHECK: one
    that does without must do without c10, as what is linked into compiled models does."""
    macro = tree.place_of("#define TORCH_CHECK(", tree.source.path_of(_DEFINITION))
    paths = product_files(tree)
    neighbours: dict[str, str] = {}
    for path in paths:
        if _CHECK in tree.text(path):
            neighbours.setdefault(os.path.dirname(path), path)
    for path in paths:
        own = path if _CHECK in tree.text(path) else neighbours.get(os.path.dirname(path))
        if own and _LITERAL in tree.text(path):
            for function, thrown in by_function(tree, uses(tree.text(path), path, _THROW)):
                yield _gap(tree, function, thrown, own, macro)


def _gap(
    tree: Tree, function: Definition | None, thrown: list[Use], own: str, macro: Location | None
) -> Gap:
    places = [one.location for one in thrown]
    path = places[0].path
    name = function.name if function else path.rpartition("/")[2]
    count = f" in {len(places)} places" if len(places) > 1 else ""
    what = f"{name} throws std::runtime_error{count} where TORCH_CHECK is the tree's way"
    whose = "this file uses" if own == path else f"{own} beside it uses"
    rule = f"{whose} TORCH_CHECK, which adds the C++ stack and raises c10::Error"
    like = tree.place_of(_CHECK, own)
    evidence = (*places, *(one for one in (like, macro) if one))
    op = tree.operator_of(function)
    subject = subject_of(function) if function else path
    return Gap(places[0], what, rule, evidence, op, name, subject, size=len(thrown))


KINDS = (
    Kind(
        "runtime-error",
        "easy",
        "std::runtime_error thrown beside TORCH_CHECK",
        find,
        lacks,
        unit="places",
        few=5,
    ),
)
