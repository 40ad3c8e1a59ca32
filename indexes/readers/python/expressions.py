"""Evaluates expressions as far as the source says what they are. Nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

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
        method = _METHODS.get(type(node))
        return method(self, node, scope) if method else UNKNOWN

    def exhausted(self) -> bool:
        """Count one step; whether there were so many that the module is not PyTorch's."""
        self._steps += 1
        return self._steps > _MAX_STEPS

    def call_value(self, node: ast.Call, scope: Scope) -> object:
        """The value of a call."""
        raise NotImplementedError

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

    def _constant(self, node: ast.Constant, scope: Scope) -> object:
        return node.value

    def _name(self, node: ast.Name, scope: Scope) -> object:
        found = scope.get(node.id)
        return python_builtins.NAMES.get(node.id, UNKNOWN) if found is UNKNOWN else found

    def _attribute(self, node: ast.Attribute, scope: Scope) -> object:
        return python_builtins.attribute(self.value(node.value, scope), node.attr)

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> object:
        return self.items(node.elts, scope)

    def _dict(self, node: ast.Dict, scope: Scope) -> object:
        if not node.keys:
            return Opaque()
        found: dict[object, object] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            name = self.value(key, scope) if key else UNKNOWN
            if isinstance(name, (str, int, Op, Path)):
                found[name] = self.value(item, scope)
        return found

    def _string(self, node: ast.JoinedStr, scope: Scope) -> object:
        parts = [
            self.value(part.value if isinstance(part, ast.FormattedValue) else part, scope)
            for part in node.values
        ]
        known = all(isinstance(part, (str, int)) for part in parts)
        return python_builtins.joined("", "".join(map(str, parts))) if known else UNKNOWN

    def _binary(self, node: ast.BinOp, scope: Scope) -> object:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if isinstance(node.op, ast.Add):
            return python_builtins.joined(left, right)
        return UNKNOWN

    def _compare(self, node: ast.Compare, scope: Scope) -> object:
        if len(node.ops) > 1:
            return UNKNOWN
        left, right = self.value(node.left, scope), self.value(node.comparators[0], scope)
        return python_builtins.compare(node.ops[0], left, right)

    def _boolean(self, node: ast.BoolOp, scope: Scope) -> object:
        decisive = isinstance(node.op, ast.Or)
        for item in node.values:
            value = self.value(item, scope)
            truth = python_builtins.truth(value)
            if truth is None:
                return UNKNOWN
            if truth is decisive:
                return value
        return value

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> object:
        value = self.value(node.operand, scope)
        if isinstance(node.op, ast.USub) and isinstance(value, int):
            return -value
        truth = python_builtins.truth(value)
        return UNKNOWN if truth is None or not isinstance(node.op, ast.Not) else not truth

    def _conditional(self, node: ast.IfExp, scope: Scope) -> object:
        truth = python_builtins.truth(self.value(node.test, scope))
        if truth is None:
            return UNKNOWN
        return self.value(node.body if truth else node.orelse, scope)

    def _lambda(self, node: ast.Lambda, scope: Scope) -> object:
        return Closure(node, scope, Function("<lambda>", self.module, node.lineno, inner=True))

    def _subscript(self, node: ast.Subscript, scope: Scope) -> object:
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

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp, scope: Scope) -> object:
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

    def _call(self, node: ast.Call, scope: Scope) -> object:
        return self.call_value(node, scope)

    def _named(self, node: ast.NamedExpr, scope: Scope) -> object:
        value = self.value(node.value, scope)
        self.bind(node.target, value, scope)
        return value


_METHODS: dict[type[ast.AST] | type[None], Callable[[Any, Any, Scope], object]] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
    ast.List: Expressions._sequence,
    ast.Tuple: Expressions._sequence,
    ast.Set: Expressions._sequence,
    ast.Dict: Expressions._dict,
    ast.JoinedStr: Expressions._string,
    ast.BinOp: Expressions._binary,
    ast.Compare: Expressions._compare,
    ast.BoolOp: Expressions._boolean,
    ast.UnaryOp: Expressions._unary,
    ast.IfExp: Expressions._conditional,
    ast.Lambda: Expressions._lambda,
    ast.Subscript: Expressions._subscript,
    ast.ListComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.Call: Expressions._call,
    ast.NamedExpr: Expressions._named,
}
