"""Lists of operators in Python files: tables of decompositions, expected failures, ``__all__``,
allow-lists.

Any list, set, tuple or dict whose elements name operators counts, and consecutive equal calls, one
for each operator.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexes.model.regex import IGNORECASE, regex
from indexes.readers.python.blocks import parse
from indexes.readers.python.scope import dotted

_FEWEST = 3
"""Fewest rows of a list, since two operators may be adjacent by chance."""
_OPERATOR = regex(r"[A-Za-z_][\w.]*(?:::[\w.]+)?\Z")
_FAILS = regex(r"xfail|skip|expectedFailure|_failure|DecorateInfo|decorate\b")
_WORDS = regex(
    r"fail|fallback|skip|exclude|unsupported|unimplemented|not_|blocklist|missing|expected",
    IGNORECASE,
)

_HEADS = regex(
    r"^(?:torch\.ops\.|aten::|aten\.|torch\.|_refs\.|prims\.|Tensor\.|nn\.functional\.|F\.|_C\._\w+\.)+"
)
_ATEN = regex(r"\baten(?:::|\.)(\w+)")


def bare_name(word: str) -> str:
    """The operator's name without module and overload: ``gcd`` for ``aten.gcd.default``,
    ``linalg_svd`` for ``linalg.svd``."""
    exact = _ATEN.search(word)
    return exact[1] if exact else _HEADS.sub("", word).replace(".", "_")


@dataclass(frozen=True, slots=True)
class ListRow:
    """An element that names an operator."""

    name: str
    """As written: ``aten.gcd.default``, ``aten::gcd``, ``nn.functional.celu``, ``gcd``."""
    line: int
    end_line: int
    fails: bool
    """It is in ``xfail("gcd")``, ``skip(...)`` or a similar mark."""


@dataclass(frozen=True, slots=True)
class OperatorList:
    """One list of a file."""

    title: str
    """The variable, function or test of the list."""
    path: str
    line: int
    end_line: int
    rows: tuple[ListRow, ...]
    """In source order."""

    @property
    def fails(self) -> bool:
        """Whether its rows mark failures or skips."""
        return any(row.fails for row in self.rows) or bool(_WORDS.search(self.title))


def read_operator_lists(text: str, path: str, lines: Sequence[int]) -> list[OperatorList]:
    """The lists with rows on ``lines``, or the list with a name on every line of them."""
    if not path.endswith(".py"):
        return _of_lines(text, path)
    try:
        tree = parse(text)
    except SyntaxError:
        return []
    return sorted(_Reader(path, sorted(lines)).of_body(tree.body, ""), key=lambda one: one.line)


def _of_lines(text: str, path: str) -> list[OperatorList]:
    lines = text.splitlines()
    rows = tuple(
        ListRow(line.strip(), at, at, False)
        for at, line in enumerate(lines, 1)
        if "::" in line and _OPERATOR.match(line.strip())
    )
    title = path.rpartition("/")[2]
    return [OperatorList(title, path, 1, len(lines), rows)] if len(rows) >= _FEWEST else []


class _Reader:
    """Reads the statements on certain lines."""

    def __init__(self, path: str, lines: list[int]) -> None:
        self._path = path
        self._lines = lines

    def of_body(self, body: list[ast.stmt], title: str) -> Iterator[OperatorList]:
        """The lists of some statements and of those inside them."""
        yield from _repeated_calls(body, self._path)
        for statement in filter(self._is_sought, body):
            own = _title(statement) or title
            for expression in _expressions(statement):
                yield from self._of_expression(expression, own)
            for inner in _bodies(statement):
                yield from self.of_body(inner, own)

    def _of_expression(self, expression: ast.expr, title: str) -> Iterator[OperatorList]:
        pending: deque[ast.AST] = deque([expression])
        while pending:
            node = pending.popleft()
            if isinstance(node, (ast.List, ast.Set, ast.Tuple, ast.Dict)):
                yield from _of_display(node, self._path, title)
            # The OpInfos are one list of 20,000 lines: what holds no line is left out.
            pending += filter(self._is_sought, ast.iter_child_nodes(node))

    def _is_sought(self, node: ast.AST) -> bool:
        if not isinstance(node, (ast.stmt, ast.expr)):
            return True
        above = getattr(node, "decorator_list", ())
        first = min((one.lineno for one in above), default=node.lineno)
        at = bisect_left(self._lines, first)
        return at < len(self._lines) and self._lines[at] <= (node.end_lineno or first)


def _title(statement: ast.stmt) -> str:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        return statement.name
    if isinstance(statement, ast.Assign):
        return ast.unparse(statement.targets[0])
    if isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        return ast.unparse(statement.target)
    return ""


def _bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        yield from filter(None, [getattr(statement, field, None)])
    for handler in getattr(statement, "handlers", ()):
        yield handler.body


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr):
            yield child


_Display = ast.List | ast.Set | ast.Tuple | ast.Dict


def _of_display(node: _Display, path: str, title: str) -> Iterator[OperatorList]:
    elements = _elements(node)
    rows = tuple(row for one in elements if (row := _row(one)))
    is_one = len(rows) >= _FEWEST or any(row.fails for row in rows)
    if is_one and 2 * len(rows) >= len(elements):
        yield OperatorList(title, path, node.lineno, node.end_lineno or 0, rows)


def _elements(node: _Display) -> list[ast.expr]:
    if isinstance(node, ast.Dict):
        return [key for key in node.keys if key is not None]
    return node.elts


def _row(node: ast.expr) -> ListRow | None:
    first, fails = node, False
    if isinstance(node, ast.Call) and node.args:
        first, fails = node.args[0], bool(_FAILS.search(ast.unparse(node.func)))
    elif isinstance(node, ast.Tuple):
        texts = [one for one in node.elts if isinstance(one, ast.Constant) and _named(one)]
        first = texts[-1] if texts else node
    name = _named(first)
    return ListRow(name, node.lineno, node.end_lineno or node.lineno, fails) if name else None


def _named(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        text = node.value if isinstance(node.value, str) else ""
        return text if _OPERATOR.match(text) else ""
    return dotted(node) if isinstance(node, ast.Attribute) else ""


def _repeated_calls(body: list[ast.stmt], path: str) -> Iterator[OperatorList]:
    """``make_fallback(aten.gcd)``, line after line."""
    found: dict[str, list[ListRow]] = {}
    for statement in body:
        call = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
        if isinstance(call, ast.Call) and call.args and (name := _named(call.args[0])):
            row = ListRow(name, statement.lineno, statement.end_lineno or 0, False)
            found.setdefault(ast.unparse(call.func), []).append(row)
    for callee, rows in found.items():
        if len(rows) >= _FEWEST:
            yield OperatorList(callee, path, rows[0].line, rows[-1].end_line, tuple(rows))
