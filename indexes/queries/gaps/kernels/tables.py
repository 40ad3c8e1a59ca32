"""Tables of expected failures by OpInfo name in a backend's test files, in any version's form."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.gaps.statements import Statement
from indexes.queries.gaps.tree import Tree
from indexes.readers.python.blocks import parse_expression

_BEGIN = regex(r"^[^\S\n]*(\w*LIST\w*)\b[^=\n]*=\s*(?=[{\[])", re.MULTILINE)
_TOKEN = regex(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#[^\n]*|[{}\[\]()]")
_FAILS = regex(r"FAIL|BLOCK|UNIMPLEMENTED|UNDEFINED|UNSUPPORTED")
_WORKS = regex(r"ALLOW")
_LEFT_OUT = regex(r"\d|PRECISION")
"""Parts of names of tables for single OS releases or reduced precision."""


_FAMILIES = ("SPARSE", "QUANTIZED", "NESTED")


class Tables(NamedTuple):
    """The tables of one backend."""

    fails: tuple[Statement, ...] = ()
    """Expected failures, forward."""
    fails_backward: tuple[Statement, ...] = ()
    works: tuple[Statement, ...] = ()
    """The only ones expected to work, as older versions list."""

    def of_family(self, family: str) -> Tables:
        """The rows for a family of keys: ``..._SPARSE`` is not for ordinary tensors."""
        return Tables(*(tuple(one for one in rows if _is_of(one.group, family)) for rows in self))


def tables_of(tree: Tree, backend: str) -> Tables:
    """The rows of all tables in test files named after the backend."""
    device = backend.lower()
    likes = (
        f"test/test_{device}%.py",
        f"test/{device}/%.py",
        f"torch/testing/_internal/common_{device}%.py",
    )
    paths = dict.fromkeys(path for like in likes for path in tree.paths(like))
    rows = [one for path in paths for one in rows_of(tree.text(path), path)]
    fails = [one for one in rows if _FAILS.search(one.group)]
    return Tables(
        tuple(one for one in fails if "GRAD" not in one.group),
        tuple(one for one in fails if "GRAD" in one.group),
        tuple(one for one in rows if lists_passing(one) and "GRAD" not in one.group),
    )


def lists_passing(row: Statement) -> bool:
    """Whether its table has what is expected to work: others have what is expected to fail."""
    return bool(_WORKS.search(row.group))


def _is_of(table: str, family: str) -> bool:
    """Whether a table is for a family, by its name; by default ordinary tensors."""
    named = next((one for one in _FAMILIES if one in table), "")
    return family.upper().startswith(named) if named and family else not (named or family)


def rows_of(text: str, path: str) -> Iterator[Statement]:
    """The rows of every table in a file: ``{"name": None}`` and ``{"name"}`` for all dtypes,
    ``{"name": [dtypes]}`` for some."""
    for match in _BEGIN.finditer(text):
        if not _LEFT_OUT.search(match[1]):
            table = _literal(text[match.end() : _end(text, match.end())])
            first = text.count("\n", 0, match.end())
            for name, line, whole in _entries(table):
                yield Statement(name, None, match[1], "", Location(path, first + line), whole)


def _end(text: str, start: int) -> int:
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += (token[0] in "{[(") - (token[0] in "}])")
        if depth == 0:
            return token.end()
    return len(text)


def _literal(text: str) -> ast.expr | None:
    try:
        return parse_expression(text)
    except SyntaxError:
        return None


def _entries(table: ast.expr | None) -> Iterator[tuple[str, int, bool]]:
    if isinstance(table, ast.Dict):
        for key, value in zip(table.keys, table.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, key.lineno, isinstance(value, ast.Constant) and value.value is None
    elif isinstance(table, (ast.Set, ast.List)):
        for one in table.elts:
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                yield one.value, one.lineno, True
