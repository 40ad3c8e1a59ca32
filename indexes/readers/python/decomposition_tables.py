"""Tables of decompositions by name: which operators they take from torch._decomp's table.

``inductor_decompositions = get_decompositions([...])``, ``return get_decompositions([...])``,
``decompositions = {**core_aten_decompositions(), **inductor_decompositions}``,
``remove_decompositions(decompositions, decomps_to_exclude)``, and the class of export's table. The
symbol of a row is the table; the target is an operator or an included table.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from indexes.model.files import PythonFact, module_name, pack
from indexes.model.regex import regex
from indexes.model.vocabulary import Problem
from indexes.readers.python.blocks import Text, occurrences, parsed
from indexes.readers.python.references import read_imports
from indexes.readers.python.scope import called_name

_MAKES = regex(
    rb"(?:= |return )(?:\w+\.)*(?:\w*[dD]ecomp\w*\(\)|get_decompositions\()"
    rb"|\nremove_decompositions\("
)
_OPERATOR = regex(r"torch\.(?:_ops\.)?ops\.(\w+)\.(\w+)(?:\.(\w+))?$")
_TABLE = regex(r"torch\.[\w.]*[dD]ecomp\w*$")
"""Names of tables, and of functions and classes that make them."""
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


def makes_tables(path: str, data: bytes) -> bool:
    """Whether a file can make a table of decompositions."""
    places = occurrences(data, b"ecomp") if "/testing/" not in path else ()
    return any(_MAKES.search(data, *_line(data, at)) for at in places)


def _line(data: bytes, at: int) -> tuple[int, int]:
    """The end of the line before, and the end of the line around an offset."""
    end = data.find(b"\n", at)
    return max(0, data.rfind(b"\n", 0, at)), len(data) if end < 0 else end


def read_tables(text: Text, path: str) -> tuple[list[PythonFact], list[Problem]]:
    """The tables of a file, one row for each operator and included table."""
    tree = parsed(text.data, path)
    if isinstance(tree, Problem):
        return [], []  # the reader of registrations says why
    names = read_imports(text.data, path)
    names |= dict(_assigned(tree.body, names))
    reader = _Reader(module_name(path), names, dict(_listed(tree.body)))
    return list(dict.fromkeys(reader.facts(tree))), []


class _Reader:
    def __init__(
        self, module: str, names: Mapping[str, str], lists: Mapping[str, ast.expr]
    ) -> None:
        self._module = module
        self._names = names
        self._lists = lists
        """The lists of the module by name."""

    def facts(self, tree: ast.Module) -> Iterator[PythonFact]:
        for node in tree.body:
            if isinstance(node, _Function):
                yield from self._function(node)
            elif isinstance(node, ast.ClassDef):
                yield from self._class(node)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                yield from self._assignment(node)
            elif isinstance(node, ast.Expr) and called_name(node.value) == "remove_decompositions":
                yield from self._removal(node.value)

    def _assignment(self, node: ast.Assign | ast.AnnAssign) -> Iterator[PythonFact]:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Name) and isinstance(node.value, (ast.Call, ast.Dict)):
            yield from self._table(f"{self._module}.{target.id}", node.value)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[PythonFact]:
        reader = self._inside(node.body)
        made = dict(_listed(node.body, (ast.Call, ast.Dict)))
        for one in ast.walk(node):
            if isinstance(one, ast.Return) and one.value:
                value = made.get(one.value.id) if isinstance(one.value, ast.Name) else None
                yield from reader._table(f"{self._module}.{node.name}", value or one.value)

    def _class(self, node: ast.ClassDef) -> Iterator[PythonFact]:
        """``self.decomp_table = core()`` in ``__init__``, and the composite operators it adds."""
        table = f"{self._module}.{node.name}"
        for method in (one for one in node.body if isinstance(one, ast.FunctionDef)):
            if method.name == "__init__":
                for one in ast.walk(method):
                    if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Attribute):
                        yield from self._inside(method.body)._table(table, one.value)
                    elif isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.NotIn):
                        yield from self._operators(table, one.comparators[0], kept=1)

    def _removal(self, call: ast.expr) -> Iterator[PythonFact]:
        if isinstance(call, ast.Call) and len(call.args) == 2:
            table = self._dotted(call.args[0])
            yield from self._operators(table, call.args[1], removed=1)

    def _table(self, table: str, made: ast.expr) -> Iterator[PythonFact]:
        if isinstance(made, ast.Dict):
            for key, value in zip(made.keys, made.values, strict=True):
                if key is None:
                    yield from self._table(table, value)
        elif isinstance(made, ast.Call) and called_name(made) == "get_decompositions" and made.args:
            yield from self._operators(table, made.args[0])
        else:
            takes = made.func if isinstance(made, ast.Call) and not made.args else made
            dotted = self._dotted(takes)
            if _TABLE.match(dotted) and dotted != table:
                yield PythonFact("table", dotted, table, made.lineno, made.lineno)

    def _operators(self, table: str, listed: ast.expr, **detail: int) -> Iterator[PythonFact]:
        if isinstance(listed, ast.Name):
            listed = self._lists.get(listed.id, listed)
        for one in listed.elts if isinstance(listed, (ast.List, ast.Tuple, ast.Set)) else ():
            found = _OPERATOR.match(self._dotted(one))
            if found and table:
                space, name, overload = found.groups()
                target = f"{space}::{name}.{overload}" if overload else f"{space}::{name}"
                yield PythonFact("table", target, table, one.lineno, one.lineno, pack(**detail))

    def _inside(self, body: list[ast.stmt]) -> _Reader:
        names = {**self._names, **dict(_assigned(body, self._names))}
        return _Reader(self._module, names, {**self._lists, **dict(_listed(body))})

    def _dotted(self, node: ast.expr) -> str:
        written = ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
        head, dot, rest = written.partition(".")
        known = self._names.get(head) or (f"{self._module}.{head}" if head else "")
        return f"{known}{dot}{rest}"


def _assigned(body: list[ast.stmt], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """``aten = torch.ops.aten``: name -> dotted path."""
    for node in body:
        value = node.value if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and isinstance(value, ast.Attribute):
            head, _, rest = ast.unparse(value).partition(".")
            for target in node.targets:
                if isinstance(target, ast.Name) and head in names:
                    yield target.id, f"{names[head]}.{rest}"


_LISTS = (ast.List, ast.Tuple, ast.Set)


def _listed(
    body: list[ast.stmt], kinds: tuple[type[ast.expr], ...] = _LISTS
) -> Iterator[tuple[str, ast.expr]]:
    """The first value of certain kinds assigned to each name."""
    found: dict[str, ast.expr] = {}
    for node in body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, kinds):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                found.setdefault(target.id, node.value)
    yield from found.items()
