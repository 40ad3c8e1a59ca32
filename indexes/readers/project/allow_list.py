"""Reads PyTorch's list of operators that may break compatibility: ALLOW_LIST of
test/forward_backward_compatibility/check_forward_backward_compatibility.py."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.readers.python.blocks import parse

_SIMPLE = regex(r"(?:\w|:|\.\*?|\*){1,120}")
"""Allowed pattern characters; other patterns could take forever."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """An entry: schemas that match its pattern may change until a date."""

    pattern: str
    until: str
    """``9999-01-01``."""
    conditional: bool
    """Whether it has further conditions on the schema."""
    location: Location

    def fits(self, schema: str) -> bool:
        """Whether the pattern matches a schema without namespace."""
        return re.search(self.pattern, f"aten::{schema}") is not None


def read_allow_list(data: bytes, path: str) -> tuple[Allowed, ...]:
    """The entries in order; none of a file that is not Python."""
    try:
        tree = parse(data)
    except SyntaxError:
        return ()
    lists = [
        node.value.elts
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.List)
        and any(isinstance(t, ast.Name) and t.id == "ALLOW_LIST" for t in node.targets)
    ]
    found = (_entry(item, path) for items in lists for item in items)
    return tuple(entry for entry in found if entry)


def _entry(item: ast.expr, path: str) -> Allowed | None:
    if not isinstance(item, ast.Tuple) or len(item.elts) < 2:
        return None
    pattern, until, *more = item.elts
    if not (isinstance(pattern, ast.Constant) and isinstance(pattern.value, str)):
        return None
    if pattern.value.count("*") > 2 or not _SIMPLE.fullmatch(pattern.value):
        return None
    conditional = bool(more) and not (isinstance(more[0], ast.Constant) and more[0].value is None)
    return Allowed(pattern.value, _day(until), conditional, Location(path, item.lineno))


def _day(node: ast.expr) -> str:
    numbers = (
        [a.value for a in node.args if isinstance(a, ast.Constant)]
        if isinstance(node, ast.Call)
        else []
    )
    return "-".join(f"{n:02}" for n in numbers if isinstance(n, int))
