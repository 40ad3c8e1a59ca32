"""Operators that check their arguments without error inputs in their OpInfo."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from indexes.linking.python.paths import Found
from indexes.model.files import unpack
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, Location
from indexes.queries.gaps.messages import parameter_names
from indexes.queries.gaps.model import Gap, Kind
from indexes.queries.gaps.opinfo import DATABASE
from indexes.queries.gaps.tree import Tree

_FIELD = "error_inputs"
_CLASSES = "torch/testing/_internal/opinfo/core.py"
_CHECK = regex(r"\bTORCH_CHECK(?:_\w+)?\(\s*([^;]*?);")
_KEYS = ("CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd")
_NEXT = r"\n(?=\S)"


def lacks(tree: Tree) -> str:
    there = any(_FIELD in tree.text(path) for path in (DATABASE, _CLASSES))
    none = "" if there else f"OpInfos of this version have no {_FIELD}_func"
    return tree.lacks(DATABASE) or tree.lacks_kernels() or none


def find(tree: Tree) -> Iterator[Gap]:
    """Public operators with OpInfos, none with error inputs, that check a parameter in a kernel or
    structured function."""
    has_default = cache(lambda cls: _FIELD in _class(tree, cls))
    for ops in tree.by_name(tree.public):
        infos = [one for op in ops for one in tree.opinfos(op) if one[1].end_line]
        classes = {unpack(fact.detail).get("cls", "") for _, fact in infos}
        if not infos or any(map(has_default, classes)) or any(_tries(tree, one) for one in infos):
            continue
        checks = next((found for op in ops if (found := _checks(tree, op))), None)
        if checks:
            yield _gap(tree, ops[0], infos[0], *checks)


def _class(tree: Tree, name: str) -> str:
    """The text of an OpInfo class, except the base that defines the field."""
    found = re.search(rf"\nclass {name}\((.*?){_NEXT}", tree.text(_CLASSES), re.DOTALL)
    return found[1] if found else ""


def _tries(tree: Tree, info: Found) -> bool:
    path, fact = info
    return any(_FIELD in line for line in tree.lines(path, fact.line, fact.end_line))


def _checks(tree: Tree, op: str) -> tuple[Definition, Location] | None:
    """The first function of an operator that checks a parameter, and the line."""
    rows = tree.kernels.get(op, {})
    for key in _KEYS:
        for one in rows[key].definitions if key in rows else ():
            if line := _checked(tree, one):
                return one, line
    return None


def _checked(tree: Tree, function: Definition) -> Location | None:
    place = function.location
    text = "\n".join(tree.lines_of(place))
    names = parameter_names(function.parameters)
    for found in _CHECK.finditer(text):
        condition, comma, message = found[1].partition(",")
        if comma and '"' in message and names & set(re.findall(r"\w+", condition)):
            return Location(place.path, place.line + text.count("\n", 0, found.start()))
    return None


def _gap(tree: Tree, op: str, info: Found, function: Definition, check: Location) -> Gap:
    path, fact = info
    name = tree.natives[op].name
    what = f"the OpInfo of {fact.symbol} has no error inputs"
    rule = f"{function.name} checks its arguments, and no error_inputs_func tries one that fails:"
    rule += " test_errors skips it"
    places = (Location(path, fact.line, fact.end_line), check)
    return Gap(places[0], what, rule, places, op, name=name)


KINDS = (
    Kind(
        "error-inputs",
        "medium",
        "checks of operators that no OpInfo tests",
        find,
        lacks,
        python=True,
    ),
)
