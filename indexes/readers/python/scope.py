"""The names that a Python module binds, in Python's order.

Bodies of functions are emptied before parsing: that takes a tenth of the time, so that a name can
be followed through a dozen modules while somebody waits. (griffe reads the same facts; its import
alone takes 0.3 s, and it does not resolve assigned values.)
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from indexes.model.files import module_name
from indexes.model.vocabulary import Problem
from indexes.readers.python.blocks import Block, Text, parsed, without_bodies

Function = ast.FunctionDef | ast.AsyncFunctionDef

SURE, LIKELY, UNLIKELY, NEVER = range(4)
"""Whether a statement runs: always; where PyTorch is built with what it can be; elsewhere; for
type checkers alone."""


@dataclass(slots=True)
class Binding:
    """One statement that binds a name."""

    name: str
    node: Function | ast.ClassDef | ast.expr | None
    """The value; None for an import or a mere annotation."""
    line: int
    end_line: int
    origin: str = ""
    """The module in an import."""
    part: str = ""
    """The name taken by a ``from`` import."""
    sure: int = SURE


@dataclass(slots=True)
class Scope:
    """The names of a module or class body."""

    module: str
    path: str
    names: dict[str, Binding] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    """Modules whose names are all imported: ``from x import *``, or a loop to that effect."""
    attributes: dict[str, Binding] = field(default_factory=dict)
    """Attributes set from outside: ``Tensor.item``."""
    replaced: str = ""
    """The class whose instance replaces the module: ``sys.modules[__name__] = X(...)``; or the
    function that makes it one: ``install_config_module(sys.modules[__name__])``."""

    def public(self) -> tuple[str, ...] | None:
        """The names in ``__all__``, as far as literal; None without it."""
        bound = self.names.get("__all__")
        return None if bound is None else tuple(texts(bound.node))

    def origin(self, node: ast.ImportFrom) -> str:
        """The module from which a statement imports."""
        parts = self.module.split(".")
        package = parts if self.path.endswith("/__init__.py") else parts[:-1]
        above = package[: len(package) - node.level + 1] if node.level else []
        return ".".join([*above, *filter(None, [node.module])])


def texts(node: ast.AST | None) -> list[str]:
    """The string constants of an expression."""
    found = ast.walk(node) if node is not None else ()
    values = (one.value for one in found if isinstance(one, ast.Constant))
    return [value for value in values if isinstance(value, str)]


def read_scope(text: Text, path: str) -> Scope | Problem:
    """The bindings of a module; a problem for a file that is not Python."""
    functions = [block for block in text.blocks if not block.head.is_class]
    tree = parsed(without_bodies(text.data, functions), path)
    if isinstance(tree, Problem):
        return tree
    ends = {block.head.line: block.end_line for block in text.blocks}
    scope = Scope(module_name(path), path)
    _Reader(scope, ends).read(tree.body, SURE)
    return scope


def class_scope(node: ast.ClassDef, module: Scope, ends: dict[int, int]) -> Scope:
    """The bindings of a class body."""
    scope = Scope(module.module, module.path)
    _Reader(scope, ends).read(node.body, SURE)
    return scope


def ends_of(found: Iterable[Block]) -> dict[int, int]:
    """The last line of each block, by its first."""
    return {block.head.line: block.end_line for block in found}


class _Reader:
    def __init__(self, scope: Scope, ends: dict[int, int]) -> None:
        self._scope = scope
        self._ends = ends

    def read(self, body: Sequence[ast.stmt], sure: int) -> None:
        for node in body:
            self._statement(node, sure)

    def _statement(self, node: ast.stmt, sure: int) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self._definition(node, sure)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self._import(node, sure)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            self._assign(node, sure)
        elif isinstance(node, ast.If):
            first, second = _branches(node.test)
            self.read(node.body, max(sure, first))
            self.read(node.orelse, max(sure, second))
        elif isinstance(node, ast.Try):
            self._try(node, sure)
        elif isinstance(node, ast.For) and (taken := _taken_over(node)):
            self._scope.stars.append(taken)
        elif isinstance(node, (ast.With, ast.For, ast.While)):
            self.read(node.body, sure)
        elif isinstance(node, ast.Expr):
            self._extended(node.value, sure)
            if isinstance(node.value, ast.Call) and any(map(_is_own_module, node.value.args)):
                self._scope.replaced = dotted(node.value.func)

    def _try(self, node: ast.Try, sure: int) -> None:
        self.read([*node.body, *node.orelse], max(sure, LIKELY))
        for handler in node.handlers:
            self.read(handler.body, max(sure, UNLIKELY))
        self.read(node.finalbody, sure)

    def _definition(self, node: Function | ast.ClassDef, sure: int) -> None:
        if not any(_is_rebound(one) for one in node.decorator_list):
            end = self._ends.get(node.lineno, node.end_lineno or node.lineno)
            self._bind(Binding(node.name, node, node.lineno, end, sure=sure))

    def _import(self, node: ast.Import | ast.ImportFrom, sure: int) -> None:
        base = self._scope.origin(node) if isinstance(node, ast.ImportFrom) else ""
        for one in node.names:
            if one.name == "*":
                if sure != NEVER:
                    self._scope.stars.append(base)
                continue
            bound = Binding(one.asname or one.name, None, node.lineno, 0, sure=sure)
            bound.end_line = node.end_lineno or node.lineno
            if base:
                bound.origin, bound.part = base, one.name
            elif one.asname:
                bound.origin = one.name
            else:
                bound.name = bound.origin = one.name.partition(".")[0]
            self._bind(bound)

    def _assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, sure: int) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if isinstance(node, ast.AugAssign):
            self._extended(node, sure)
            return
        for target in targets:
            for one, value in _paired(target, node.value):
                self._set(one, value, node, sure)

    def _set(self, target: ast.expr, value: ast.expr | None, node: ast.stmt, sure: int) -> None:
        bound = Binding("", value, node.lineno, node.end_lineno or node.lineno, sure=sure)
        if isinstance(target, ast.Name):
            bound.name = target.id
            if dotted(value) != target.id:
                self._bind(bound)
        elif _is_own_module(target):
            self._scope.replaced = dotted(value.func if isinstance(value, ast.Call) else value)
        elif isinstance(target, ast.Attribute) and (name := dotted(target)):
            bound.name = name
            self._scope.attributes[name] = bound
        elif name := _globals_key(target):
            bound.name = name
            self._bind(bound)

    def _extended(self, node: ast.AST, sure: int) -> None:
        """``__all__ += [...]``, ``__all__.extend([...])``."""
        old = self._scope.names.get("__all__")
        target = node.target if isinstance(node, ast.AugAssign) else getattr(node, "func", None)
        if old and target is not None and dotted(target).partition(".")[0] == "__all__":
            more = [ast.Constant(text) for text in [*texts(old.node), *texts(node)]]
            old.node = ast.List(list(more), ast.Load())

    def _bind(self, bound: Binding) -> None:
        """Binds a name; the last binding counts, except in branches for a missing dependency."""
        old = self._scope.names.get(bound.name)
        if old is None or bound.sure <= max(old.sure, LIKELY):
            if old and bound.node is None and not bound.origin:
                return  # an annotation alone
            self._scope.names[bound.name] = bound


def _paired(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target, value
        return
    values: Sequence[ast.expr | None] = [value] * len(target.elts)
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
        values = value.elts
    elif value is not None:
        values = [ast.Constant(None)] * len(target.elts)
    for one, given in zip(target.elts, values, strict=True):
        yield from _paired(one, given)


def dotted(node: ast.AST | None) -> str:
    """``a.b.c``; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def last_name(node: ast.AST | None) -> str:
    """``c`` for ``a.b.c``; empty for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def called_name(node: ast.AST | None) -> str:
    """``c`` for ``a.b.c(...)``; empty for anything else."""
    return last_name(node.func) if isinstance(node, ast.Call) else ""


def assigned_names(node: ast.stmt) -> list[str]:
    """The names that a statement assigns."""
    targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign) and node.value:
        targets = [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


_ASIDE = ("overload", "_overload", "_overload_method", "setter", "deleter", "register")


def _is_rebound(decorator: ast.expr) -> bool:
    """Whether a decorated function is not the final value of its name: an overload, a property's
    setter, one of several by type."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return dotted(called).rpartition(".")[2] in _ASIDE


# --------------------------------------------------------------------------- conditions


def _branches(test: ast.expr) -> tuple[int, int]:
    """How certainly an ``if``'s branches run. Optional backends and libraries count as present."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        first, second = _branches(test.operand)
        return second, first
    if dotted(test).rpartition(".")[2] == "TYPE_CHECKING":
        return NEVER, SURE
    if isinstance(test, ast.Compare) and dotted(test.left).endswith("version_info"):
        newer = isinstance(test.ops[0], (ast.Gt, ast.GtE))
        return (LIKELY, UNLIKELY) if newer else (UNLIKELY, LIKELY)
    return LIKELY, UNLIKELY


def _taken_over(node: ast.For) -> str:
    """The module in ``for name in dir(module): globals()[name] = getattr(module, name)``."""
    called = node.iter
    if not isinstance(called, ast.Call) or dotted(called.func) != "dir" or not called.args:
        return ""
    sets = any(
        isinstance(one, ast.Call) and dotted(one.func) == "globals" for one in ast.walk(node)
    )
    return dotted(called.args[0]) if sets else ""


def _is_own_module(target: ast.expr) -> bool:
    """``sys.modules[__name__]``, and ``sys.modules[__name__].__class__``."""
    if isinstance(target, ast.Attribute) and target.attr == "__class__":
        target = target.value
    if not isinstance(target, ast.Subscript):
        return False
    return dotted(target.value) == "sys.modules" and dotted(target.slice) == "__name__"


def _globals_key(target: ast.expr) -> str:
    """``x`` in ``globals()["x"]``."""
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Call):
        return ""
    if dotted(target.value.func) != "globals" or not isinstance(target.slice, ast.Constant):
        return ""
    return str(target.slice.value)
