"""Errors thrown as ``std::runtime_error`` beside code that raises them with TORCH_CHECK."""

from __future__ import annotations

import os
from collections.abc import Iterator

from indexes.model.vocabulary import Definition, Location
from indexes.queries.gaps.checks.code import by_function, is_product
from indexes.queries.gaps.model import Gap, Kind, subject_of
from indexes.queries.gaps.tree import Tree

_CHECK = "TORCH_CHECK"
_CONTINUED = " \\"
_DEFINITION = "c10/util/Exception.h"


def lacks(tree: Tree) -> str:
    """The sources of PyTorch's C++ are in a checkout only."""
    return tree.lacks_kernels() or tree.lacks(tree.source.path_of(_DEFINITION))


def find(tree: Tree) -> Iterator[Gap]:
    """One gap for each function that throws so, in folders whose files use TORCH_CHECK: one
    that does without must do without c10, as what is linked into compiled models does."""
    macro = tree.place_of(f"#define {_CHECK}(", tree.source.path_of(_DEFINITION))
    checking = {
        place.path
        for place, used, _ in tree.remarks("macros")
        if is_product(place) and _CHECK in used.split()
    }
    neighbours = {os.path.dirname(path): path for path in sorted(checking, reverse=True)}
    found = ((place, what) for place, what, _ in tree.remarks("throw") if is_product(place))
    thrown = (row for row in found if not _is_expression(tree, row[0]))
    for function, rows in by_function(tree, thrown):
        path = rows[0][0].path
        if own := path if path in checking else neighbours.get(os.path.dirname(path)):
            yield _gap(tree, function, [place for place, _ in rows], own, macro)


def _is_expression(tree: Tree, place: Location) -> bool:
    """Whether it is thrown amid an expression, ``ok ? value : throw ...``, where no TORCH_CHECK can
    stand."""
    above = [line.rstrip(_CONTINUED) for line in tree.lines(place.path, 1, place.line - 1)[-1:]]
    before = "\n".join([*above, tree.line(place).partition("throw ")[0]]).rstrip()
    return before.endswith(("(", ",", "?")) or (before.endswith(":") and "?" in before)


def _gap(
    tree: Tree,
    function: Definition | None,
    places: list[Location],
    own: str,
    macro: Location | None,
) -> Gap:
    path = places[0].path
    name = function.name if function else path.rpartition("/")[2]
    count = f" in {len(places)} places" if len(places) > 1 else ""
    what = f"{name} throws std::runtime_error{count} where TORCH_CHECK is the tree's way"
    whose = "this file uses" if own == path else f"{own} beside it uses"
    rule = f"{whose} TORCH_CHECK, which adds the C++ stack and raises c10::Error"
    like = tree.place_of(f"{_CHECK}(", own)
    evidence = (*places, *(one for one in (like, macro) if one))
    op = tree.operator_of(function)
    subject = subject_of(function) if function else path
    return Gap(places[0], what, rule, evidence, op, name, subject, size=len(places))


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
