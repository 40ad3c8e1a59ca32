"""Evaluates expressions as far as the source says what they are. Nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from indexes.readers.python import builtin_calls as python_builtins
from indexes.readers.python.values import UNKNOWN, Closure, Function, Op, Opaque, Path, Scope

LONGEST = python_builtins.LONGEST
_MAX_STEPS = 400_000
"""Nodes visited in one module: some ten times what PyTorch's largest needs."""


class Expressions:
    """Evaluates expressions of one module; calls are left to a subclass."""

    def __init__(self, module: str) -> None:
        self.module = module
        self._steps = 0

    def value(self, node: ast.AST | None, scope: Scope) -> object:
        """What an expression stands for; UNKNOWN when only a run would tell."""
        self._steps += 1
        if self._steps > _MAX_STEPS:
            return UNKNOWN
        method = getattr(self, f"value_{type(node).__name__.lower()}", None)
        return method(node, scope) if method else UNKNOWN

    def exhausted(self) -> bool:
        """Count one step; whether there were so many that the module is not PyTorch's."""
        self._steps += 1
        return self._steps > _MAX_STEPS

    def bind(self, target: ast.expr, value: object, scope: Scope) -> None:
        """Assign to a name, or to the names of a tuple."""
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            known = isinstance(value, (list, tuple)) and len(value) == len(target.elts)
            for index, element in enumerate(target.elts):
                self.bind(element, value[index] if known else UNKNOWN, scope)  # type: ignore[index]

    def items(self, nodes: Iterable[ast.expr], scope: Scope) -> list[object]:
        """The values of a list display or of positional arguments, ``*x`` spread out."""
        found: list[object] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                value = self.value(node.value, scope)
                found.extend(value if isinstance(value, (list, tuple, dict)) else [])
            else:
                found.append(self.value(node, scope))
        return found if len(found) <= LONGEST else []

    def value_constant(self, node: ast.Constant, scope: Scope) -> object:
        return node.value

    def value_name(self, node: ast.Name, scope: Scope) -> object:
        found = scope.get(node.id)
        return python_builtins.NAMES.get(node.id, UNKNOWN) if found is UNKNOWN else found

    def value_attribute(self, node: ast.Attribute, scope: Scope) -> object:
        return python_builtins.attribute(self.value(node.value, scope), node.attr)

    def value_list(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> object:
        return self.items(node.elts, scope)

    value_tuple = value_set = value_list

    def value_dict(self, node: ast.Dict, scope: Scope) -> object:
        if not node.keys:
            return Opaque()
        found: dict[object, object] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            name = self.value(key, scope) if key else UNKNOWN
            if isinstance(name, (str, int, Op, Path)):
                found[name] = self.value(item, scope)
        return found

    def value_joinedstr(self, node: ast.JoinedStr, scope: Scope) -> object:
        parts = [
            self.value(part.value if isinstance(part, ast.FormattedValue) else part, scope)
            for part in node.values
        ]
        known = all(isinstance(part, (str, int)) for part in parts)
        return python_builtins.joined("", "".join(map(str, parts))) if known else UNKNOWN

    def value_binop(self, node: ast.BinOp, scope: Scope) -> object:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if isinstance(node.op, ast.Add):
            return python_builtins.joined(left, right)
        return UNKNOWN

    def value_compare(self, node: ast.Compare, scope: Scope) -> object:
        if len(node.ops) > 1:
            return UNKNOWN
        left, right = self.value(node.left, scope), self.value(node.comparators[0], scope)
        return python_builtins.compare(node.ops[0], left, right)

    def value_boolop(self, node: ast.BoolOp, scope: Scope) -> object:
        decisive = isinstance(node.op, ast.Or)
        for item in node.values:
            value = self.value(item, scope)
            truth = python_builtins.truth(value)
            if truth is None:
                return UNKNOWN
            if truth is decisive:
                return value
        return value

    def value_unaryop(self, node: ast.UnaryOp, scope: Scope) -> object:
        value = self.value(node.operand, scope)
        if isinstance(node.op, ast.USub) and isinstance(value, int):
            return -value
        truth = python_builtins.truth(value)
        return UNKNOWN if truth is None or not isinstance(node.op, ast.Not) else not truth

    def value_ifexp(self, node: ast.IfExp, scope: Scope) -> object:
        truth = python_builtins.truth(self.value(node.test, scope))
        if truth is None:
            return UNKNOWN
        return self.value(node.body if truth else node.orelse, scope)

    def value_lambda(self, node: ast.Lambda, scope: Scope) -> object:
        return Closure(node, scope, Function("<lambda>", self.module, node.lineno, inner=True))

    def value_subscript(self, node: ast.Subscript, scope: Scope) -> object:
        value = self.value(node.value, scope)
        if isinstance(node.slice, ast.Slice):
            return self._slice(value, node.slice, scope)
        if isinstance(value, Path):  # OrderedSet[OpOverload](...)
            return value
        return python_builtins.item(value, self.value(node.slice, scope))

    def _slice(self, value: object, node: ast.Slice, scope: Scope) -> object:
        bounds: list[int | None] = []
        for one in (node.lower, node.upper, node.step):
            bound = self.value(one, scope) if one else None
            if bound is not None and not isinstance(bound, int):
                return UNKNOWN
            bounds.append(bound)
        if not isinstance(value, (str, list, tuple)) or bounds[2] == 0:
            return UNKNOWN
        return value[slice(*bounds)]

    def value_listcomp(self, node: ast.ListComp | ast.GeneratorExp, scope: Scope) -> object:
        loop = node.generators[0]
        items = self.value(loop.iter, scope)
        if len(node.generators) > 1 or not isinstance(items, (list, tuple)):
            return UNKNOWN
        found = []
        for item in items:
            inner = Scope(scope)
            self.bind(loop.target, item, inner)
            tests = [python_builtins.truth(self.value(test, inner)) for test in loop.ifs]
            if False not in tests:
                found.append(self.value(node.elt, inner))
        return found

    value_generatorexp = value_setcomp = value_listcomp

    def value_namedexpr(self, node: ast.NamedExpr, scope: Scope) -> object:
        value = self.value(node.value, scope)
        self.bind(node.target, value, scope)
        return value
