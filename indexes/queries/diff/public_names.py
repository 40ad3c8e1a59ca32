"""Differences in Python's public names: functions with signatures, classes, methods."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from indexes.model.vocabulary import Location, Problem
from indexes.queries.diff.model import Change, Side, side_change
from indexes.queries.index import Index
from indexes.readers.python.blocks import Text, parse
from indexes.readers.python.scope import NEVER, Function, Scope, read_scope

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_LONGEST_HEAD = 80
"""Most lines of a function's head."""
_DEFINED = (*_FUNCTION, ast.ClassDef)


def api_changes(before: Index, after: Index) -> Iterator[Change]:
    """Added, removed and changed names of torch's public modules. Equal files are not parsed."""
    was, now = _modules(before), _modules(after)
    for path in sorted({*was, *now}):
        old, new = _bytes(before, path, was), _bytes(after, path, now)
        if old != new:
            yield from _of_module(_names(old, path), _names(new, path))


def _of_module(old: dict[str, Side], new: dict[str, Side]) -> Iterator[Change]:
    for name in dict.fromkeys((*old, *new)):
        one, other = old.get(name), new.get(name)
        outer = name.rpartition(".")[0]
        if one is None and outer in new and outer not in old:
            continue  # it came with its class
        if other is None and outer in old and outer not in new:
            continue
        if one is None or other is None or one.text != other.text:
            yield side_change("api", (), name, one, other)


def _modules(index: Index) -> set[str]:
    rows = index.facts.store.query("SELECT path FROM files WHERE path LIKE 'torch/%.py'")
    return {path for (path,) in rows if _is_public(path)}


def _is_public(path: str) -> bool:
    parts = path.removesuffix("/__init__.py").removesuffix(".py").split("/")
    hidden = any(part.startswith("_") for part in parts)
    return not hidden and "testing" not in parts


def _bytes(index: Index, path: str, known: set[str]) -> bytes:
    return index.source.content(path) if path in known else b""


def _names(data: bytes, path: str) -> dict[str, Side]:
    """The public names of a file with their signatures."""
    if not data:
        return {}
    scope = read_scope(Text(data), path)
    if isinstance(scope, Problem):
        return {}
    return dict(_Module(scope, data).names())


class _Module:
    """The public names of one file."""

    def __init__(self, scope: Scope, data: bytes) -> None:
        self._scope = scope
        self._lines = data.decode("utf-8", "replace").splitlines()

    def names(self) -> Iterator[tuple[str, Side]]:
        """Its functions and classes, with methods."""
        listed = self._scope.public()
        for name, bound in self._scope.names.items():
            wanted = name in listed if listed is not None else not name.startswith("_")
            node = bound.node
            if not wanted or bound.sure == NEVER or not isinstance(node, _DEFINED):
                continue
            full = f"{self._scope.module}.{name}"
            yield full, self._side(node, bound.line)
            if isinstance(node, ast.ClassDef):
                for one in node.body:
                    if isinstance(one, _FUNCTION) and _is_called(one.name):
                        yield f"{full}.{one.name}", self._side(one, one.lineno)

    def _side(self, node: Function | ast.ClassDef, line: int) -> Side:
        where = Location(self._scope.path, line)
        if not isinstance(node, ast.ClassDef):
            return Side(self._signature(node.name, line), where)
        bases = ", ".join(ast.unparse(one) for one in node.bases)
        return Side(f"class {node.name}({bases})", where)

    def _signature(self, name: str, line: int) -> str:
        """``def add(input, other, *, out=None)``: without layout and types. Read from the ``def``
        line, since the scope lacks arguments."""
        head = ""
        for text in self._lines[line - 1 : line - 1 + _LONGEST_HEAD]:
            head += f"{text.strip()}\n"
            if ":" in text and (found := _parsed(f"{head} pass") or _parsed(head)):
                return f"def {name}({ast.unparse(found)})"
        return f"def {name}(...)"


def _parsed(text: str) -> ast.arguments | None:
    """The arguments of a function without types; None if the text is truncated."""
    try:
        node = parse(text).body[0]
    except SyntaxError:
        return None
    if not isinstance(node, _FUNCTION):
        return None
    for one in ast.walk(node.args):
        if isinstance(one, ast.arg):
            one.annotation = None
    return node.args


def _is_called(name: str) -> bool:
    return name == "__init__" or not name.startswith("_")
