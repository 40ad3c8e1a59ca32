"""Checks of arguments that fail without a message."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexes.model.lines import listed
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, Location
from indexes.queries.gaps.model import Gap, Kind, subject_of
from indexes.queries.gaps.tree import Tree

_WORD = regex(r"[A-Za-z_]\w*")
_STANDARD = "c10/util/Exception.h"
"""The source of the standard text for checks without one."""
_ASKS = "Could this error message be improved"
_FEW = 3
Check = tuple[Location, str]
"""A check's place, and its condition."""


def parameter_names(parameters: str) -> frozenset[str]:
    """The names in a parameter list, without defaults."""
    parts = re.split(r",(?![^<(]*[>)])", parameters)
    words = (_WORD.findall(part.partition("=")[0]) for part in parts)
    return frozenset(found[-1] for found in words if len(found) > 1)


def find(tree: Tree) -> Iterator[Gap]:
    """Kernels with checks of their own parameters without a message."""
    standard = tree.place_of(_ASKS, tree.source.locate(_STANDARD) or "")
    found: dict[Definition, list[Check]] = {}
    for place, condition, _ in tree.kernel_remarks("bare check"):
        function = tree.function_at(place)
        if function and _is_asked(tree, function) and _names_parameter(condition, function):
            found.setdefault(function, []).append((place, condition))
    for function, checks in found.items():
        yield _gap(tree, function, checks, standard)


def _is_asked(tree: Tree, function: Definition) -> bool:
    """Whether users can see its message: in kernels of public operators. Elsewhere callers may
    ensure it."""
    op = tree.operator_of(function)
    return op is not None and op[0] != "_" and "backward" not in op


_DEVICE = regex(r"!?\w+\.is_(?:cpu|cuda|hip|xpu|mps|metal|vulkan|mkldnn|meta)\(\)")


def _names_parameter(condition: str, function: Definition) -> bool:
    """Whether an argument may violate it; another device is dispatched elsewhere."""
    return not _DEVICE.fullmatch(condition) and bool(
        parameter_names(function.parameters) & set(_WORD.findall(condition))
    )


def _gap(tree: Tree, function: Definition, checks: list[Check], standard: Location | None) -> Gap:
    lines = [place for place, _ in checks]
    shown = listed((condition for _, condition in checks), _FEW, "; ")
    op = tree.operator_of(function)
    rule = "TORCH_CHECK without a message prints its condition and"
    rule += ' asks "Could this error message be improved?"'
    what = f"no message when an argument fails: {shown}"
    places = (*lines, *((standard,) if standard else ()))
    name, subject, stated = function.name, subject_of(function), standard is not None
    return Gap(lines[0], what, rule, places, op, name, subject, stated=stated, size=len(checks))


KINDS = (
    Kind(
        "error-message",
        "easy",
        "checks of arguments without a message",
        find,
        Tree.lacks_kernels,
        unit="checks",
        few=5,
    ),
)
