"""Explains why a generator wrote nothing for an operator, from its own source.

Runs in the Python that has torchgen: the standard library alone.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from types import ModuleType

_COMMENT_LINES = 8
_MOST = 3
_LONGEST = 400
"""Maximum length of a condition."""


def reason(path: str, line: int) -> tuple[str, str]:
    """The condition under which a function returns at a line, and its comment."""
    inner = _nodes_over(path, line)
    statement = next((one for one in reversed(inner) if isinstance(one, ast.stmt)), None)
    if statement is None:
        return linecache.getline(path, line).strip(), ""
    returned = _source(path, statement)
    tests = list(_tests(path, inner))
    if not tests:
        grows = " or ".join(_growing(path, inner, statement)[:_MOST])
        words = f"{returned}, which grows only if {grows}" if grows else returned
        return words, _comment(path, statement.lineno)
    words = f"if {' and '.join(tests)}: {returned}"
    above = next(one for one in reversed(inner[:-1]) if isinstance(one, ast.If))
    return words, _comment(path, statement.lineno) or _comment(path, above.lineno)


def _growing(path: str, inner: list[ast.AST], statement: ast.stmt) -> list[str]:
    """The conditions for adding to the result; none if something is always added."""
    value = statement.value if isinstance(statement, ast.Return) else None
    functions = [one for one in inner if isinstance(one, ast.FunctionDef)]
    if not isinstance(value, ast.Name) or not functions:
        return []
    found: dict[str, None] = {}
    for one in ast.walk(functions[-1]):
        if isinstance(one, ast.AugAssign) and ast.unparse(one.target) == value.id:
            found[" and ".join(_tests(path, _nodes_over(path, one.lineno)))] = None
    return [] if "" in found else list(found)


def _tests(path: str, inner: list[ast.AST]) -> Iterator[str]:
    """The conditions around a statement within its function, outermost first."""
    functions = [at for at, one in enumerate(inner) if isinstance(one, ast.FunctionDef)]
    nodes = inner[functions[-1] + 1 :] if functions else inner
    for one, below in pairwise(nodes):
        if isinstance(one, ast.If) and below is not one.test:
            test = _source(path, one.test)
            yield test if below in one.body else f"not ({test})"


def returned(path: str, lines: Iterable[int]) -> int:
    """The last of the lines that is a return; 0 for none."""
    found = (line for line in reversed(list(lines)) if _returns(path, line))
    return next(found, 0)


def _returns(path: str, line: int) -> bool:
    statements = [one for one in _nodes_over(path, line) if isinstance(one, ast.stmt)]
    return bool(statements) and isinstance(statements[-1], ast.Return)


def filters(path: str, line: int) -> list[str]:
    """The conditions around the call at a line and in its arguments."""
    inner = _nodes_over(path, line)
    calls = [one for one in inner if isinstance(one, ast.Call)]
    loops = [arg for call in calls[:1] for arg in call.args if isinstance(arg, ast.ListComp)]
    found = [_source(path, test) for loop in loops for part in loop.generators for test in part.ifs]
    return [*_enclosing_conditions(path, inner), *found]


def _enclosing_conditions(path: str, inner: list[ast.AST]) -> Iterator[str]:
    for at, one in enumerate(inner):
        if isinstance(one, ast.For) and at + 1 < len(inner):
            yield from _guards(path, one, inner[at + 1])
        if isinstance(one, ast.If) and inner[at + 1 :][:1] != [one.test]:
            holds = inner[at + 1] in one.body
            yield _source(path, one.test) if holds else f"not ({_source(path, one.test)})"


def _guards(path: str, loop: ast.For, until: ast.AST) -> Iterator[str]:
    """The conditions under which a loop continues before it reaches a statement."""
    for statement in loop.body:
        if statement is until:
            return
        if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Continue):
            yield f"not ({_source(path, statement.test)})"


def collections(modules: Iterable[ModuleType]) -> Iterator[tuple[str, str, int, list[str]]]:
    """Collections of names in modules: (name, path, line, names)."""
    for module in modules:
        path = inspect.getsourcefile(module) or ""
        lines = _assigned(path)
        for name, value in vars(module).items():
            if name in lines and isinstance(value, (set, frozenset, list, tuple, dict)):
                yield name, path, lines[name], [one for one in value if isinstance(one, str)]


@cache
def _assigned(path: str) -> dict[str, int]:
    """A module's top-level assignments, with their lines."""
    found: dict[str, int] = {}
    for one in _tree(path).body:
        targets = one.targets if isinstance(one, ast.Assign) else [getattr(one, "target", None)]
        found |= {each.id: one.lineno for each in targets if isinstance(each, ast.Name)}
    return found


@cache
def _tree(path: str) -> ast.Module:
    return ast.parse("".join(linecache.getlines(path)))


@cache
def _nodes_over(path: str, line: int) -> list[ast.AST]:
    """The syntax nodes that contain a line, outermost first."""
    found: list[ast.AST] = []
    node: ast.AST | None = _tree(path)
    while node is not None:
        inside = (one for one in ast.iter_child_nodes(node) if _spans(one, line))
        if node := next(inside, None):
            found.append(node)
    return found


def _spans(node: ast.AST, line: int) -> bool:
    return getattr(node, "lineno", line + 1) <= line <= (getattr(node, "end_lineno", 0) or 0)


def _source(path: str, node: ast.AST) -> str:
    """The source of a node on one line."""
    text = ast.get_source_segment("".join(linecache.getlines(path)), node) or ""
    flat = re.sub(r"\s+", " ", re.sub(r"(?m)\s*#.*$", "", text)).strip()
    return flat if len(flat) <= _LONGEST else f"{flat[:_LONGEST]} ..."


def _comment(path: str, line: int) -> str:
    """The comment right above a line."""
    found: list[str] = []
    while (above := linecache.getline(path, line - 1 - len(found)).strip()).startswith("#"):
        found.insert(0, above.lstrip("# "))
    return " ".join(found[-_COMMENT_LINES:])
